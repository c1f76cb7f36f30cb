package dev.tern.cli.config;

import java.util.regex.Pattern;

/** Writes YAML scalars so that any YAML reader gives the same text back. */
public final class YamlText {
  /** Texts that need no quotes: no indicator, no white space, not a number. */
  private static final Pattern PLAIN = Pattern.compile("[A-Za-z_/][A-Za-z0-9_./+*-]*");

  /** Plain texts that some reader takes for a truth value or nothing. */
  private static final Pattern SPECIAL = Pattern.compile("(?i)true|false|null|yes|no|on|off|y|n");

  private YamlText() {}

  /** {@code text} as a scalar of a flow sequence or a block mapping, quoted where needed. */
  public static String quote(String text) {
    if (PLAIN.matcher(text).matches() && !SPECIAL.matcher(text).matches()) {
      return text;
    }
    StringBuilder out = new StringBuilder("\"");
    text.codePoints().forEach(c -> append(out, c));
    return out.append('"').toString();
  }

  private static void append(StringBuilder out, int c) {
    switch (c) {
      case '"' -> out.append("\\\"");
      case '\\' -> out.append("\\\\");
      case '\n' -> out.append("\\n");
      case '\r' -> out.append("\\r");
      case '\t' -> out.append("\\t");
      default -> {
        if (c >= ' ' && c < 0x7f
            || c >= 0xa0
                && c != 0x2028
                && c != 0x2029
                && c != 0xfeff
                && (c < 0xd800 || c > 0xdfff)) {
          out.appendCodePoint(c);
        } else {
          out.append(String.format("\\U%08x", c));
        }
      }
    }
  }
}
