package dev.tern.stream;

import dev.tern.base.DataException;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * Files of a folder as one row of bytes: for each the length of its name (2 bytes), the name in
 * UTF-8, the length of the file (8 bytes) and the file; numbers are big-endian. Memory does not
 * depend on how large files are.
 */
final class PackedFiles implements Closeable {
  /** A file, or the bytes before it. */
  private record Piece(ByteBuffer before, Path file, long length) {}

  private final Deque<Piece> pieces = new ArrayDeque<>();
  private final long bytes;
  private Optional<FileChannel> open = Optional.empty();
  private long left;

  /** Looks at the files, in the order of their names in {@code names}. */
  PackedFiles(Path folder, List<String> names) throws IOException {
    long sum = 0;
    for (String name : names) {
      byte[] text = name.getBytes(StandardCharsets.UTF_8);
      Path file = folder.resolve(name);
      long length = Files.size(file);
      ByteBuffer before = ByteBuffer.allocate(Short.BYTES + text.length + Long.BYTES);
      before.putShort((short) text.length).put(text).putLong(length).flip();
      sum += before.remaining() + length;
      pieces.add(new Piece(before, file, length));
    }
    bytes = sum;
  }

  /** Bytes in all. */
  long bytes() {
    return bytes;
  }

  /**
   * Fills a buffer, except with the last bytes.
   *
   * @throws DataException if a file has become shorter
   */
  void read(ByteBuffer into) throws IOException {
    while (into.hasRemaining() && (open.isPresent() || !pieces.isEmpty())) {
      if (open.isPresent()) {
        readFile(open.get(), into);
      } else if (pieces.getFirst().before().hasRemaining()) {
        ByteBuffer before = pieces.getFirst().before();
        int count = Math.min(into.remaining(), before.remaining());
        into.put(before.slice(before.position(), count));
        before.position(before.position() + count);
      } else {
        open = Optional.of(FileChannel.open(pieces.getFirst().file()));
        left = pieces.getFirst().length();
      }
    }
  }

  private void readFile(FileChannel file, ByteBuffer into) throws IOException {
    int end = into.limit();
    into.limit((int) Math.min(end, into.position() + Math.min(left, Integer.MAX_VALUE / 2)));
    while (into.hasRemaining()) {
      int count = file.read(into);
      if (count < 0) {
        throw new DataException(pieces.getFirst().file() + ": got its end before its length");
      }
      left -= count;
    }
    into.limit(end);
    if (left == 0) {
      close();
      pieces.removeFirst();
    }
  }

  @Override
  public void close() throws IOException {
    if (open.isPresent()) {
      open.get().close();
      open = Optional.empty();
    }
  }
}
