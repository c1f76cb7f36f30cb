package dev.tern.files.text;

import java.util.List;

/**
 * How a CSV file is written down. Lines end with LF or CRLF; gzip files are known by their first
 * bytes.
 *
 * @param delimiter between fields: an ASCII character, most often ',' or TAB
 * @param header names of the columns where the files do not hold them; empty: the first line of
 *     each file names its columns
 * @param trim drops spaces (and TABs unless they delimit) around unquoted fields, as Census data
 *     have
 * @param quotes fields may be quoted as in RFC 4180; false: a quote is a character like any other
 */
public record CsvOptions(char delimiter, List<String> header, boolean trim, boolean quotes) {
  public CsvOptions {
    header = List.copyOf(header);
    if (!isDelimiter(delimiter)) {
      throw new IllegalArgumentException(
          "csv: got the delimiter with code "
              + (int) delimiter
              + ", expected one that no number holds, most often ',' or TAB");
    }
  }

  /** Whether {@code c} can stand between fields: ASCII, and nothing that a field may hold bare. */
  public static boolean isDelimiter(char c) {
    return c < 128 && !Character.isLetterOrDigit(c) && "\"\r\n \0+-.".indexOf(c) < 0;
  }

  /** Commas, names in the first line, spaces around fields dropped, quotes as in RFC 4180. */
  public static CsvOptions csv() {
    return new CsvOptions(',', List.of(), true, true);
  }

  /** TABs, names in the first line, quotes as in RFC 4180. */
  public static CsvOptions tsv() {
    return new CsvOptions('\t', List.of(), false, true);
  }

  /** These options for files without a line of names: {@code names} are their columns, in order. */
  public CsvOptions withHeader(List<String> names) {
    return new CsvOptions(delimiter, names, trim, quotes);
  }
}
