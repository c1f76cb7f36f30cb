package dev.tern.cli.board;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Follows a file that grows by lines. A line counts once its end is written. A file that is shorter
 * than before, another file, or one whose bytes before the place read so far are others, is read
 * from its beginning again: a resumed run replaces its file. One thread.
 */
final class MetricsTail {
  /** Bytes of a line at most. */
  static final int LONGEST = 16 << 20;

  private static final int CHECKED = 256;
  private static final int CHUNK = 1 << 20;

  private final Path file;
  private byte[] buffer = new byte[0];

  /** What tells the file from another of that name; null before there is one. */
  private @Nullable Object key;

  private boolean present;
  private boolean tooLong;
  private long size = -1;
  private FileTime modified = FileTime.fromMillis(0);

  /** Where the first line begins that is not read yet. */
  private long offset;

  /** The bytes right before {@link #offset}. */
  private byte[] before = new byte[0];

  MetricsTail(Path file) {
    this.file = file;
  }

  /** Takes the lines. */
  interface Lines {
    /** Forgets all lines: they come again, or others. */
    void restart();

    /** Takes a line without its end; the bytes are good until the return. */
    void line(byte[] bytes, int from, int length);

    /** Takes note of a line that is longer than {@link #LONGEST} and was passed over. */
    void tooLong();
  }

  /** Whether the file was there at the last {@link #poll}. */
  boolean isPresent() {
    return present;
  }

  /** When it was last written, as of the last {@link #poll}. */
  FileTime modified() {
    return modified;
  }

  /**
   * Hands on what is new.
   *
   * @return whether anything is
   * @throws IOException if a file that is there cannot be read
   */
  boolean poll(Lines to) throws IOException {
    BasicFileAttributes now;
    try {
      now = Files.readAttributes(file, BasicFileAttributes.class);
    } catch (NoSuchFileException | NotDirectoryException _) {
      boolean left = present;
      present = false;
      size = -1;
      return left;
    }
    if (!now.isRegularFile()) {
      throw new IOException("not a file");
    }
    Object nowKey = now.fileKey() == null ? file : now.fileKey();
    boolean same = present && nowKey.equals(key);
    if (same && now.size() == size && now.lastModifiedTime().equals(modified)) {
      return false;
    }
    try (FileChannel channel = FileChannel.open(file)) {
      if (key != null && !(same && continues(channel))) {
        offset = 0;
        before = new byte[0];
        tooLong = false;
        to.restart();
      }
      read(channel, to);
    } catch (NoSuchFileException _) {
      return false; // Gone meanwhile: the next poll says so.
    }
    key = nowKey;
    present = true;
    size = now.size();
    modified = now.lastModifiedTime();
    return true;
  }

  /** Whether the bytes before the place read so far are as they were. */
  private boolean continues(FileChannel channel) throws IOException {
    if (channel.size() < offset) {
      return false;
    }
    ByteBuffer bytes = ByteBuffer.allocate(before.length);
    fill(channel, bytes, offset - before.length);
    return Arrays.equals(bytes.array(), before);
  }

  private void read(FileChannel channel, Lines to) throws IOException {
    if (buffer.length == 0) {
      buffer = new byte[CHUNK];
    }
    int held = 0; // bytes of a line whose end has not come
    while (true) {
      if (held == buffer.length) {
        held = grow(held);
      }
      int got = fill(channel, ByteBuffer.wrap(buffer, held, buffer.length - held), offset + held);
      if (got <= 0) {
        break;
      }
      int end = held + got;
      int begin = 0;
      for (int at = held; at < end; at++) {
        if (buffer[at] == '\n') {
          deliver(begin, at - begin, to);
          begin = at + 1;
        }
      }
      advance(begin);
      held = end - begin;
      System.arraycopy(buffer, begin, buffer, 0, held);
    }
    buffer = new byte[0]; // Runs are many and lines rare.
  }

  /** Makes room for the rest of a line, or drops the beginning of one that is too long. */
  private int grow(int held) {
    if (held < LONGEST) {
      buffer = Arrays.copyOf(buffer, Math.min(LONGEST, held * 2));
      return held;
    }
    tooLong = true;
    advance(held);
    return 0;
  }

  private void deliver(int from, int length, Lines to) {
    if (tooLong) {
      tooLong = false;
      to.tooLong();
    } else {
      to.line(buffer, from, length);
    }
  }

  private void advance(int bytes) {
    if (bytes > 0) {
      offset += bytes;
      int kept = Math.min(CHECKED, bytes);
      before = Arrays.copyOfRange(buffer, bytes - kept, bytes);
    }
  }

  private static int fill(FileChannel channel, ByteBuffer to, long at) throws IOException {
    int sum = 0;
    while (to.hasRemaining()) {
      int got = channel.read(to, at + sum);
      if (got < 0) {
        break;
      }
      sum += got;
    }
    return sum;
  }
}
