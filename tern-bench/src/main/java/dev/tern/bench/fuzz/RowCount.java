package dev.tern.bench.fuzz;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/**
 * How many rows the bytes of a file hold, counted plainly and apart from the readers.
 *
 * @param least rows that a reader must give or report
 * @param most rows that it may: empty lines between rows are reported as one row or as many
 */
record RowCount(long least, long most) {
  /** Counts the rows of a file; nothing where the file must be refused. */
  @FunctionalInterface
  interface Counter {
    Optional<RowCount> count(byte[] bytes);
  }

  static RowCount exactly(long rows) {
    return new RowCount(rows, rows);
  }

  RowCount plus(RowCount other) {
    return new RowCount(least + other.least, most + other.most);
  }

  /** Rows that were written and that no damage may change, as a footer says how many there are. */
  static Counter written(long rows) {
    return _ -> Optional.of(exactly(rows));
  }

  /**
   * The number of records in the header of a Norm file, its second field, which lies behind the
   * length of a frame where there are checksums.
   */
  static Counter norm() {
    return bytes -> {
      if (bytes.length < 64) {
        return Optional.empty();
      }
      ByteBuffer numbers = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
      return Optional.of(exactly(numbers.getLong(numbers.getInt(0) == 64 ? 12 : 8)));
    };
  }

  /** Samples of a Raw file; one that is cut may count or not. */
  static Counter raw(int sample) {
    return bytes ->
        Optional.of(new RowCount(bytes.length / sample, (bytes.length + sample - 1) / sample));
  }

  /**
   * What {@code text} counts in the text of a gzip file. It must be refused where a member is not
   * whole, and where anything but zeros lies behind the last.
   */
  static Counter gzip(Counter text) {
    return bytes -> gunzip(bytes).flatMap(text::count);
  }

  /** The text of all members; nothing where one is damaged. RFC 1952. */
  static Optional<byte[]> gunzip(byte[] bytes) {
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    int at = 0;
    do {
      int body = afterHeader(bytes, at);
      if (body < 0) {
        return Optional.empty();
      }
      at = inflate(bytes, body, text);
      if (at < 0) {
        return Optional.empty();
      }
    } while (at < bytes.length && bytes[at] != 0);
    for (; at < bytes.length; at++) {
      if (bytes[at] != 0) {
        return Optional.empty();
      }
    }
    return Optional.of(text.toByteArray());
  }

  /** Where the deflated data of the member at {@code start} begin; -1 where it is no member. */
  private static int afterHeader(byte[] bytes, int start) {
    if (start + 10 > bytes.length
        || bytes[start] != 0x1f
        || bytes[start + 1] != (byte) 0x8b
        || bytes[start + 2] != 8
        || (bytes[start + 3] & 0xE0) != 0) {
      return -1;
    }
    int flags = bytes[start + 3];
    int at = start + 10;
    if ((flags & 4) != 0) {
      if (at + 2 > bytes.length) {
        return -1;
      }
      at += 2 + (bytes[at] & 0xFF) + ((bytes[at + 1] & 0xFF) << 8);
    }
    for (int text = flags & 0x18; text != 0; text &= text - 1) {
      while (at < bytes.length && bytes[at] != 0) {
        at++;
      }
      at++;
    }
    if ((flags & 2) != 0) {
      if (at + 2 > bytes.length) {
        return -1;
      }
      CRC32 sum = new CRC32();
      sum.update(bytes, start, at - start);
      int stored = (bytes[at] & 0xFF) | (bytes[at + 1] & 0xFF) << 8;
      if ((sum.getValue() & 0xFFFF) != stored) {
        return -1;
      }
      at += 2;
    }
    return at <= bytes.length ? at : -1;
  }

  /** Adds the text of one member; returns where the next begins, -1 where this one is damaged. */
  private static int inflate(byte[] bytes, int body, ByteArrayOutputStream text) {
    Inflater inflater = new Inflater(true);
    try {
      inflater.setInput(bytes, body, bytes.length - body);
      CRC32 sum = new CRC32();
      byte[] piece = new byte[4096];
      while (!inflater.finished()) {
        int got = inflater.inflate(piece);
        if (got == 0 && !inflater.finished()) {
          return -1;
        }
        sum.update(piece, 0, got);
        text.write(piece, 0, got);
      }
      int trailer = bytes.length - inflater.getRemaining();
      if (trailer + 8 > bytes.length) {
        return -1;
      }
      ByteBuffer numbers = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
      boolean whole =
          numbers.getInt(trailer) == (int) sum.getValue()
              && numbers.getInt(trailer + 4) == (int) inflater.getBytesWritten();
      return whole ? trailer + 8 : -1;
    } catch (DataFormatException e) {
      return -1;
    } finally {
      inflater.end();
    }
  }

