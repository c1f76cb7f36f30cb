package dev.tern.files.text;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/**
 * What the lines of a text file are written in, and which of them are no records.
 *
 * @param skipLines lines at the beginning of each file that are no records, whatever they hold; the
 *     next line is the first, or names the columns. A file with fewer lines is a fault
 * @param comment what a line begins with that is no record, as in {@code #}; empty for no comments
 * @param encoding of the characters. Files in UTF-8 are taken as bytes and never decoded, so texts
 *     in an unknown encoding pass unchanged. Of {@code UTF_16}, a byte order mark tells the order
 *     of bytes, else the first character, which is taken for ASCII
 */
public record TextOptions(int skipLines, String comment, Charset encoding) {
  /** All lines are records, in UTF-8. */
  public static final TextOptions DEFAULT = new TextOptions(0, "", StandardCharsets.UTF_8);

  public TextOptions {
    Objects.requireNonNull(encoding, "encoding");
    if (skipLines < 0) {
      throw new IllegalArgumentException(
          "text: got " + skipLines + " lines to skip, expected 0 or more");
    }
    if (comment.contains("\n") || comment.contains("\r")) {
      throw new IllegalArgumentException(
          "text: got a comment sign with an end of line in it, expected text of one line, as in #");
    }
  }

  /** These options for files whose first {@code lines} lines are no records. */
  public TextOptions withSkippedLines(int lines) {
    return new TextOptions(lines, comment, encoding);
  }

  /** These options, and lines that begin with {@code sign} are no records. */
  public TextOptions withComment(String sign) {
    return new TextOptions(skipLines, sign, encoding);
  }

  /** These options for files in {@code charset}. */
  public TextOptions withEncoding(Charset charset) {
    return new TextOptions(skipLines, comment, charset);
  }
}
