package dev.tern.onnx;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Writes hand-made models. */
final class Messages {
  private Messages() {}

  static void write(Path file, Message message) {
    try {
      Files.write(file, message.toByteArray());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
