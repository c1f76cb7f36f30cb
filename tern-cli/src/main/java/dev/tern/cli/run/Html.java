package dev.tern.cli.run;

/** Text in HTML. */
final class Html {
  private Html() {}

  /**
   * {@code text} with the signs of HTML written as entities, for elements and attributes in double
   * quotes.
   */
  static String text(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }

  /** Adds a cell of a table. */
  static void cell(StringBuilder out, String text) {
    out.append("<td>").append(text(text)).append("</td>");
  }
}
