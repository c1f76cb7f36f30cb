package dev.tern.internal.files;

import dev.tern.base.DataException;
import dev.tern.base.Shown;
import dev.tern.files.ReadPolicy;
import java.io.IOException;
import java.io.InputStream;
import java.io.PushbackInputStream;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Locale;

/**
 * The bytes of a text file, plain or gzip, in one buffer that moves over the file and grows for
 * long records. Gzip is known by the first bytes; byte order marks there are passed over. A last
 * line that holds 0x1A alone, the mark by which DOS ends a text, is none.
 *
 * <p>Behind {@link #limit} stands an end of line and the buffer has room for a word, so that
 * scanners need not look where it ends at each byte.
 */
public final class TextBytes implements AutoCloseable {
  private static final int BUFFER = 1 << 18;
  private static final int GZIP_ROOM = 1 << 12;
  private static final int MAX_RECORD = 1 << 26;
  private static final int SPARE = Long.BYTES;
  private static final int SHOWN = 40;
  private static final byte END_MARK = 0x1A;

  private final Path file;
  private final InputStream in;
  private final boolean gzip;
  private final Charset encoding;
  private final String advice;
  private byte[] buffer;
  private int limit;
  private int begin;
  private long base;
  private boolean drained;

  private TextBytes(
      Path file, InputStream in, boolean gzip, Charset encoding, int room, String advice) {
    this.file = file;
    this.in = in;
    this.gzip = gzip;
    this.encoding = encoding;
    this.advice = advice;
    buffer = new byte[room + SPARE];
  }

  /** Opens {@code file} of UTF-8 and reads its first bytes; {@code advice} as below. */
  public static TextBytes open(Path file, String advice) {
    return open(file, StandardCharsets.UTF_8, advice);
  }

  /**
   * Opens {@code file} and reads its first bytes.
   *
   * @param encoding of the file; the buffer holds UTF-8
   * @param advice what to do where a record does not end, for messages
   */
  public static TextBytes open(Path file, Charset encoding, String advice) {
    try {
      boolean stream = isStream(file);
      long size = stream ? BUFFER : Files.size(file);
      // A pipe gives its first bytes once.
      PushbackInputStream raw = new PushbackInputStream(Files.newInputStream(file), 2);
      InputStream in = raw;
      try {
        boolean gzip = isGzip(raw);
        if (!gzip && !stream && isNamedGzip(file)) {
          throw new DataException(
              file
                  + ": byte 0: got no gzip header, expected one by the file's name; copy the file"
                  + " again, or name it otherwise if it is plain text");
        }
        in = gzip ? GzipInput.open(file, raw, size) : raw;
        // One byte more than the file has, so that its end is met on the first reading.
        boolean recoded = !encoding.equals(StandardCharsets.UTF_8);
        long most = recoded ? 3 * size + 1 : size + 1;
        int room = (int) Math.min(gzip ? Math.max(GZIP_ROOM, 16 * size) : most, BUFFER);
        TextBytes text =
            new TextBytes(
                file, recoded ? RecodedInput.open(in, encoding) : in, gzip, encoding, room, advice);
        text.read(1);
        while (text.isMark(text.begin)) {
          text.begin += 3;
        }
        text.requireLines();
        return text;
      } catch (IOException | RuntimeException e) {
        in.close();
        throw e;
      }
    } catch (IOException e) {
      throw BinaryInput.unreadable(file, e);
    }
  }

  private static boolean isGzip(PushbackInputStream in) throws IOException {
    byte[] magic = in.readNBytes(2);
    in.unread(magic);
    return magic.length == 2 && magic[0] == 0x1f && magic[1] == (byte) 0x8b;
  }

  /** Whether the name of {@code file} says that it is compressed by gzip. */
  static boolean isNamedGzip(Path file) {
    return file.toString().toLowerCase(Locale.ROOT).endsWith(".gz");
  }

  private void requireLines() {
    FileKind kind = FileKind.of(buffer, limit);
    if (!kind.isLines()) {
      throw kind.refused(file, gzip ? "lines of text in the gzip file" : "lines of text or gzip");
    }
  }

  /** Whether {@code file} is a pipe or a device, whose bytes come once. */
  public static boolean isStream(Path file) {
    return Files.exists(file) && !Files.isRegularFile(file) && !Files.isDirectory(file);
  }

  /**
   * A file is looked into on opening and read once a pass, which takes its rows from a pipe.
   *
   * @return whether {@code file} may be looked into; false for a pipe that is read once
   */
  public static boolean requireRereadable(Path file, ReadPolicy policy) {
    boolean stream = isStream(file);
    if (stream && !policy.once()) {
      throw new DataException(
          file
              + ": got a pipe or device, expected a file that can be read more than once; write the"
              + " rows to one and name that");
    }
    return !stream;
  }

  /** The buffer; another after {@link #fill}. */
  public byte[] bytes() {
    return buffer;
  }

  /** Where the bytes that were read end. */
  public int limit() {
    return limit;
  }

  /** Whether the file ends at {@link #limit}. */
  public boolean drained() {
    return drained;
  }

