package dev.tern.internal.cuda.text;

import java.util.Locale;

/** Text that grows line by line, indented by its blocks. */
final class Lines {
  private final StringBuilder text = new StringBuilder();
  private int depth;

  /** Adds a line; the pattern is that of {@link String#format}. */
  void add(String pattern, Object... values) {
    text.repeat(' ', 2 * depth)
        .append(values.length == 0 ? pattern : String.format(Locale.ROOT, pattern, values))
        .append('\n');
  }

  /** Adds a line that opens a block. */
  void open(String pattern, Object... values) {
    add(pattern + " {", values);
    depth++;
  }

  /** Ends the innermost block. */
  void close() {
    depth--;
    add("}");
  }

  @Override
  public String toString() {
    return text.toString();
  }
}
