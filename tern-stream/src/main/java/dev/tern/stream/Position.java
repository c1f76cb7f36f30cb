package dev.tern.stream;

import java.io.IOException;
import java.io.Reader;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;
import java.util.Properties;

/**
 * How far a topic was read.
 *
 * @param topic the id of the topic, which another one of its name does not have
 * @param next the offset of the next record
 * @param run whose checkpoints are there
 * @param number of the last checkpoint that came
 * @param hash of its manifest
 */
record Position(String topic, long next, String run, long number, String hash) {
  /** What was written; empty if nothing was, or something else. */
  static Optional<Position> read(Path file) {
    Properties fields = new Properties();
    try (Reader text = new StringReader(Files.readString(file))) {
      fields.load(text);
      return Optional.of(
          new Position(
              fields.getProperty("topic", ""),
              Long.parseLong(fields.getProperty("next", "")),
              fields.getProperty("run", ""),
              Long.parseLong(fields.getProperty("number", "")),
              fields.getProperty("hash", "")));
    } catch (IOException | IllegalArgumentException _) {
      return Optional.empty();
    }
  }

  /** Replaces the file whole. */
  void write(Path file) {
    Path writing = file.resolveSibling(file.getFileName() + ".writing");
    try {
      Files.writeString(
          writing,
          "topic=%s%nnext=%d%nrun=%s%nnumber=%d%nhash=%s%n"
              .formatted(topic, next, run, number, hash));
      Files.move(
          writing, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw Spool.unwritten(file, e);
    }
  }
}
