package dev.tern.cli.config;

/** Prints the table of keys. */
final class KeyHelp {
  private KeyHelp() {}

  /**
   * One paragraph a key: path and default, the values it takes, its meaning, and when it applies.
   */
  static String text() {
    StringBuilder out = new StringBuilder();
    for (Key<?> key : Keys.ALL) {
      out.append(key.path())
          .append(
              key.writtenFallback()
                  .map(value -> "  (default " + value + ")")
                  .orElse("  (required)"))
          .append("\n    ")
          .append(key.doc())
          .append("\n    Values: ")
          .append(key.kind().expected())
          .append('.');
      key.condition()
          .ifPresent(c ->
              out.append(" Only where ")
                  .append(c.path())
                  .append(" is ")
                  .append(String.join(" or ", c.values()))
                  .append('.'));
      out.append('\n');
    }
    return out.toString();
  }
}
