package dev.tern.files.text;

import static java.util.stream.Collectors.joining;

import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * How a CSV file is written down. Lines end with LF or CRLF; gzip files are known by their first
 * bytes.
 *
 * @param delimiter between fields: 1 to 16 characters, most often {@code ,} or TAB; see {@link
 *     #isDelimiter}
 * @param header names of the columns where the files do not hold them; empty: the first line of
 *     each file names its columns
 * @param trim drops spaces and TABs around unquoted fields, as Census data have, but none that the
 *     delimiter holds
 * @param quotes fields may be quoted as in RFC 4180; false: a quote is a character like any other
 * @param escapes what a backslash does
 * @param text what the lines are written in, and which are no records
 */
public record CsvOptions(
    String delimiter,
    List<String> header,
    boolean trim,
    boolean quotes,
    Escapes escapes,
    TextOptions text) {
  /** What a backslash does. Before what it does not escape it is a character, as in {@code \N}. */
  public enum Escapes {
    /** Nothing. */
    NONE,

    /**
     * Before a quote, a backslash, the delimiter or the end of a line it makes them a part of the
     * field, in quotes or not, as Hive and MySQL write it.
     */
    ANYWHERE,

    /**
     * In a quoted field it does so before a quote or a backslash, as Spark writes it; in a field
     * without quotes nothing.
     */
    QUOTED
  }

  private static final int MOST_CHARACTERS = 16;

  public CsvOptions {
    header = List.copyOf(header);
    Objects.requireNonNull(escapes, "escapes");
    Objects.requireNonNull(text, "text");
    if (!isDelimiter(delimiter)) {
      throw new IllegalArgumentException(
          "csv: got a delimiter of the character codes "
              + delimiter.chars().boxed().toList()
              + ", expected 1 to "
              + MOST_CHARACTERS
              + " characters that no number holds, most often ',' or TAB");
    }
    if (escapes != Escapes.NONE && delimiter.indexOf('\\') >= 0) {
      throw new IllegalArgumentException(
          "csv: got a backslash in the delimiter and as the escape, expected one of them");
    }
  }

  /** Fields between single characters, without backslash escapes, in lines of UTF-8. */
  public CsvOptions(char delimiter, List<String> header, boolean trim, boolean quotes) {
    this(String.valueOf(delimiter), header, trim, quotes, Escapes.NONE, TextOptions.DEFAULT);
  }

  /** The characters that are dropped around unquoted fields. */
  String trimmed() {
    return trim
        ? Stream.of(" ", "\t").filter(space -> !delimiter.contains(space)).collect(joining())
        : "";
  }

  /**
   * Whether {@code text} can stand between fields: 1 to 16 characters, among them no ASCII letter
   * or digit, and none of {@code " + - .}, NUL and ends of lines, which a field may hold bare.
   */
  public static boolean isDelimiter(String text) {
    return !text.isEmpty()
        && text.length() <= MOST_CHARACTERS
        && text.chars().allMatch(c -> c >= 128 || !isBare((char) c));
  }

  private static boolean isBare(char c) {
    return Character.isLetterOrDigit(c) || "\"\r\n\0+-.".indexOf(c) >= 0;
  }

  /** Commas, names in the first line, spaces around fields dropped, quotes as in RFC 4180. */
  public static CsvOptions csv() {
    return new CsvOptions(',', List.of(), true, true);
  }

  /** TABs, names in the first line, quotes as in RFC 4180. */
  public static CsvOptions tsv() {
    return new CsvOptions('\t', List.of(), false, true);
  }

  /** These options for fields between {@code text}. */
  public CsvOptions withDelimiter(String text) {
    return new CsvOptions(text, header, trim, quotes, escapes, this.text);
  }

  /** These options for files without a line of names: {@code names} are their columns, in order. */
  public CsvOptions withHeader(List<String> names) {
    return new CsvOptions(delimiter, names, trim, quotes, escapes, text);
  }

  /** These options, and a backslash does what {@code escapes} says. */
  public CsvOptions withEscapes(Escapes escapes) {
    return new CsvOptions(delimiter, header, trim, quotes, escapes, text);
  }

  /** These options for lines as {@code options} say. */
  public CsvOptions withText(TextOptions options) {
    return new CsvOptions(delimiter, header, trim, quotes, escapes, options);
  }
}
