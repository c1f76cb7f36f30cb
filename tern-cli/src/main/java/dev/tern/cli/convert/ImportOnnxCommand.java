package dev.tern.cli.convert;

import dev.tern.cli.run.Format;
import dev.tern.onnx.OnnxImport;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tern import onnx}: makes a checkpoint of what {@code tern export onnx} wrote. */
@Command(
    name = "onnx",
    description = "Makes a checkpoint of an ONNX model that tern export onnx wrote.",
    mixinStandardHelpOptions = true)
final class ImportOnnxCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(index = "0", paramLabel = "FILE", description = "The model.")
  private Path model = Path.of("");

  @Option(
      names = "--out",
      required = true,
      paramLabel = "CHECKPOINT",
      description = "A new folder.")
  private Path out = Path.of("");

  @Override
  public Integer call() {
    OnnxImport.Summary read = OnnxImport.write(model, out);
    spec.commandLine()
        .getOut()
        .println(
            "%s parameters and %s rows in %s"
                .formatted(
                    Format.whole(read.parameters()),
                    Format.whole(read.tableRows()),
                    Format.path(out)));
    spec.commandLine().getOut().flush();
    return 0;
  }
}
