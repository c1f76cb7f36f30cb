package dev.tern.bench.scoring;

import dev.tern.bench.Arguments;
import dev.tern.bench.Machine;
import dev.tern.model.ModelConfig;
import dev.tern.onnx.ExportedRun;
import dev.tern.onnx.OnnxExport;
import dev.tern.onnx.OnnxOptions;
import dev.tern.train.DrawnRun;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Logits of exported models in ONNX Runtime beside the predictor's: models of each type, of columns
 * and sizes drawn at random, until they have scored the rows that were asked for. Half of the rows'
 * ids are unknown. A difference of more than {@value ExportedRun#MOST_DIFFERENCE} of the larger of
 * 1 and the logit is an error, after the models of all types.
 */
public final class OnnxBench {
  private OnnxBench() {}

  /** Runs it. */
  public static void run(List<String> args) {
    Map<String, String> defaults = new LinkedHashMap<>();
    defaults.put("--models", "");
    defaults.put("--rows", "2000");
    Arguments arguments = Arguments.parse("onnx", args, defaults);
    if (!arguments.json()) {
      System.out.println(Machine.line());
    }
    int rows = arguments.positive("--rows");
    List<ModelConfig.Type> types =
        arguments.text("--models").isEmpty()
            ? Stream.of(ModelConfig.Type.values())
                // ONNX has no operator of its recurrent units.
                .filter(type -> type != ModelConfig.Type.DIEN)
                .toList()
            : Arrays.stream(arguments.text("--models").split(","))
                .map(name -> ModelConfig.Type.valueOf(name.toUpperCase(Locale.ROOT)))
                .toList();
    List<String> apart = new ArrayList<>();
    for (ModelConfig.Type type : types) {
      try {
        compare(type, rows, arguments.json());
      } catch (AssertionError e) {
        apart.add(e.getMessage());
      }
    }
    if (!apart.isEmpty()) {
      throw new IllegalStateException("bench onnx: got other logits:\n" + String.join("\n", apart));
    }
  }

  private static void compare(ModelConfig.Type type, int rows, boolean json) {
    int done = 0;
    int models = 0;
    double most = 0;
    long operators = 0;
    for (; done < rows; models++) {
      Path folder = temporary();
      try {
        ExportedRun run = ExportedRun.of(DrawnRun.of(type, models), folder.resolve("checkpoint"));
        Path model = folder.resolve("model.onnx");
        OnnxExport.Summary written = OnnxExport.write(run.checkpoint(), model, OnnxOptions.DEFAULT);
        most = Math.max(most, run.requireSameLogits(model, run.held()));
        operators = Math.max(operators, written.operators());
        done += run.held().size();
      } finally {
        delete(folder);
      }
    }
    System.out.printf(
        Locale.ROOT,
        json
            ? "{\"bench\":\"onnx\",\"case\":\"%s\",\"value\":%.3g,\"unit\":\"largest"
                + " difference\",\"rows\":%d,\"models\":%d,\"operators\":%d}%n"
            : "%-14s largest difference %.3g of %d rows in %d models of up to %d operators%n",
        type,
        most,
        done,
        models,
        operators);
  }

  private static Path temporary() {
    try {
      return Files.createTempDirectory("tern-onnx");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void delete(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
