package dev.tern.internal.files;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Small text files that are there whole or not at all. */
public final class WholeFile {
  private WholeFile() {}

  /**
   * Writes {@code text} as UTF-8 beside {@code file}, forces it to disk and renames it; folders
   * above are made.
   *
   * @throws dev.tern.base.DataException if it cannot be written; what was there before stays
   */
  public static void write(Path file, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    try (OutputFile out = OutputFile.create(file)) {
      out.write(bytes, 0, bytes.length);
      out.finish();
    }
  }
}
