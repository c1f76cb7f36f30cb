package dev.tern.cli.convert;

import dev.tern.cli.config.ConfigException;
import dev.tern.cli.run.Format;
import dev.tern.convert.ImportReport;
import dev.tern.convert.ImportedRun;
import dev.tern.onnx.OnnxImport;
import dev.tern.onnx.layers.LayeredImport;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code tern import onnx}: makes a checkpoint of what {@code tern export onnx} wrote, and a run of
 * what another tool wrote.
 */
@Command(
    name = "onnx",
    description = {
      "Makes a checkpoint of an ONNX model that tern export onnx wrote, or the folder of a run of a"
          + " model of another tool, such as PyTorch with nn.Embedding."
    },
    mixinStandardHelpOptions = true)
final class ImportOnnxCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(index = "0", paramLabel = "FILE", description = "The model.")
  private Path model = Path.of("");

  @Option(
      names = "--out",
      required = true,
      paramLabel = "FOLDER",
      description = "A new folder: a checkpoint, or a run.")
  private Path out = Path.of("");

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description =
          "Of a model of another tool, how files of rows are read and what their columns are"
              + " called, as in a configuration: data.format (default csv), data.dense.columns,"
              + " data.sparse.columns, data.label.column and others.")
  private List<String> settings = List.of();

  @Override
  public Integer call() {
    if (OnnxImport.isExport(model)) {
      importExport();
    } else {
      importLayers();
    }
    spec.commandLine().getOut().flush();
    return 0;
  }

  private void importExport() {
    if (!settings.isEmpty()) {
      throw new ConfigException(
          "--set: got %s for an export of Tern, which knows its columns; leave it out"
              .formatted(settings));
    }
    OnnxImport.Summary read = OnnxImport.write(model, out);
    spec.commandLine()
        .getOut()
        .println(
            "%s parameters and %s rows in %s"
                .formatted(
                    Format.whole(read.parameters()),
                    Format.whole(read.tableRows()),
                    Format.path(out)));
  }

  private void importLayers() {
    ImportedConfig.requireNew(out);
    ImportSettings data = ImportSettings.of(settings, "csv");
    String format = data.format();
    LayeredImport.Names names =
        new LayeredImport.Names(data.labels(), data.numbers(), data.slots());
    ImportReport report =
        ImportedRun.write(
            out,
            checkpoint ->
                LayeredImport.write(
                    model,
                    names,
                    made -> data.reading(new ImportedConfig(made, format, out)),
                    checkpoint),
            made -> new ImportedConfig(made.made(), format, out).files());
    ImportedConfig config = new ImportedConfig(report.made(), format, out);
    config.print(report, data.others(), spec.commandLine().getOut());
  }
}
