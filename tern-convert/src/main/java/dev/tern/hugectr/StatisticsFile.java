package dev.tern.hugectr;

import dev.tern.base.DataException;
import dev.tern.internal.json.Json;
import dev.tern.tensor.Variable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The moving averages of batch normalizations, {@code NAME_dense_N.model.ntp.json}: a mean and a
 * variance of each layer in the order of the graph, with 6 digits behind the point.
 */
final class StatisticsFile {
  /** The end of its name, behind that of the file of dense weights. */
  static final String SUFFIX = ".ntp.json";

  private StatisticsFile() {}

  /**
   * Fills the averages of layers.
   *
   * @param layers names of the batch normalizations, in order
   */
  static void read(Path file, List<String> layers, Map<String, Variable> variables) {
    try {
      Json.Obj json =
          Json.parse(Files.readAllBytes(file), file.toString()).asObject(file.toString());
      List<Place> all = new Place(file.toString(), "", json).objects("layers");
      if (all.size() != layers.size()) {
        throw new DataException(
            "%s: layers: got %d, expected %d, the batch normalizations of the graph"
                .formatted(file, all.size(), layers.size()));
      }
      for (int i = 0; i < layers.size(); i++) {
        fill(all.get(i), "mean", DenseFile.variable(variables, layers.get(i) + ".mean"), false);
        fill(all.get(i), "var", DenseFile.variable(variables, layers.get(i) + ".variance"), true);
      }
    } catch (IOException e) {
      throw new DataException(
          "%s: got %s, expected the averages of batch normalizations, which HugeCTR writes beside the dense weights; give it with --statistics"
              .formatted(file, DataException.reason(e)),
          e);
    }
  }

  private static void fill(Place layer, String field, Variable variable, boolean positive) {
    List<Double> values = layer.reals(field);
    float[] floats = new float[variable.shape().elements()];
    if (values.size() != floats.length) {
      throw layer.wrong(field, values.size() + " numbers", floats.length + ", as in the graph");
    }
    for (int i = 0; i < floats.length; i++) {
      floats[i] = values.get(i).floatValue();
      if (positive && floats[i] < 0) {
        throw layer.wrong(field + "[" + i + "]", "" + floats[i], "a variance of 0 or more");
      }
    }
    variable.set(floats);
  }

  /** Writes the averages as HugeCTR does. */
  static void write(Path file, List<String> layers, Map<String, float[]> arrays)
      throws IOException {
    StringBuilder text = new StringBuilder("{\n  \"layers\": [\n");
    for (int i = 0; i < layers.size(); i++) {
      text.append("    {\n      \"type\": \"BatchNorm\",\n      \"mean\": ");
      append(text, DenseFile.array(arrays, layers.get(i) + ".mean"));
      text.append(",\n      \"var\": ");
      append(text, DenseFile.array(arrays, layers.get(i) + ".variance"));
      text.append(i + 1 < layers.size() ? "\n    },\n" : "\n    }\n");
    }
    Files.writeString(file, text.append("  ]\n}\n"), StandardCharsets.UTF_8);
  }

  private static void append(StringBuilder text, float[] values) {
    for (int i = 0; i < values.length; i++) {
      text.append(i == 0 ? "[" : ", ").append(String.format(Locale.ROOT, "%.6f", values[i]));
    }
    text.append("]");
  }
}
