package dev.tern.files.text;

import dev.tern.files.KeptTexts;
import dev.tern.internal.files.RecordBuffer;
import dev.tern.internal.files.TextOutput;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/**
 * Writes scores as CSV: a line of names, then for each row the texts that were kept of it and its
 * score, in the fewest digits that read back to the same float. Texts stand as they were read, in
 * quotes where they were or must be.
 */
public final class ScoreWriter implements AutoCloseable {
  /** The name of the column of scores, the last. */
  public static final String SCORE = "prediction";

  private final TextOutput out;
  private final RecordBuffer text;
  private final char delimiter;

  private ScoreWriter(TextOutput out, char delimiter, List<String> columns) {
    this.out = out;
    this.delimiter = delimiter;
    text = out.text();
    for (String column : columns) {
      byte[] name = column.getBytes(StandardCharsets.UTF_8);
      put(name, 0, name.length, !column.equals(column.strip()));
    }
    text.putAscii(SCORE);
    out.endLine();
  }

  /**
   * Starts a file, which appears once it is finished; compressed by gzip where its name ends in
   * {@code .gz}.
   *
   * @param delimiter between fields
   * @param columns names of the kept columns; may be empty
   */
  public static ScoreWriter create(Path file, char delimiter, List<String> columns) {
    requireNone(columns);
    return new ScoreWriter(TextOutput.create(file), delimiter, columns);
  }

  /** Starts to write to a stream, which is flushed by {@link #finish} and never closed. */
  public static ScoreWriter to(OutputStream stream, char delimiter, List<String> columns) {
    requireNone(columns);
    return new ScoreWriter(TextOutput.to(stream), delimiter, columns);
  }

  private static void requireNone(List<String> columns) {
    if (columns.contains(SCORE)) {
      throw new IllegalArgumentException(
          "scores: got the column %s to keep, which is the name of the scores; rename it in the data"
              .formatted(SCORE));
    }
  }

  /** Writes a row for each of the first {@code count} scores, of which no texts are kept. */
  public void write(float[] scores, int count) {
    for (int row = 0; row < count; row++) {
      text.putNumber(scores[row]);
      out.endLine();
    }
  }

  /** Writes a row for each row of {@code kept}, with the scores of the same rows. */
  public void write(KeptTexts kept, float[] scores) {
    int columns = kept.columns().size();
    for (int row = 0; row < kept.rows(); row++) {
      for (int c = 0; c < columns; c++) {
        put(kept.bytes(), kept.start(row, c), kept.end(row, c), kept.isQuoted(row, c));
      }
      text.putNumber(scores[row]);
      out.endLine();
    }
  }

  /** Puts a text and the delimiter behind it. */
  private void put(byte[] bytes, int from, int to, boolean quoted) {
    if (!quoted && isPlain(bytes, from, to)) {
      text.putBytes(bytes, from, to);
    } else {
      text.putByte('"');
      int start = from;
      for (int i = from; i < to; i++) {
        if (bytes[i] == '"') {
          text.putBytes(bytes, start, i + 1);
          start = i; // The quote comes a second time.
        }
      }
      text.putBytes(bytes, start, to);
      text.putByte('"');
    }
    text.putByte(delimiter);
  }

  private boolean isPlain(byte[] bytes, int from, int to) {
    for (int i = from; i < to; i++) {
      byte b = bytes[i];
      if (b == '"' || b == '\n' || b == '\r' || b == delimiter || b == (byte) 0xEF && i == from) {
        return false; // 0xEF may begin a byte order mark.
      }
    }
    return true;
  }

  /** Writes what is left; a file appears under its name. */
  public void finish() {
    out.finish();
  }

  @Override
  public void close() {
    out.close();
  }
}
