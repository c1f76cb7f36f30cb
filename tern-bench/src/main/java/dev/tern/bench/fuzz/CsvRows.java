package dev.tern.bench.fuzz;

import java.util.Optional;

/**
 * Counts the records of CSV text by a plain machine, a byte at a time. A record whose notation is
 * wrong (a quote left open or inside an unquoted field, text behind a closing quote) costs the
 * lines that it takes; any other is one row, whatever lines it takes. Empty lines before a record
 * cost one row for all or one each.
 *
 * @param delimiter between fields
 * @param header whether the first record names the columns
 */
record CsvRows(byte delimiter, boolean trim, boolean quotes, boolean header)
    implements RowCount.Counter {
  @Override
  public Optional<RowCount> count(byte[] all) {
    byte[] bytes = RowCount.withoutEndMark(all);
    long least = 0;
    long most = 0;
    long blanks = 0;
    boolean named = !header;
    for (int at = RowCount.start(bytes, 0); at < bytes.length; at = RowCount.start(bytes, at)) {
      Record record = record(bytes, at);
      at = record.end;
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
    long lines = 1;
    boolean wrong = false;
    boolean more = true;
    int fields = 0;
    int at = from;
    while (more) {
      fields++;
      at = trim ? spaces(bytes, at) : at;
      boolean quoted = quotes && at < bytes.length && bytes[at] == '"';
      if (quoted) {
        at++;
        while (at < bytes.length && (bytes[at] != '"' || is(bytes, at + 1, '"'))) {
          lines += bytes[at] == '\n' ? 1 : 0;
          at += bytes[at] == '"' ? 2 : 1;
        }
        if (at >= bytes.length) {
          wrong = true;
          // The end of the last line begins no other.
          lines -= bytes[bytes.length - 1] == '\n' ? 1 : 0;
        }
        at = Math.min(at + 1, bytes.length);
        at = trim ? spaces(bytes, at) : at;
      }
      int rest = at;
      while (at < bytes.length && bytes[at] != delimiter && bytes[at] != '\n') {
        wrong |= quotes && !quoted && bytes[at] == '"';
        at++;
      }
      boolean onlyReturn = at == rest + 1 && bytes[rest] == '\r' && !is(bytes, at, delimiter);
      wrong |= quoted && at > rest && !onlyReturn;
      if (fields == 1 && !quoted && !is(bytes, at, delimiter) && isBlank(bytes, rest, at)) {
        return new Record(Math.min(at + 1, bytes.length), 1, true, false);
      }
      more = is(bytes, at, delimiter);
      at = Math.min(at + 1, bytes.length);
    }
    return new Record(at, lines, false, wrong);
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
    return value == ' ' || (value == '\t' && delimiter != '\t');
  }

  private static boolean is(byte[] bytes, int at, int value) {
    return at < bytes.length && bytes[at] == value;
  }
}
