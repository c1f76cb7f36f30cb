package dev.tern.cli;

import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code tern completion}: prints a script that lets a shell complete commands and options. */
@Command(
    name = "completion",
    description = {
      "Prints a script that makes bash or zsh complete commands and options.",
      "Use it with: source <(tern completion)"
    },
    mixinStandardHelpOptions = true)
final class CompletionCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public Integer call() {
    spec.commandLine().getOut().print(AutoComplete.bash("tern", spec.root().commandLine()));
    spec.commandLine().getOut().flush();
    return 0;
  }
}
