package dev.tern.stream;

import dev.tern.base.DataException;
import dev.tern.base.Shown;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/** Writes the files that {@link PackedFiles} made a row of bytes of, as the bytes come. */
final class Unpacking implements Closeable {
  /** Names of files of a checkpoint: no path leads out of the folder. */
  private static final Pattern NAME =
      Pattern.compile("[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}(/[A-Za-z0-9_-][A-Za-z0-9._-]{0,99})?");

  private static final int MOST_NAME = 200;
  private static final int MOST_FILES = 200_000;

  /** A manifest is read as a whole; {@link #MOST_FILES} files take a third of this. */
  private static final long MOST_MANIFEST = 64L << 20;

  private final Path folder;
  private final Set<String> names = new HashSet<>();
  private final ByteBuffer head = ByteBuffer.allocate(Short.BYTES + MOST_NAME + Long.BYTES);
  private Optional<FileChannel> file = Optional.empty();

  /** Bytes that the open file lacks. */
  private long left;

  /** Bytes that are still to come. */
  private long rest;

  /**
   * @param folder new and empty
   * @param bytes that will come in all
   */
  Unpacking(Path folder, long bytes) {
    this.folder = folder;
    rest = bytes;
    head.limit(Short.BYTES);
  }

  /** Names of the files that came. */
  Set<String> names() {
    return names;
  }

  /**
   * Takes the next bytes, all of them.
   *
   * @throws DataException if they are no files of a checkpoint
   */
  void write(ByteBuffer bytes) throws IOException {
    if (bytes.remaining() > rest) {
      throw new DataException("got more bytes than the checkpoint has");
    }
    rest -= bytes.remaining();
    while (bytes.hasRemaining()) {
      if (file.isPresent()) {
        writeFile(file.get(), bytes);
      } else {
        fillHead(bytes);
      }
    }
  }

  private void writeFile(FileChannel into, ByteBuffer bytes) throws IOException {
    int end = bytes.limit();
    bytes.limit(bytes.position() + (int) Math.min(left, bytes.remaining()));
    while (bytes.hasRemaining()) {
      left -= into.write(bytes);
    }
    bytes.limit(end);
    if (left == 0) {
      close();
    }
  }

  private void fillHead(ByteBuffer bytes) throws IOException {
    while (head.hasRemaining() && bytes.hasRemaining()) {
      head.put(bytes.get());
    }
    if (head.hasRemaining()) {
      return;
    }
    int length = Short.toUnsignedInt(head.getShort(0));
    if (head.position() == Short.BYTES) {
      if (length == 0 || length > MOST_NAME) {
        throw new DataException(
            "got a name of %d bytes, expected 1 to %d".formatted(length, MOST_NAME));
      }
      head.limit(Short.BYTES + length + Long.BYTES);
      return;
    }
    begin(name(length), head.getLong(Short.BYTES + length), bytes.remaining() + rest);
    head.clear().limit(Short.BYTES);
  }

  private String name(int length) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(head.slice(Short.BYTES, length)).toString();
    } catch (CharacterCodingException e) {
      throw new DataException("got a name that is no text", e);
    }
  }

  private void begin(String name, long length, long most) throws IOException {
    if (!NAME.matcher(name).matches()) {
      throw new DataException(
          "got a file %s, expected the name of one of a checkpoint".formatted(Shown.quoted(name)));
    }
    if (!names.add(name) || names.size() > MOST_FILES) {
      throw new DataException(
          "got the file %s twice, or more than %d files".formatted(name, MOST_FILES));
    }
    long longest = name.startsWith("manifest.") ? Math.min(most, MOST_MANIFEST) : most;
    if (length < 0 || length > longest) {
      throw new DataException(
          "got the file %s of %d bytes, expected at most %d".formatted(name, length, longest));
    }
    file = Optional.of(create(name));
    left = length;
    if (left == 0) {
      close();
    }
  }

  private FileChannel create(String name) throws IOException {
    Path target = folder.resolve(name);
    try {
      Path parent = target.getParent();
      if (parent != null) {
        Files.createDirectories(parent);
      }
      return FileChannel.open(target, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    } catch (FileAlreadyExistsException | NotDirectoryException e) {
      // The folder was empty, so the names clash; another try would end alike.
      throw new DataException(
          "got the file %s beside one of that name, or of that of its folder".formatted(name), e);
    }
  }

  /**
   * Ends the row of bytes.
   *
   * @throws DataException if something is missing
   */
  void finish() {
    if (rest > 0 || file.isPresent() || head.position() > 0) {
      throw new DataException("got an end within a file, expected the end of the last one");
    }
  }

  @Override
  public void close() throws IOException {
    if (file.isPresent()) {
      file.get().close();
      file = Optional.empty();
    }
  }
}
