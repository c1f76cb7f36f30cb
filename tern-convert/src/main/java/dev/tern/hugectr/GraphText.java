package dev.tern.hugectr;

import dev.tern.internal.json.Json;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * JSON as HugeCTR writes it: keys in alphabetical order, two spaces a level, an item of an array a
 * line, no end of line behind the last.
 */
final class GraphText {
  private GraphText() {}

  static String of(Json json) {
    StringBuilder text = new StringBuilder();
    append(text, json, "");
    return text.toString();
  }

  private static void append(StringBuilder text, Json json, String indent) {
    String deeper = indent + "  ";
    switch (json) {
      case Json.Obj(Map<String, Json> fields) when !fields.isEmpty() -> {
        String before = "{\n";
        for (Map.Entry<String, Json> field : new TreeMap<>(fields).entrySet()) {
          text.append(before).append(deeper).append(new Json.Str(field.getKey())).append(": ");
          append(text, field.getValue(), deeper);
          before = ",\n";
        }
        text.append('\n').append(indent).append('}');
      }
      case Json.Arr(List<Json> items) when !items.isEmpty() -> {
        String before = "[\n";
        for (Json item : items) {
          text.append(before).append(deeper);
          append(text, item, deeper);
          before = ",\n";
        }
        text.append('\n').append(indent).append(']');
      }
      case Json.Real(double value) -> text.append(number(value));
      default -> text.append(json);
    }
  }

  /** {@code 1e-07} rather than {@code 1.0E-7}. */
  private static String number(double value) {
    String text = Double.toString(value);
    int exponent = text.indexOf('E');
    if (exponent < 0) {
      return text;
    }
    int power = Integer.parseInt(text.substring(exponent + 1));
    String digits = text.substring(0, exponent).replaceFirst("[.]0$", "");
    return "%se%s%02d".formatted(digits, power < 0 ? "-" : "+", Math.abs(power));
  }
}
