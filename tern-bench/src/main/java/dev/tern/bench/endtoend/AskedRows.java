package dev.tern.bench.endtoend;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Rows of a CSV file as requests.
 *
 * @param instances all rows, an object each, as TensorFlow Serving takes them
 * @param one the first row, by the Open Inference Protocol, whose answer names the step
 */
record AskedRows(String instances, String one, int count) {
  /** Reads a file whose first column is the label. */
  static AskedRows read(Path file) throws IOException {
    List<String> lines = Files.readAllLines(file);
    List<String> names = List.of(lines.getFirst().split(",", -1));
    List<String> objects = new ArrayList<>();
    for (String line : lines.subList(1, lines.size())) {
      List<String> values = List.of(line.split(",", -1));
      List<String> fields = new ArrayList<>();
      for (int i = 1; i < names.size(); i++) {
        if (!values.get(i).isEmpty()) {
          fields.add("\"" + names.get(i) + "\":" + values.get(i));
        }
      }
      objects.add("{" + String.join(",", fields) + "}");
    }
    return new AskedRows(
        "{\"instances\":[" + String.join(",", objects) + "]}",
        one(names, List.of(lines.get(1).split(",", -1))),
        objects.size());
  }

  private static String one(List<String> names, List<String> values) {
    List<String> inputs = new ArrayList<>();
    for (int i = 1; i < names.size(); i++) {
      if (!values.get(i).isEmpty()) {
        String type = names.get(i).startsWith("I") ? "FP32" : "INT64";
        inputs.add(
            "{\"name\":\"%s\",\"shape\":[1],\"datatype\":\"%s\",\"data\":[%s]}"
                .formatted(names.get(i), type, values.get(i)));
      }
    }
    return "{\"inputs\":[" + String.join(",", inputs) + "]}";
  }
}