  /**
   * What {@code utf8} counts in text of {@code encoding}, which must be refused where it is no such
   * text. UTF-16 without a mark is little-endian where its first character is ASCII then.
   */
  static Counter recoded(Charset encoding, Counter utf8) {
    return bytes -> {
      boolean little = bytes.length >= 2 && bytes[0] != 0 && bytes[1] == 0;
      Charset charset =
          encoding.equals(StandardCharsets.UTF_16) && little ? StandardCharsets.UTF_16LE : encoding;
      try {
        String text = charset.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        return utf8.count(text.getBytes(StandardCharsets.UTF_8));
      } catch (CharacterCodingException e) {
        return Optional.empty();
      }
    };
  }

  /** What {@code rows} counts, in a file out of a folder: one without text has no rows there. */
  static Counter inFolder(boolean gzip, Counter rows) {
    return bytes -> {
      Optional<byte[]> text = gzip ? gunzip(bytes) : Optional.of(bytes);
      boolean empty = text.isPresent() && text.get().length == 0;
      return empty ? Optional.of(exactly(0)) : rows.count(bytes);
    };
  }

  /** Where the line behind the one at {@code from} begins. */
  static int afterLine(byte[] bytes, int from) {
    return Math.min(end(bytes, from) + 1, bytes.length);
  }

  /** Where the text begins behind {@code lines} lines; -1 where there are not so many. */
  static int afterLines(byte[] bytes, int from, int lines) {
    int at = from;
    for (int i = 0; i < lines; i++) {
      if (at == bytes.length) {
        return -1;
      }
      at = afterLine(bytes, at);
    }
    return at;
  }

  /** Lines of LIBSVM or LIBFFM that are neither empty nor a comment, without the first ones. */
  static Counter lines(int skipped) {
    return all -> {
      byte[] bytes = withoutEndMark(all);
      int from = afterLines(bytes, start(bytes, 0), skipped);
      if (from < 0) {
        return Optional.empty();
      }
      long rows = 0;
      long blanks = 0;
      long blankRuns = 0;
      long pending = 0;
      for (int at = start(bytes, from); at < bytes.length; at = start(bytes, at)) {
        int end = end(bytes, at);
        String line = new String(bytes, at, end - at, StandardCharsets.ISO_8859_1);
        String bare = stripped(line);
        if (bare.isEmpty()) {
          pending++;
        } else if (bare.charAt(0) != '#') {
          blanks += pending;
          blankRuns += pending > 0 ? 1 : 0;
          pending = 0;
          rows++;
        }
        at = end + 1;
      }
      return Optional.of(new RowCount(rows + blankRuns, rows + blanks));
    };
  }

  private static String stripped(String line) {
    int from = 0;
    int to = line.endsWith("\r") ? line.length() - 1 : line.length();
    while (from < to && " \t".indexOf(line.charAt(from)) >= 0) {
      from++;
    }
    while (to > from && " \t".indexOf(line.charAt(to - 1)) >= 0) {
      to--;
    }
    return line.substring(from, to);
  }

  private static int end(byte[] bytes, int from) {
    int at = from;
    while (at < bytes.length && bytes[at] != '\n') {
      at++;
    }
    return at;
  }

  /** The first byte from {@code from} on that is behind byte order marks. */
  static int start(byte[] bytes, int from) {
    int at = from;
    while (at + 3 <= bytes.length
        && bytes[at] == (byte) 0xEF
        && bytes[at + 1] == (byte) 0xBB
        && bytes[at + 2] == (byte) 0xBF) {
      at += 3;
    }
    return at;
  }

  /** {@code bytes} without a last line that is 0x1A alone. */
  static byte[] withoutEndMark(byte[] bytes) {
    int at = bytes.length - 1;
    at -= at > 0 && bytes[at] == '\n' ? 1 : 0;
    at -= at > 0 && bytes[at] == '\r' ? 1 : 0;
    boolean marked = at >= 0 && bytes[at] == 0x1A && (at == 0 || bytes[at - 1] == '\n');
    return marked ? Arrays.copyOf(bytes, at) : bytes;
  }
}
