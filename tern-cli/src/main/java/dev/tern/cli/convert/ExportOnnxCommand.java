package dev.tern.cli.convert;

import dev.tern.cli.choice.CheckpointChoice;
import dev.tern.cli.run.Format;
import dev.tern.onnx.OnnxExport;
import dev.tern.onnx.OnnxOptions;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tern export onnx}: writes a model that ONNX Runtime scores with. */
@Command(
    name = "onnx",
    description = "Writes an ONNX model (opset 18) that gives the scores of a checkpoint.",
    mixinStandardHelpOptions = true)
final class ExportOnnxCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private CheckpointChoice choice = new CheckpointChoice();

  @Option(
      names = "--out",
      required = true,
      paramLabel = "FILE",
      description = "A new file; tables that are too large for it lie beside it in FILE.data.")
  private Path out = Path.of("");

  @Option(
      names = "--ids",
      defaultValue = "graph",
      description =
          "Who finds the rows of ids: graph, which takes values of columns, or caller, who gives"
              + " the numbers of rows (default ${DEFAULT-VALUE}).")
  private OnnxOptions.Ids ids = OnnxOptions.Ids.GRAPH;

  @Option(
      names = "--inline-bytes",
      paramLabel = "N",
      description =
          "Let tables lie in FILE itself up to this many bytes in all (default: 1073741824).")
  private long inlineBytes = OnnxOptions.DEFAULT.inlineBytes();

  @Override
  public Integer call() {
    OnnxOptions options = new OnnxOptions(ids, inlineBytes);
    OnnxExport.Summary written = OnnxExport.write(choice.open(), out, options);
    String beside =
        written.externalBytes() == 0
            ? ""
            : " and %s of tables in %s.data"
                .formatted(Format.bytes(written.externalBytes()), Format.path(out));
    spec.commandLine()
        .getOut()
        .println(
            "%s operators and %s rows in %s%s"
                .formatted(
                    Format.whole(written.operators()),
                    Format.whole(written.tableRows()),
                    Format.path(out),
                    beside));
    spec.commandLine().getOut().flush();
    return 0;
  }
}
