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
 * until the next record. A byte order mark before a record is a fault and no part of it. Faults of
 * the notation are kept ({@link #problem}) and scanning goes on to the end of the line, so the next
 * record is found.
 */
final class CsvInput implements AutoCloseable {
  private static final long NEWLINES = ByteWords.repeat((byte) '\n');
  private static final long QUOTES = ByteWords.repeat((byte) '"');

  private static final byte[] MARK = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};

  private static final String QUOTES_OFF =
      "; mend the line, or set quotes (data.quotes) to false where they are plain characters";

  private final TextBytes text;

  /** The first byte of what separates fields, and all of them. */
  private final byte delimiter;

  private final byte[] delimiterBytes;
  private final boolean trim;
  private final boolean quotes;
  private final CsvEscapes escapes;

  /** Whether the eight bytes of a word tell where a field ends, without what surrounds them. */
  private final boolean simple;

  private final byte[] comment;
  private final boolean spaceDelimits;
  private final boolean tabDelimits;
  private final long delimiters;

  private byte[] buffer;
  private int limit;
  private boolean drained;
  private int position;

  private int record;
  private final long firstLine;
  private long line = 1;
  private long nextLine = 1;
  private int fields;
  private int[] starts = new int[64];
  private int[] ends = new int[64];
  private boolean[] escaped = new boolean[64];
  private boolean blank;

  /** Whether a byte order mark stands before the current record. */
  private boolean marked;

  private long comments;
  private String problem = "";
  private int problemAt;

  /** Whether a quote of the current record is open where the file ends. */
  private boolean open;

  private CsvInput(TextBytes text, CsvOptions options) {
    this.text = text;
    buffer = text.bytes();
    limit = text.limit();
    drained = text.drained();
    position = text.start();
    firstLine = 1L + options.text().skipLines();
    nextLine = firstLine;
    delimiterBytes = options.delimiter().getBytes(StandardCharsets.UTF_8);
    delimiter = delimiterBytes[0];
    delimiters = ByteWords.repeat(delimiter);
    spaceDelimits = options.delimiter().indexOf(' ') >= 0;
    tabDelimits = options.delimiter().indexOf('\t') >= 0;
    trim = options.trim();
    quotes = options.quotes();
    escapes = new CsvEscapes(options, delimiterBytes);
    simple = delimiterBytes.length == 1 && !escapes.bare;
    comment = options.text().comment().getBytes(StandardCharsets.UTF_8);
  }

  static CsvInput open(Path file, CsvOptions options) {
    TextOptions lines = options.text();
    TextBytes text =
        TextBytes.open(file, lines.encoding(), "look for a quote left open, or turn quotes off");
    try {
      text.skipLines(lines.skipLines());
      return new CsvInput(text, options);
    } catch (RuntimeException e) {
      text.close();
      throw e;
    }
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
    marked = false;
    if (record == limit && !fill()) {
      return false;
    }
    if (buffer[record] == MARK[0] && !passMarks()) {
      return false;
    }
    if (comment.length > 0 && !passComments()) {
      return false;
    }
    while (!scanPlain() && !scan()) {
      if (!fill()) {
        throw new IllegalStateException("csv: a record at the end of a file must be complete");
      }
    }
    if (marked && !blank) {
      fault(
          "got \ufeff, a byte order mark between joined files, before a row, expected none; take it"
              + " out",
          record);
    }
    return true;
  }

  /** Passes over lines that are comments, quotes in them too; false at the end of the file. */
  private boolean passComments() {
    while (begins(comment)) {
      int length = 0;
      while ((record + length < limit || fill()) && buffer[record + length] != '\n') {
        length++;
      }
      position = Math.min(record + length + 1, limit);
      record = position;
      line++;
      marked = false;
      comments++;
      if ((record == limit && !fill()) || (buffer[record] == MARK[0] && !passMarks())) {
        nextLine = line;
        return false;
      }
    }
    return true;
  }

  /** Passes over byte order marks, as files have them that were joined; false at the end. */
  private boolean passMarks() {
    while (begins(MARK)) {
      record += MARK.length;
      marked = true;
      position = record;
      if (record == limit && !fill()) {
        return false;
      }
    }
    return true;
  }

  /** Whether {@code bytes} stand at {@link #record}; reads on where the buffer cannot tell. */
  private boolean begins(byte[] bytes) {
    boolean more = true;
    while (limit - record < bytes.length && more) {
      more = fill();
    }
    return startsWith(bytes, record);
  }

  /** Whether all of {@code bytes} stand at {@code at} and before the limit. */
  private boolean startsWith(byte[] bytes, int at) {
    return at + bytes.length <= limit
        && Arrays.equals(buffer, at, at + bytes.length, bytes, 0, bytes.length);
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
    while (skipped < most && !escapes.bare) {
      if (comment.length > 0 && startsWith(comment, position)) {
        break;
      }
      int p = skipSpaces(position);
      if (p == limit || buffer[p] == '\n' || buffer[p] == '\r' || text.isMark(position)) {
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
   * near the end of the buffer, or where a delimiter is more than a byte or may be escaped.
   */
  private boolean scanPlain() {
    fields = 0;
    problem = "";
    if (!simple) {
      return false;
    }
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
    open = false;
    nextLine = line;
    int p = record;
    boolean more = true;
    while (more) {
      p = trim ? skipSpaces(p) : p;
      p = quotes && p < limit && buffer[p] == '"' ? quoted(p) : plain(p);
      if (p < 0 || (p == limit && !drained)) {
        return false;
      }
      more = isDelimiter(p);
      p = more ? p + delimiterBytes.length : Math.min(p + 1, limit);
    }
    endRecord(nextLine, p);
    if (p == limit && text.endsInCharacter()) {
      fault(
          "got a character that the end of the file cuts short, expected all of it; fetch the file"
              + " again, or set data.encoding to what it is written in",
          limit - 1);
    }
    return true;
  }

  /** Scans an unquoted field; returns the position of what ends it. */
  private int plain(int start) {
    byte[] bytes = buffer;
    boolean escapable = escapes.bare;
    boolean escape = false;
    int p = start;
    while (p < limit && bytes[p] != '\n' && !isDelimiter(p)) {
      if (bytes[p] == '\\' && escapable) {
        escape = true;
        p = afterEscape(p);
        continue;
      }
      if (bytes[p] == '"' && quotes) {
        fault(
            "got a quote inside an unquoted field, expected \"\" in a quoted one" + QUOTES_OFF, p);
      }
      p++;
    }
    addPlain(start, p);
    escaped[fields - 1] = escape;
    return p;
  }

  /** Whether what separates fields begins at {@code p}. */
  private boolean isDelimiter(int p) {
    return p < limit
        && buffer[p] == delimiter
        && (delimiterBytes.length == 1 || startsWith(delimiterBytes, p));
  }

  /** Where the scan goes on behind the backslash at {@code p}. */
  private int afterEscape(int p) {
    int end = p + 1 + escapes.length(buffer, p + 1, limit);
    if (end > p + 1 && buffer[end - 1] == '\n') {
      nextLine++;
    }
    return end;
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
    boolean escapable = escapes.quoted;
    boolean doubled = false;
    int p = quote + 1;
    while (true) {
      if (p == limit) {
        return unclosed(quote);
      }
      if (bytes[p] == '\\' && escapable) {
        doubled = true;
        p = afterEscape(p);
        continue;
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
    open = true;
    fault("got a quote left open to the end of the file, expected it closed" + QUOTES_OFF, quote);
    addField(quote + 1, limit, false);
    return limit;
  }

  private int afterQuote(int start) {
    int p = trim ? skipSpaces(start) : start;
    int after = p;
    while (p < limit && buffer[p] != '\n' && !isDelimiter(p)) {
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
    return (value == ' ' && !spaceDelimits) || (value == '\t' && !tabDelimits);
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

  /** True where a field still holds doubled quotes that stand for one, or backslashes. */
  boolean escaped(int index) {
    return escaped[index];
  }

  /** Whether field {@code index} is in quotes. */
  boolean isQuoted(int index) {
    return quotes && starts[index] > record && buffer[starts[index] - 1] == '"';
  }

  /** Where an unquoted field starts with the spaces before it. */
  int outerStart(int index) {
    int at = starts[index];
    while (at > record && isSpace(buffer[at - 1])) {
      at--;
    }
    return at;
  }

  /** Where an unquoted field ends with the spaces behind it. */
  int outerEnd(int index) {
    return skipSpaces(ends[index]);
  }

  /** What is wrong with the notation of the current record, and what to do; empty: nothing. */
  String problem() {
    return problem;
  }

  int problemAt() {
    return problemAt;
  }

  /**
   * Lines of the current record. Where its notation is wrong they may be as many records: a quote
   * left open takes what follows it.
   */
  long lines() {
    boolean ended = open && buffer[limit - 1] == '\n';
    return fields == 0 ? 1 : nextLine - line - (ended ? 1 : 0);
  }

  /** The first line of the current record, counted from 1. */
  long line() {
    return line;
  }

  /** Its last line. */
  long lastLine() {
    return nextLine - 1;
  }

  /** Whether the current record begins in the first line that is not skipped. */
  boolean isFirst() {
    return line == firstLine;
  }

  /** Whether a byte 0 stands in the current record. */
  boolean holdsNul() {
    for (int at = record; at < position; at++) {
      if (buffer[at] == 0) {
        return true;
      }
    }
    return false;
  }

  /** Whether a carriage return stands in the current record without the end of a line behind it. */
  boolean holdsReturn() {
    for (int at = record; at < position - 1; at++) {
      if (buffer[at] == '\r' && buffer[at + 1] != '\n') {
        return true;
      }
    }
    return false;
  }

  /** First byte of the current record. */
  int recordStart() {
    return record;
  }

  /** Where the current record ends, with the end of its line. */
  int recordEnd() {
    return position;
  }

  /** Bytes of the text up to the end of the current record, or to the first. */
  long offset() {
    return text.offset(position);
  }

  /** Lines passed over so far as comments. */
  long comments() {
    return comments;
  }

  /** Copies {@code [from, to)} of an {@link #escaped} field to {@code out} as it is meant. */
  int unescape(int from, int to, byte[] out) {
    return escapes.unescape(buffer, from, to, out);
  }

  /** The text of field {@code index}. */
  String text(int index) {
    int from = starts[index];
    int length = ends[index] - from;
    if (!escaped[index]) {
      return new String(buffer, from, length, StandardCharsets.UTF_8);
    }
    byte[] field = new byte[length];
    return new String(field, 0, unescape(from, from + length, field), StandardCharsets.UTF_8);
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
