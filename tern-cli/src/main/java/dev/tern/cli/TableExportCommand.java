package dev.tern.cli;

import dev.tern.cli.run.Format;
import dev.tern.train.Checkpoint;
import dev.tern.train.TableExport;
import dev.tern.train.TableFormat;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tern table export}: a table's rows for others to read. */
@Command(
    name = "export",
    description = "Writes the ids and weights of a table.",
    mixinStandardHelpOptions = true)
final class TableExportCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private TableChoice choice = new TableChoice();

  @Option(
      names = "--format",
      defaultValue = "text",
      description =
          "text: a line a row; safetensors: with optimizer state; hugectr: a sparse model folder"
              + " (default ${DEFAULT-VALUE}).")
  private TableFormat format = TableFormat.TEXT;

  @Option(
      names = "--out",
      required = true,
      paramLabel = "PATH",
      description = "A new file, or for hugectr a new folder.")
  private Path out = Path.of("");

  @Override
  public Integer call() {
    Checkpoint checkpoint = choice.open();
    long rows = TableExport.write(checkpoint, choice.slot(checkpoint), format, out);
    spec.commandLine().getOut().println(Format.whole(rows) + " rows in " + out);
    spec.commandLine().getOut().flush();
    return 0;
  }
}
