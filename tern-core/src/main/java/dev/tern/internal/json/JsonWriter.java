package dev.tern.internal.json;

import java.io.IOException;
import java.util.Map;

/** Writes values as text, on one line or indented by two spaces a level. */
final class JsonWriter {
  private static final String HEX = "0123456789abcdef";

  private final Appendable out;
  private final boolean indented;

  JsonWriter(Appendable out, boolean indented) {
    this.out = out;
    this.indented = indented;
  }

  void write(Json value, int depth) throws IOException {
    switch (value) {
      case Json.Obj(Map<String, Json> fields) -> object(fields, depth);
      case Json.Arr array -> array(array, depth);
      case Json.Str(String text) -> string(text);
      case Json.Int(long number) -> out.append(Long.toString(number));
      case Json.Real(double number) -> out.append(Double.toString(number));
      case Json.Bool(boolean flag) -> out.append(Boolean.toString(flag));
      case Json.Null _ -> out.append("null");
    }
  }

  private void object(Map<String, Json> fields, int depth) throws IOException {
    out.append('{');
    boolean first = true;
    for (Map.Entry<String, Json> field : fields.entrySet()) {
      if (!first) {
        out.append(',');
      }
      first = false;
      newLine(depth + 1);
      string(field.getKey());
      out.append(indented ? ": " : ":");
      write(field.getValue(), depth + 1);
    }
    if (!first) {
      newLine(depth);
    }
    out.append('}');
  }

  /** Arrays of plain values stay on one line also when indented. */
  private void array(Json.Arr array, int depth) throws IOException {
    boolean nested =
        array.items().stream()
            .anyMatch(item -> item instanceof Json.Obj || item instanceof Json.Arr);
    out.append('[');
    for (int i = 0; i < array.items().size(); i++) {
      if (i > 0) {
        out.append(indented && !nested ? ", " : ",");
      }
      if (nested) {
        newLine(depth + 1);
      }
      write(array.items().get(i), depth + 1);
    }
    if (nested) {
      newLine(depth);
    }
    out.append(']');
  }

  private void newLine(int depth) throws IOException {
    if (indented) {
      out.append('\n');
      for (int i = 0; i < depth; i++) {
        out.append("  ");
      }
    }
  }

  private void string(String text) throws IOException {
    out.append('"');
    int plain = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c >= ' ' && c != '"' && c != '\\' && !unpaired(text, i)) {
        continue;
      }
      out.append(text, plain, i);
      plain = i + 1;
      switch (c) {
        case '"' -> out.append("\\\"");
        case '\\' -> out.append("\\\\");
        case '\n' -> out.append("\\n");
        case '\r' -> out.append("\\r");
        case '\t' -> out.append("\\t");
        default -> {
          out.append("\\u");
          for (int shift = 12; shift >= 0; shift -= 4) {
            out.append(HEX.charAt(c >> shift & 15));
          }
        }
      }
    }
    out.append(text, plain, text.length());
    out.append('"');
  }

  /** A surrogate without its other half has no UTF-8 form, so it is escaped. */
  private static boolean unpaired(String text, int i) {
    char c = text.charAt(i);
    if (Character.isHighSurrogate(c)) {
      return i + 1 == text.length() || !Character.isLowSurrogate(text.charAt(i + 1));
    }
    return Character.isLowSurrogate(c)
        && (i == 0 || !Character.isHighSurrogate(text.charAt(i - 1)));
  }
}