  /** Leaves out the first {@code lines} lines of a file just opened: it starts behind them. */
  public void skipLines(int lines) {
    int p = begin;
    long line = 1;
    boolean inLine = false;
    while (line <= lines) {
      if (p == limit && fill(p, line)) {
        p = 0;
      }
      if (p == limit) {
        long got = inLine ? line : line - 1;
        if (got < lines) {
          throw new DataException(
              "%s: got %s lines, expected the %s of data.skip_lines and rows behind them; mend it"
                  .formatted(file, got, lines));
        }
        break;
      }
      inLine = buffer[p] != '\n';
      line += inLine ? 0 : 1;
      p++;
    }
    begin = p;
  }

  /** Where the text starts in the buffer of a file just opened. */
  public int start() {
    return begin;
  }

  /**
   * Whether a byte order mark, of three bytes, stands at {@code at}: at the beginning of a line it
   * is no character of it but a rest of files that were joined.
   */
  public boolean isMark(int at) {
    return buffer[at] == (byte) 0xEF
        && limit - at >= 3
        && buffer[at + 1] == (byte) 0xBB
        && buffer[at + 2] == (byte) 0xBF;
  }

  /** Whether the bytes before {@link #limit} begin a character of UTF-8 and do not end it. */
  public boolean endsInCharacter() {
    for (int length = 1; length <= Math.min(3, limit); length++) {
      byte first = buffer[limit - length];
      if ((first & 0xC0) != 0x80) {
        return sequence(first) > length;
      }
    }
    return false;
  }

  /** Moves the limit before the mark of DOS where it is all of the last line. */
  private void dropEndMark() {
    int at = limit - 1;
    at -= at > 0 && buffer[at] == '\n' ? 1 : 0;
    at -= at > 0 && buffer[at] == '\r' ? 1 : 0;
    if (at >= 0 && buffer[at] == END_MARK && (at == 0 || buffer[at - 1] == '\n')) {
      limit = at;
    }
  }

  /** Bytes of the text before {@code at}. */
  public long offset(int at) {
    return base + at;
  }

  /** What the file is written in; of UTF-16 the order of bytes, too. */
  Charset charset() {
    return in instanceof RecodedInput recoded ? recoded.charset() : encoding;
  }

  /**
   * Moves the record that starts at {@code from} to the front and reads more behind it; false, and
   * nothing moves, at the end of the file. Without the mark of DOS the limit may come nearer.
   *
   * @param line its first line, for messages
   */
  public boolean fill(int from, long line) {
    if (drained) {
      return false;
    }
    System.arraycopy(buffer, from, buffer, 0, limit - from);
    limit -= from;
    base += from;
    if (limit == buffer.length - SPARE) {
      if (limit >= MAX_RECORD) {
        throw new DataException(
            "%s: got a record of more than %s bytes, expected a line; %s"
                .formatted(where(line, 0), MAX_RECORD, advice));
      }
      buffer = Arrays.copyOf(buffer, 2 * limit + SPARE);
    }
    read(line);
    return true;
  }

  private void read(long line) {
    try {
      int room = buffer.length - SPARE;
      while (!drained && limit < room) {
        int got = in.read(buffer, limit, room - limit);
        drained = got < 0;
        limit += Math.max(0, got);
      }
      if (drained) {
        dropEndMark();
      }
      buffer[limit] = '\n';
    } catch (CharacterCodingException e) {
      throw new DataException(
          ("%s: got bytes that are no character of %s, expected text in it; set data.encoding to"
                  + " what the file is written in")
              .formatted(where(line + ends(), limit), encoding),
          e);
    } catch (IOException e) {
      throw BinaryInput.unreadable(file, e);
    }
  }

  /** Ends of lines in the buffer. */
  private long ends() {
    long ends = 0;
    for (int p = 0; p < limit; p++) {
      ends += buffer[p] == '\n' ? 1 : 0;
    }
    return ends;
  }

  /** File, line and byte offset of a position in the buffer, for messages. */
  public String where(long line, int at) {
    return Shown.path(file)
        + ": line "
        + line
        + ", byte "
        + (base + at)
        + (gzip ? " of the uncompressed text" : "")
        + (in instanceof RecodedInput ? " in UTF-8" : "");
  }

  /**
   * The text {@code [from, to)} in quotes, cut where it is long, for messages: as {@link
   * Shown#number} shows it, and a byte that is no UTF-8 by its code, as in {@code \xE9}.
   */
  public String quoted(int from, int to) {
    StringBuilder text = new StringBuilder();
    int p = from;
    for (int shown = 0; p < to && shown < SHOWN; shown++) {
      int length = Math.min(sequence(buffer[p]), to - p);
      String character = new String(buffer, p, length, StandardCharsets.UTF_8);
      boolean whole = character.codePointCount(0, character.length()) == 1;
      if (whole && character.charAt(0) != '\uFFFD') {
        text.append(character);
        p += length;
      } else {
        text.append("\\x").append(HexFormat.of().withUpperCase().toHexDigits(buffer[p]));
        p++;
      }
    }
    return '"' + Shown.number(text.toString()) + (p < to ? "..." : "") + '"';
  }

  /** Bytes of the character that begins with {@code first}, 1 where none does. */
  private static int sequence(byte first) {
    int ones = Integer.numberOfLeadingZeros(~first << 24);
    return ones < 2 || ones > 4 ? 1 : ones;
  }

  @Override
  public void close() {
    try {
      in.close();
    } catch (IOException e) {
      throw BinaryInput.unreadable(file, e);
    }
  }
}
