package dev.tern.cli.translate;

import dev.tern.base.DataException;
import dev.tern.cli.config.ConfigException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Reads files of other tools, up to a size. */
final class ForeignFiles {
  /** Bytes of a file: configurations have thousands. */
  static final int MOST_BYTES = 1 << 24;

  private ForeignFiles() {}

  /** A file's name, for messages. */
  static String name(Path file) {
    return String.valueOf(file.getFileName());
  }

  /** The text of a file. */
  static String text(Path file) {
    try (InputStream in = Files.newInputStream(file)) {
      byte[] bytes = in.readNBytes(MOST_BYTES + 1);
      if (bytes.length > MOST_BYTES) {
        throw new ConfigException(
            "%s: got more than %,d bytes, expected a configuration; check the path"
                .formatted(file, MOST_BYTES));
      }
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (NoSuchFileException e) {
      throw new ConfigException(
          file + ": got no such file, expected a configuration; check the path", e);
    } catch (CharacterCodingException e) {
      throw new ConfigException(
          file + ": got bytes that are not UTF-8, expected a configuration; save it as UTF-8", e);
    } catch (IOException e) {
      throw unreadable(file, e);
    }
  }

  /** The YAML files of a folder, by name; none where it is missing. */
  static List<Path> yaml(Path folder) {
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> inside = Files.list(folder)) {
      return inside.filter(file -> name(file).endsWith(".yaml")).sorted().toList();
    } catch (IOException e) {
      throw unreadable(folder, e);
    }
  }

  private static ConfigException unreadable(Path path, IOException e) {
    return new ConfigException(
        "%s: got an error reading it (%s), expected a configuration; check the path"
            .formatted(path, DataException.reason(e)),
        e);
  }
}
