package dev.tern.cli.run;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** Text in HTML, and pages that need no other file and no script. */
public final class Html {
  private Html() {}

  /**
   * {@code text} with the signs of HTML written as entities, for elements and attributes in double
   * quotes.
   */
  public static String text(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }

  /** Adds a cell of a table. */
  public static void cell(StringBuilder out, String text) {
    out.append("<td>").append(text(text)).append("</td>");
  }

  /**
   * A whole page in the style of reports.
   *
   * @param title what it is about
   * @param name of what it is of, beside the title
   * @param note a line below
   * @param style more rules, behind those of reports
   * @param body HTML
   */
  public static String page(String title, String name, String note, String style, String body) {
    return "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        + "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        + "<meta name=\"color-scheme\" content=\"light dark\">\n<title>"
        + text(title)
        + " · Tern</title>\n<style>\n"
        + Report.style()
        + style
        + "</style>\n</head>\n<body>\n<main>\n<header><h1>"
        + text(title)
        + " <small>"
        + text(name)
        + "</small></h1><p>"
        + text(note)
        + "</p></header>\n"
        + body
        + "</main>\n</body>\n</html>\n";
  }

  /** A resource of a class, such as a style sheet. */
  public static String resource(Class<?> of, String name) {
    try (InputStream in = of.getResourceAsStream(name)) {
      return new String(Objects.requireNonNull(in, name).readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
