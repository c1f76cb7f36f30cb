package dev.tern.files.text;

import dev.tern.base.DataException;
import dev.tern.internal.files.NumberParser;
import dev.tern.internal.files.TextBytes;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;

/**
 * The lines of a file of vectors: a value, then its numbers. Behind the value stands a tab, or the
 * first line says what does: a space, or a comma. Tabs, spaces and commas separate the numbers. A
 * first line of two whole numbers is a header as word2vec writes it: how many vectors, of how many
 * numbers. Nothing is a comment, as {@code #} is a value of many files.
 */
final class VectorLines implements VectorRows {
  private final Path file;
  private final TextBytes text;
  private final List<Integer> widths;
  private final NumberParser parser = new NumberParser();
  private OptionalLong announced = OptionalLong.empty();
  private byte[] buffer;
  private int limit;
  private int position;
  private int start;
  private int end;
  private long line;
  private byte separator;
  private long vectors;
  private int width;
  private int valueEnd;

  private VectorLines(Path file, TextBytes text, List<Integer> widths) {
    this.file = file;
    this.text = text;
    this.widths = widths;
    buffer = text.bytes();
    limit = text.limit();
    position = text.start();
  }

  /**
   * Opens a file and reads its first line.
   *
   * @param widths how many numbers vectors may have; all have as many as the first
   * @throws DataException if it has no vector, or the first is of another width
   */
  static VectorLines open(Path file, List<Integer> widths) {
    TextBytes text = TextBytes.open(file, "look for ends of lines that are missing");
    VectorLines lines = new VectorLines(file, text, widths);
    try {
      lines.begin();
      return lines;
    } catch (RuntimeException e) {
      lines.close();
      throw e;
    }
  }

  @Override
  public int width() {
    return width;
  }

  private void begin() {
    if (!advance()) {
      throw new DataException(
          "%s: got no line, expected a value and its vector in each; check what wrote it"
              .formatted(file));
    }
    boolean header = isHeader();
    if (header && !advance()) {
      throw new DataException(
          "%s: got a header and no vector, expected %d; check what wrote it"
              .formatted(where(start), announced.orElseThrow()));
    }
    separator = separator();
    if (!header) {
      int numbers = numbers();
      if (!widths.contains(numbers)) {
        throw wrongCount(numbers);
      }
      width = numbers;
    }
    position = start; // The line is read again, as the first vector.
    line--;
  }

  /** Whether the current line is the header; a vector of one number looks alike. */
  private boolean isHeader() {
    int middle = start;
    while (middle < end && !isSpace(buffer[middle])) {
      middle++;
    }
    int second = middle;
    while (second < end && isSpace(buffer[second])) {
      second++;
    }
    if (widths.contains(1) || !isWhole(second, end) || !isWhole(start, middle)) {
      return false;
    }
    parser.parseInteger(buffer, start, middle);
    announced = OptionalLong.of(parser.integer());
    parser.parseInteger(buffer, second, end);
    if (parser.integer() > Integer.MAX_VALUE || !widths.contains((int) parser.integer())) {
      throw new DataException(
          "%s: got vectors of %d numbers by the header, expected %s; make model.embedding, or embedding beside the column in data.sparse, as wide, or give other vectors"
              .formatted(where(second), parser.integer(), expected()));
    }
    width = (int) parser.integer();
    return true;
  }

  private boolean isWhole(int from, int to) {
    boolean whole = from < to && to - from <= 18;
    for (int p = from; p < to && whole; p++) {
      whole = buffer[p] >= '0' && buffer[p] <= '9';
    }
    return whole;
  }

  /** What stands behind the value of the current line: a comma may have a space behind it. */
  private byte separator() {
    int space = -1;
    for (int p = start; p < end; p++) {
      if (buffer[p] == '\t') {
        return '\t';
      }
      space = space < 0 && buffer[p] == ' ' ? p : space;
    }
    boolean commas = space < 0 || space > start + 1 && buffer[space - 1] == ',';
    return (byte) (commas ? ',' : ' ');
  }

  /** Also refuses others than the header says. */
  @Override
  public boolean next(float[] to, int at) {
    if (!advance()) {
      if (announced.isPresent() && announced.getAsLong() != vectors) {
        throw new DataException(
            "%s: got %d vectors, expected %d as its first line says; the file was cut, or joined to another"
                .formatted(file, vectors, announced.getAsLong()));
      }
      return false;
    }
    vectors++;
    findValue();
    int count = 0;
    for (int p = firstNumber(); p < end; p = nextNumber(p)) {
      int stop = numberEnd(p);
      if (!parser.parseFloat(buffer, p, stop)) {
        throw new DataException(
            "%s: got %s, expected a number; check what wrote it"
                .formatted(where(p), text.quoted(p, Math.max(p + 1, stop))));
      }
      if (!Float.isFinite(parser.number())) {
        throw new DataException(
            "%s: got %s, expected a finite number; leave the vector out"
                .formatted(where(p), text.quoted(p, stop)));
      }
      if (count < width) {
        to[at + count] = parser.number();
      }
      count++;
    }
    if (count != width) {
      throw wrongCount(count);
    }
    return true;
  }

