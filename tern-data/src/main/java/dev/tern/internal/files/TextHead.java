package dev.tern.internal.files;

import java.nio.charset.Charset;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * What stands before the first record of a text file: its byte order mark, lines that are no
 * records and the names of columns.
 */
public final class TextHead {
  private static final String ADVICE = "give fewer lines to skip";

  private final byte[] text;
  private final Charset charset;
  private final boolean escapes;

  private TextHead(byte[] text, Charset charset, boolean escapes) {
    this.text = text;
    this.charset = charset;
    this.escapes = escapes;
  }

  /**
   * The first {@code length} bytes of {@code file} as UTF-8, where it is in another encoding.
   *
   * @throws dev.tern.base.DataException if it has fewer, or they are more than a record may have
   */
  public static TextHead of(Path file, Charset encoding, long length) {
    try (TextBytes in = TextBytes.open(file, encoding, ADVICE)) {
      int needed = Math.toIntExact(length);
      while (in.limit() < needed && in.fill(0, 1)) {
        // The buffer grows.
      }
      return new TextHead(Arrays.copyOf(in.bytes(), needed), in.charset(), false);
    }
  }

  /**
   * This text before records in which a backslash before the end of a line makes it a part of them:
   * one that ends a file is doubled, so that the line end which a part gets there stays one.
   */
  public TextHead withEscapes() {
    return new TextHead(text, charset, true);
  }

  /** Starts {@code part}, which begins alike and is written in the same encoding. */
  public RecordSink create(Path part) {
    return new TextPart(TextOutput.create(part, charset), text, escapes);
  }
}
