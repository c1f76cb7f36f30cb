package dev.tern.internal.files;

import java.nio.charset.Charset;
import java.nio.file.Path;

/**
 * Cuts a text file into lines, as positions in one buffer. Lines that hold nothing but a comment,
 * from {@code #} on, are passed over, and so are byte order marks before a line.
 */
public final class LineInput implements AutoCloseable {
  private static final long NEWLINES = ByteWords.repeat((byte) '\n');

  private final TextBytes text;
  private byte[] buffer;
  private int limit;
  private int position;
  private int record;
  private int start;
  private int end;
  private long line;
  private long nextLine;
  private long comments;

  private LineInput(TextBytes text, int skipped) {
    this.text = text;
    nextLine = 1L + skipped;
    buffer = text.bytes();
    limit = text.limit();
    position = text.start();
  }

  /**
   * Opens {@code file}.
   *
   * @param encoding of the file; the buffer holds UTF-8
   * @param skipped lines at its beginning that are left out
   */
  public static LineInput open(Path file, Charset encoding, int skipped) {
    TextBytes text = TextBytes.open(file, encoding, "look for ends of lines that are missing");
    try {
      text.skipLines(skipped);
      return new LineInput(text, skipped);
    } catch (RuntimeException e) {
      text.close();
      throw e;
    }
  }

  /**
   * Goes to the next line; false at the end of the file. Empty lines at the end are none; those
   * before another line count as one that is empty.
   */
  public boolean next() {
    long emptyLine = 0;
    while (advance()) {
      if (start == end) {
        emptyLine = line;
      } else if (buffer[start] == '#') {
        comments++;
      } else {
        if (emptyLine != 0) {
          position = record;
          nextLine = line;
          line = emptyLine;
          start = record;
          end = record;
        }
        return true;
      }
    }
    return false;
  }

  private boolean advance() {
    record = position;
    line = nextLine;
    int newline = newline(record);
    while (newline == limit) {
      int scanned = limit - record;
      if (!text.fill(record, line)) {
        break;
      }
      buffer = text.bytes();
      limit = text.limit();
      record = 0;
      newline = newline(Math.min(scanned, limit));
    }
    if (record == limit) {
      return false;
    }
    position = Math.min(newline + 1, limit);
    nextLine = line + 1;
    end = newline > record && buffer[newline - 1] == '\r' ? newline - 1 : newline;
    start = record;
    while (start < end && text.isMark(start)) {
      start += 3;
    }
    while (start < end && isSpace(buffer[start])) {
      start++;
    }
    while (end > start && isSpace(buffer[end - 1])) {
      end--;
    }
    return true;
  }

  /** The first end of line from {@code from} on, else {@link #limit}. */
  private int newline(int from) {
    int found = ByteWords.find(buffer, from, limit, NEWLINES, NEWLINES);
    if (found < limit) {
      return found;
    }
    int p = Math.max(from, limit - Long.BYTES + 1);
    while (buffer[p] != '\n' && p < limit) {
      p++;
    }
    return p;
  }

  public static boolean isSpace(byte value) {
    return value == ' ' || value == '\t';
  }

  /** Skips lines, at most {@code most}; returns how many. */
  public long skip(long most) {
    long skipped = 0;
    while (skipped < most && next()) {
      skipped++;
    }
    return skipped;
  }

  /** The buffer, until the next line. A space or the end of a line stands at {@link #end}. */
  public byte[] bytes() {
    return buffer;
  }

  /** First byte of the current line that is no space. */
  public int start() {
    return start;
  }

  /** Where the current line ends, spaces at its end left out. */
  public int end() {
    return end;
  }

  /** First byte of the current line. */
  public int recordStart() {
    return record;
  }

  /** Where the current line ends, with what ends it. */
  public int recordEnd() {
    return position;
  }

  /** Bytes of the text up to the end of the current line, or to the first. */
  public long offset() {
    return text.offset(position);
  }

  /** Lines passed over so far as comments. */
  public long comments() {
    return comments;
  }

  /** File, line and byte offset of a position in the buffer, for messages. */
  public String where(int at) {
    return text.where(line, at);
  }

  /** The text {@code [from, to)} of the buffer in quotes, for messages. */
  public String quoted(int from, int to) {
    return text.quoted(from, to);
  }

  @Override
  public void close() {
    text.close();
  }
}
