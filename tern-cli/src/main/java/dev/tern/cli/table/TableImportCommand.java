package dev.tern.cli.table;

import dev.tern.checkpoint.Checkpoint;
import dev.tern.checkpoint.tools.RecordLayout;
import dev.tern.checkpoint.tools.TableFormat;
import dev.tern.checkpoint.tools.TableImport;
import dev.tern.cli.run.Format;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tern table import}: writes a checkpoint in which one table has the rows of a file. */
@Command(
    name = "import",
    description = "Writes a checkpoint whose table has the rows of a file, in place of its own.",
    mixinStandardHelpOptions = true)
final class TableImportCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private TableChoice choice = new TableChoice();

  @Option(
      names = "--from",
      required = true,
      paramLabel = "PATH",
      description = "What tern table export wrote, or a sparse model of HugeCTR: a folder or file.")
  private Path from = Path.of("");

  @Option(
      names = "--format",
      defaultValue = "text",
      description = "Its format: text, safetensors or hugectr (default ${DEFAULT-VALUE}).")
  private TableFormat format = TableFormat.TEXT;

  @Option(
      names = "--record",
      paramLabel = "LAYOUT",
      description =
          "Records of a sparse model file of HugeCTR: u32, u32_slot, i64 or i64_slot, the type of"
              + " keys and whether slots follow them (default: by the file's length).")
  private Optional<RecordLayout> record = Optional.empty();

  @Option(
      names = "--out",
      required = true,
      paramLabel = "FOLDER",
      description = "The new checkpoint.")
  private Path out = Path.of("");

  @Override
  public Integer call() {
    Checkpoint checkpoint = choice.open();
    int slot = choice.slot(checkpoint);
    long rows =
        TableImport.write(checkpoint, slot, new TableImport.Source(from, format, record), out);
    spec.commandLine()
        .getOut()
        .println(Format.whole(rows) + " rows, checkpoint " + Format.path(out));
    spec.commandLine().getOut().flush();
    return 0;
  }
}
