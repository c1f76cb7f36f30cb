package dev.tern.cli.table;

import dev.tern.checkpoint.Checkpoint;
import dev.tern.cli.choice.CheckpointChoice;
import dev.tern.cli.run.Format;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code tern table compact}: merges a full checkpoint and the changes after it into one full
 * checkpoint.
 */
@Command(
    name = "compact",
    description = "Writes a full checkpoint and the changes that follow it as one full checkpoint.",
    mixinStandardHelpOptions = true)
final class TableCompactCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private CheckpointChoice checkpoint = new CheckpointChoice();

  @Option(
      names = "--out",
      required = true,
      paramLabel = "FOLDER",
      description = "The new checkpoint.")
  private Path out = Path.of("");

  @Override
  public Integer call() {
    Checkpoint opened = checkpoint.open();
    opened.compact(out);
    spec.commandLine().getOut().println(opened.parts().size() + " parts in " + Format.path(out));
    spec.commandLine().getOut().flush();
    return 0;
  }
}
