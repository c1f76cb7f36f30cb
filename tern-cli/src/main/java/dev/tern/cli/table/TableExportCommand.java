package dev.tern.cli.table;

import dev.tern.checkpoint.Checkpoint;
import dev.tern.checkpoint.tools.TableExport;
import dev.tern.checkpoint.tools.TableFormat;
import dev.tern.cli.config.ConfigException;
import dev.tern.cli.run.Format;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tern table export}: writes a table's rows as text, safetensors or HugeCTR files. */
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

  @Option(
      names = "--since",
      paramLabel = "OTHER",
      description =
          "An earlier checkpoint of a model with the same ids: write only rows whose weights are"
              + " not as there, and the ids of rows that went.")
  private Optional<Path> since = Optional.empty();

  @Option(
      names = "--values",
      description =
          "Text that names its columns: id, value (the text or integer of the data), weight (the"
              + " linear one), v0, v1, ... (the vector).")
  private boolean values;

  @Override
  public Integer call() {
    Checkpoint checkpoint = choice.open();
    spec.commandLine().getOut().println(write(checkpoint) + " in " + Format.path(out));
    spec.commandLine().getOut().flush();
    return 0;
  }

  private String write(Checkpoint checkpoint) {
    int slot = choice.slot(checkpoint);
    if (values && (since.isPresent() || format != TableFormat.TEXT)) {
      throw new ConfigException(
          "--values: got "
              + (since.isPresent() ? "--since" : "another --format than text")
              + " beside it, expected text of a whole table; leave one of them out");
    }
    if (values) {
      return Format.whole(TableExport.writeValues(checkpoint, slot, out)) + " rows";
    }
    if (since.isEmpty()) {
      return Format.whole(TableExport.write(checkpoint, slot, format, out)) + " rows";
    }
    Checkpoint earlier = choice.open(since.get());
    TableExport.Changes changes = TableExport.writeChanges(earlier, checkpoint, slot, format, out);
    return Format.whole(changes.rows())
        + " rows and "
        + Format.whole(changes.gone())
        + " ids that went";
  }
}