  @Override
  public String value() {
    try {
      return StandardCharsets.UTF_8
          .newDecoder()
          .decode(ByteBuffer.wrap(buffer, start, valueEnd - start))
          .toString();
    } catch (CharacterCodingException e) {
      throw new DataException(
          "%s: got %s, expected text in UTF-8; write the file in it"
              .formatted(where(start), text.quoted(start, valueEnd)),
          e);
    }
  }

  @Override
  public DataException fault(String got) {
    return new DataException(
        "%s: got %s %s".formatted(where(start), text.quoted(start, valueEnd), got));
  }

  private DataException wrongCount(int count) {
    String wanted = width == 0 ? expected() : width + " as in the first line";
    return new DataException(
        "%s: got %d numbers for %s, expected %s; %s"
            .formatted(
                where(start),
                count,
                text.quoted(start, valueEnd),
                wanted,
                width == 0
                    ? "make model.embedding, or embedding beside the column in data.sparse, as"
                        + " wide, or give other vectors"
                    : "check whether the line was cut"));
  }

  private String expected() {
    return widths.size() == 1
        ? widths.getFirst() + " as rows of the table have"
        : widths.getFirst() + ", or " + widths.getLast() + " for whole rows of the table";
  }

  /** The numbers of the current line. */
  private int numbers() {
    findValue();
    int count = 0;
    for (int p = firstNumber(); p < end; p = nextNumber(p)) {
      count++;
    }
    return count;
  }

  private void findValue() {
    valueEnd = start;
    while (valueEnd < end && buffer[valueEnd] != separator) {
      valueEnd++;
    }
    if (valueEnd == start) {
      throw new DataException(
          "%s: got %s, expected a value and its vector; leave out lines without one"
              .formatted(where(start), start == end ? "an empty line" : "no value"));
    }
  }

  private int firstNumber() {
    return afterSpaces(Math.min(end, valueEnd + 1));
  }

  private int numberEnd(int from) {
    int p = from;
    while (p < end && buffer[p] != ',' && !isSpace(buffer[p])) {
      p++;
    }
    return p;
  }

  /** Where the number behind the one at {@code from} begins; a comma at the end is an error. */
  private int nextNumber(int from) {
    int p = afterSpaces(numberEnd(from));
    if (p == end || buffer[p] != ',') {
      return p;
    }
    int next = afterSpaces(p + 1);
    if (next == end) {
      throw new DataException(
          "%s: got a comma and no number behind it, expected one; check whether the line was cut"
              .formatted(where(p)));
    }
    return next;
  }

  private int afterSpaces(int from) {
    int p = from;
    while (p < end && isSpace(buffer[p])) {
      p++;
    }
    return p;
  }

  private static boolean isSpace(byte value) {
    return value == ' ' || value == '\t';
  }

  private String where(int at) {
    return text.where(line, at);
  }

  /** Goes to the next line; empty lines at the end are none. */
  private boolean advance() {
    if (!nextLine()) {
      return false;
    }
    if (start < end) {
      return true;
    }
    long empty = line;
    String place = where(start);
    while (nextLine()) {
      if (start < end) {
        throw new DataException(
            "%s: got an empty line and another behind it, expected a value and its vector; remove line %d"
                .formatted(place, empty));
      }
    }
    return false;
  }

  private boolean nextLine() {
    int record = position;
    line++;
    int newline = newline(record);
    while (newline == limit) {
      int scanned = limit - record;
      if (!text.fill(record, line)) {
        limit = text.limit();
        newline = Math.min(newline, limit);
        break;
      }
      buffer = text.bytes();
      limit = text.limit();
      record = 0;
      newline = newline(Math.min(scanned, limit));
    }
    if (record >= limit) {
      return false;
    }
    position = Math.min(newline + 1, limit);
    start = record;
    end = newline;
    while (end > start && (isSpace(buffer[end - 1]) || buffer[end - 1] == '\r')) {
      end--;
    }
    return true;
  }

  private int newline(int from) {
    int p = from;
    while (p < limit && buffer[p] != '\n') {
      p++;
    }
    return p;
  }

  @Override
  public void close() {
    text.close();
  }
}
