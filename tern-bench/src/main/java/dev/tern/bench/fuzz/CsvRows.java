package dev.tern.bench.fuzz;

import dev.tern.files.text.CsvOptions;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;

/**
 * Counts the records of CSV text in UTF-8 by a plain machine, a byte at a time. A record whose
 * notation is wrong (a quote left open or inside an unquoted field, text behind a closing quote)
 * costs the lines that it takes; any other is one row, whatever lines it takes. Empty lines before
 * a record cost one row for all or one each. Lines that are skipped and comments are none.
 */
final class CsvRows implements RowCount.Counter {
  private final byte[] delimiter;
  private final boolean trim;
  private final boolean quotes;
  private final CsvOptions.Escapes escapes;
  private final boolean header;
  private final int skipped;
  private final byte[] comment;

  CsvRows(CsvOptions options) {
    delimiter = options.delimiter().getBytes(StandardCharsets.UTF_8);
    trim = options.trim();
    quotes = options.quotes();
    escapes = options.escapes();
    header = options.header().isEmpty();
    skipped = options.text().skipLines();
    comment = options.text().comment().getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public Optional<RowCount> count(byte[] all) {
    byte[] bytes = RowCount.withoutEndMark(all);
    long least = 0;
    long most = 0;
    long blanks = 0;
    boolean named = !header;
    int from = RowCount.afterLines(bytes, RowCount.start(bytes, 0), skipped);
    if (from < 0) {
      return Optional.empty();
    }
    int at = RowCount.start(bytes, from);
    while (at < bytes.length) {
      if (comment.length > 0 && is(bytes, at, comment)) {
        at = RowCount.start(bytes, RowCount.afterLine(bytes, at));
        continue;
      }
      Record record = record(bytes, at);
      at = RowCount.start(bytes, record.end);
      if (record.blank) {
        blanks++;
        continue;
      }
      if (!named) {
        // A header behind empty lines is refused.
        named = true;
        if (blanks > 0 || record.wrong) {
          return Optional.empty();
        }
        continue;
      }
      least += (blanks > 0 ? 1 : 0) + (record.wrong ? record.lines : 1);
      most += blanks + record.lines;
      blanks = 0;
    }
    return named ? Optional.of(new RowCount(least, most)) : Optional.empty();
  }

  /**
   * One record.
   *
   * @param end where the next begins
   * @param lines that it takes
   * @param wrong whether its notation is
   */
  private record Record(int end, long lines, boolean blank, boolean wrong) {}

  private Record record(byte[] bytes, int from) {
    boolean wrong = false;
    boolean more = true;
    int fields = 0;
    int at = from;
    while (more) {
      fields++;
      at = trim ? spaces(bytes, at) : at;
      boolean quoted = quotes && at < bytes.length && bytes[at] == '"';
      if (quoted) {
        at = closingQuote(bytes, at + 1);
        wrong |= at == bytes.length;
        at = Math.min(at + 1, bytes.length);
        at = trim ? spaces(bytes, at) : at;
      }
      int rest = at;
      while (at < bytes.length && bytes[at] != '\n' && !is(bytes, at, delimiter)) {
        wrong |= quotes && !quoted && bytes[at] == '"';
        at += quoted ? 1 : character(bytes, at, false);
      }
      boolean onlyReturn = at == rest + 1 && bytes[rest] == '\r' && !is(bytes, at, delimiter);
      wrong |= quoted && at > rest && !onlyReturn;
      more = is(bytes, at, delimiter);
      if (fields == 1 && !quoted && !more && isBlank(bytes, rest, at)) {
        return new Record(Math.min(at + 1, bytes.length), 1, true, false);
      }
      at = Math.min(at + (more ? delimiter.length : 1), bytes.length);
    }
    return new Record(at, lines(bytes, from, at), false, wrong);
  }

  /** Where the quote stands that closes a field, else the end. */
  private int closingQuote(byte[] bytes, int from) {
    int at = from;
    while (at < bytes.length && (bytes[at] != '"' || is(bytes, at + 1, '"'))) {
      at += bytes[at] == '"' ? 2 : character(bytes, at, true);
    }
    return Math.min(at, bytes.length);
  }

  /** Bytes of what stands at {@code at}: of a backslash with what it makes a part of the field. */
  private int character(byte[] bytes, int at, boolean quoted) {
    boolean anywhere = escapes == CsvOptions.Escapes.ANYWHERE;
    if (bytes[at] != '\\' || !(anywhere || quoted && escapes == CsvOptions.Escapes.QUOTED)) {
      return 1;
    }
    if (is(bytes, at + 1, '"') || is(bytes, at + 1, '\\')) {
      return 2;
    }
    if (!anywhere) {
      return 1;
    }
    if (is(bytes, at + 1, '\r') && is(bytes, at + 2, '\n')) {
      return 3;
    }
    if (is(bytes, at + 1, '\n')) {
      return 2;
    }
    return is(bytes, at + 1, delimiter) ? 1 + delimiter.length : 1;
  }

  private static long lines(byte[] bytes, int from, int to) {
    long lines = bytes[to - 1] == '\n' ? 0 : 1;
    for (int at = from; at < to; at++) {
      lines += bytes[at] == '\n' ? 1 : 0;
    }
    return lines;
  }

  private boolean isBlank(byte[] bytes, int from, int to) {
    for (int at = from; at < to; at++) {
      boolean lastReturn = bytes[at] == '\r' && at == to - 1;
      if (!lastReturn && !(trim && isSpace(bytes[at]))) {
        return false;
      }
    }
    return true;
  }

  private int spaces(byte[] bytes, int from) {
    int at = from;
    while (at < bytes.length && isSpace(bytes[at])) {
      at++;
    }
    return at;
  }

  private boolean isSpace(byte value) {
    return (value == ' ' || value == '\t') && delimiter[0] != value;
  }

  private static boolean is(byte[] bytes, int at, int value) {
    return at < bytes.length && bytes[at] == value;
  }

  private static boolean is(byte[] bytes, int at, byte[] text) {
    return at + text.length <= bytes.length
        && Arrays.equals(bytes, at, at + text.length, text, 0, text.length);
  }
}
