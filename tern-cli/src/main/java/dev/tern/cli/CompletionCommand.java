package dev.tern.cli;

import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tern completion}: prints a script that lets a shell complete commands and options. */
@Command(
    name = "completion",
    description = {
      "Prints a script that makes a shell complete commands and options.",
      "bash, zsh: source <(tern completion bash)",
      "fish: tern completion fish | source"
    },
    mixinStandardHelpOptions = true)
final class CompletionCommand implements Callable<Integer> {
  /** Shells that have a script. */
  private enum Shell {
    BASH,
    ZSH,
    FISH
  }

  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(
      arity = "0..1",
      paramLabel = "SHELL",
      description = "bash, zsh or fish (default bash; its script serves zsh too).",
      defaultValue = "bash")
  private Shell shell = Shell.BASH;

  @Override
  public Integer call() {
    CommandLine root = spec.root().commandLine();
    String script =
        switch (shell) {
          case BASH, ZSH -> AutoComplete.bash("tern", root);
          case FISH -> FishCompletion.script(root.getCommandSpec());
        };
    spec.commandLine().getOut().print(script);
    spec.commandLine().getOut().flush();
    return 0;
  }
}
