package dev.tern.internal.json;

import java.util.HexFormat;
import java.util.Map;

/** Writes a value on one line, without spaces. */
final class JsonWriter {
  private final StringBuilder out = new StringBuilder();

  private JsonWriter() {}

  static String write(Json value) {
    JsonWriter writer = new JsonWriter();
    writer.add(value);
    return writer.out.toString();
  }

  private void add(Json value) {
    switch (value) {
      case Json.Obj object -> addObject(object);
      case Json.Arr array -> addArray(array);
      case Json.Str(String text) -> addText(text);
      case Json.Int(long number) -> out.append(number);
      case Json.Real(double number) -> out.append(number);
      case Json.Bool(boolean flag) -> out.append(flag);
      case Json.Null _ -> out.append("null");
    }
  }

  private void addObject(Json.Obj object) {
    char before = '{';
    for (Map.Entry<String, Json> field : object.fields().entrySet()) {
      out.append(before);
      before = ',';
      addText(field.getKey());
      out.append(':');
      add(field.getValue());
    }
    out.append(object.fields().isEmpty() ? "{}" : "}");
  }

  private void addArray(Json.Arr array) {
    char before = '[';
    for (Json item : array.items()) {
      out.append(before);
      before = ',';
      add(item);
    }
    out.append(array.items().isEmpty() ? "[]" : "]");
  }

  private void addText(String text) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '"' -> out.append("\\\"");
        case '\\' -> out.append("\\\\");
        case '\n' -> out.append("\\n");
        case '\r' -> out.append("\\r");
        case '\t' -> out.append("\\t");
        default -> {
          if (c < ' ' || isUnpaired(text, i)) {
            out.append("\\u").append(HexFormat.of().toHexDigits(c));
          } else {
            out.append(c);
          }
        }
      }
    }
    out.append('"');
  }

  /** Whether the character is half of a pair whose other half is missing: UTF-8 cannot hold it. */
  private static boolean isUnpaired(String text, int i) {
    char c = text.charAt(i);
    if (Character.isHighSurrogate(c)) {
      return i + 1 == text.length() || !Character.isLowSurrogate(text.charAt(i + 1));
    }
    return Character.isLowSurrogate(c)
        && (i == 0 || !Character.isHighSurrogate(text.charAt(i - 1)));
  }
}
