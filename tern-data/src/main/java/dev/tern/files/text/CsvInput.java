package dev.tern.files.text;

import dev.tern.internal.files.ByteWords;
import dev.tern.internal.files.TextBytes;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * Cuts a text file into records and those into fields, all as positions in one buffer.
 *
 * <p>A record is scanned where it lies; one that runs past the buffered bytes is moved to the
 * buffer's front, more bytes are read behind it and it is scanned again. Positions of fields hold
 * until the next record. Faults of the notation are kept ({@link #problem}) and scanning goes on to
 * the end of the line, so the next record is found.
 */
final class CsvInput implements AutoCloseable {
  private static final long NEWLINES = ByteWords.repeat((byte) '\n');
  private static final long QUOTES = ByteWords.repeat((byte) '"');

  private static final String QUOTES_OFF =
      "; mend the line, or set quotes (data.quotes) to false where they are plain characters";

  private final TextBytes text;
  private final byte delimiter;
  private final boolean trim;
  private final boolean quotes;
  private final long delimiters;

  private byte[] buffer;
  private int limit;
  private boolean drained;
  private int position;

  private int record;
  private long line = 1;
  private long nextLine = 1;
  private int fields;
  private int[] starts = new int[64];
  private int[] ends = new int[64];
  private boolean[] escaped = new boolean[64];
  private boolean blank;
  private String problem = "";
  private int problemAt;

  private CsvInput(TextBytes text, CsvOptions options) {
    this.text = text;
    buffer = text.bytes();
    limit = text.limit();
    drained = text.drained();
    position = text.start();
    delimiter = (byte) options.delimiter();
    delimiters = ByteWords.repeat(delimiter);
    trim = options.trim();
    quotes = options.quotes();
  }

  static CsvInput open(Path file, CsvOptions options) {
    TextBytes text = TextBytes.open(file, "look for a quote left open, or turn quotes off");
    return new CsvInput(text, options);
  }

  /**
   * Goes to the next record; false at the end of the file. Empty lines at the end are no records;
   * one before a record counts as a record that has a {@link #problem}.
   */
  boolean next() {
    long blankLine = 0;
    while (advance()) {
      if (!blank && blankLine != 0) {
        position = record;
        nextLine = line;
        line = blankLine;
        fields = 0;
        fault("got an empty line, expected fields or the end of the file; remove the line", record);
      }
      if (!blank) {
        return true;
      }
      blankLine = line;
    }
    return false;
  }

  private boolean advance() {
    record = position;
    line = nextLine;
    if (record == limit && !fill()) {
      return false;
    }
    while (!scanPlain() && !scan()) {
      if (!fill()) {
        throw new IllegalStateException("csv: a record at the end of a file must be complete");
      }
    }
    return true;
  }

  /** Moves the current record to the front and reads more behind it; false at the end of file. */
  private boolean fill() {
    if (!text.fill(record, line)) {
      return false;
    }
    buffer = text.bytes();
    limit = text.limit();
    drained = text.drained();
    record = 0;
    position = 0;
    return true;
  }

  /**
   * Goes over records, at most {@code most}, as {@link #next} does, as long as their lines can be
   * counted alone; returns how many.
   */
  long skipPlain(long most) {
    long skipped = 0;
    while (skipped < most) {
      int p = skipSpaces(position);
      if (p == limit || buffer[p] == '\n' || buffer[p] == '\r') {
        break;
      }
      int end = ByteWords.find(buffer, p, limit, NEWLINES, quotes ? QUOTES : NEWLINES);
      if (end == limit || buffer[end] != '\n') {
        break;
      }
      position = end + 1;
      nextLine++;
      skipped++;
    }
    return skipped;
  }

  /**
   * Scans one record as {@link #scan} does, eight bytes at a time; false where it must: at a quote,
   * or near the end of the buffer.
   */
  private boolean scanPlain() {
    fields = 0;
    problem = "";
    int start = record;
    for (int p = record; p <= limit - Long.BYTES; p += Long.BYTES) {
      long word = ByteWords.word(buffer, p);
      long found = ByteWords.equal(word, delimiters) | ByteWords.equal(word, NEWLINES);
      if (quotes && ByteWords.equal(word, QUOTES) != 0) {
        return false;
      }
      for (; found != 0; found &= found - 1) {
        int end = p + (Long.numberOfTrailingZeros(found) >>> 3);
        addPlain(start, end);
        start = end + 1;
        if (buffer[end] == '\n') {
          endRecord(line, start);
          return true;
        }
      }
    }
    return false;
  }

  private void endRecord(long lastLine, int next) {
    nextLine = lastLine + 1;
    blank = fields == 1 && starts[0] == ends[0] && (ends[0] == 0 || buffer[ends[0] - 1] != '"');
    position = next;
  }

  /** Scans one record from {@link #record}; false where the buffer ends before it does. */
  private boolean scan() {
    fields = 0;
    problem = "";
    nextLine = line;
    int p = record;
    boolean more = true;
    while (more) {
      p = trim ? skipSpaces(p) : p;
      p = quotes && p < limit && buffer[p] == '"' ? quoted(p) : plain(p);
      if (p < 0 || (p == limit && !drained)) {
        return false;
      }
      more = p < limit && buffer[p] == delimiter;
      p = p < limit ? p + 1 : p;
    }
    endRecord(nextLine, p);
    return true;
  }

  /** Scans an unquoted field; returns the position of what ends it. */
  private int plain(int start) {
    byte[] bytes = buffer;
    int p = start;
    while (p < limit && bytes[p] != delimiter && bytes[p] != '\n') {
      if (bytes[p] == '"' && quotes) {
        fault(
            "got a quote inside an unquoted field, expected \"\" in a quoted one" + QUOTES_OFF, p);
      }
      p++;
    }
    addPlain(start, p);
    return p;
  }

  /** Adds the unquoted field that ends at {@code p}, without what surrounds it. */
  private void addPlain(int from, int p) {
    byte[] bytes = buffer;
    // Most fields begin and end with a character that stays.
    if (from == p || ((bytes[from] & 0xFF) > ' ' && (bytes[p - 1] & 0xFF) > ' ')) {
      addField(from, p, false);
      return;
    }
    int start = trim ? skipSpaces(from) : from;
    int end = p;
    if (end > start && bytes[end - 1] == '\r' && (p == limit || bytes[p] == '\n')) {
      end--;
    }
    while (trim && end > start && isSpace(bytes[end - 1])) {
      end--;
    }
    addField(start, end, false);
  }

  /**
   * Scans a quoted field; returns the position of what ends it, or -1 where the bytes do not do.
   */
  private int quoted(int quote) {
    byte[] bytes = buffer;
    boolean doubled = false;
    int p = quote + 1;
    while (true) {
      if (p == limit) {
        return unclosed(quote);
      }
      if (bytes[p] == '\n') {
        nextLine++;
      } else if (bytes[p] == '"') {
        if (p + 1 == limit && !drained) {
          return -1;
        }
        if (p + 1 == limit || bytes[p + 1] != '"') {
          break;
        }
        doubled = true;
        p++;
      }
      p++;
    }
    addField(quote + 1, p, doubled);
    return afterQuote(p + 1);
  }

  private int unclosed(int quote) {
    if (!drained) {
      return -1;
    }
    fault("got a quote left open to the end of the file, expected it closed" + QUOTES_OFF, quote);
    addField(quote + 1, limit, false);
    return limit;
  }

  private int afterQuote(int start) {
    int p = trim ? skipSpaces(start) : start;
    int after = p;
    while (p < limit && buffer[p] != delimiter && buffer[p] != '\n') {
      p++;
    }
    boolean onlyReturn =
        p == after + 1 && buffer[after] == '\r' && (p == limit || buffer[p] == '\n');
    if (p > after && !onlyReturn) {
      fault("got text after a closing quote, expected the end of the field" + QUOTES_OFF, after);
    }
    return p;
  }

  private int skipSpaces(int start) {
    int p = start;
    while (p < limit && isSpace(buffer[p])) {
      p++;
    }
    return p;
  }

  private boolean isSpace(byte value) {
    return value == ' ' || (value == '\t' && delimiter != '\t');
  }

  private void fault(String message, int at) {
    if (problem.isEmpty()) {
      problem = message;
      problemAt = at;
    }
  }

  private void addField(int start, int end, boolean doubled) {
    if (fields == starts.length) {
      starts = Arrays.copyOf(starts, 2 * fields);
      ends = Arrays.copyOf(ends, 2 * fields);
      escaped = Arrays.copyOf(escaped, 2 * fields);
    }
    starts[fields] = start;
    ends[fields] = end;
    escaped[fields] = doubled;
    fields++;
  }

  byte[] bytes() {
    return buffer;
  }

  /** Fields of the current record. */
  int fields() {
    return fields;
  }

  /** First byte of field {@code index}; a quoted field without its quotes. */
  int start(int index) {
    return starts[index];
  }

  int end(int index) {
    return ends[index];
  }

  /** True where a field still holds doubled quotes that stand for one. */
  boolean escaped(int index) {
    return escaped[index];
  }

  /** What is wrong with the notation of the current record, and what to do; empty: nothing. */
  String problem() {
    return problem;
  }

  int problemAt() {
    return problemAt;
  }

  /** First byte of the current record. */
  int recordStart() {
    return record;
  }

  /** The text of field {@code index}. */
  String text(int index) {
    String field =
        new String(buffer, starts[index], ends[index] - starts[index], StandardCharsets.UTF_8);
    return escaped[index] ? field.replace("\"\"", "\"") : field;
  }

  /** File, line and byte offset of a position in the buffer, for messages. */
  String where(int at) {
    return text.where(line, at);
  }

  /** The text {@code [from, to)} of the buffer in quotes, for messages. */
  String quoted(int from, int to) {
    return text.quoted(from, to);
  }

  @Override
  public void close() {
    text.close();
  }
}
