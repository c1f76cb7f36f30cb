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
 * scores, in the fewest digits that read back to the same float. Texts stand as they were read, in
 * quotes where they were or must be.
 */
public final class ScoreWriter implements AutoCloseable {
  /** The name of the column of scores where there is one, the last. */
  public static final String SCORE = "prediction";

  private final TextOutput out;
  private final RecordBuffer text;
  private final char delimiter;
  private final int scoresOfRow;

  private ScoreWriter(TextOutput out, char delimiter, List<String> columns, List<String> scores) {
    this.out = out;
    this.delimiter = delimiter;
    text = out.text();
    scoresOfRow = scores.size();
    columns.forEach(column -> name(column, true));
    for (int k = 0; k < scoresOfRow; k++) {
      name(scores.get(k), k < scoresOfRow - 1);
    }
    out.endLine();
  }

  /**
   * Starts a file, which appears once it is finished; compressed by gzip where its name ends in
   * {@code .gz}.
   *
   * @param delimiter between fields
   * @param columns names of the kept columns; may be empty
   * @param scores names of the columns of scores, at least one
   */
  public static ScoreWriter create(
      Path file, char delimiter, List<String> columns, List<String> scores) {
    requireDistinct(columns, scores);
    return new ScoreWriter(TextOutput.create(file), delimiter, columns, scores);
  }

  /** Starts to write to a stream, which is flushed by {@link #finish} and never closed. */
  public static ScoreWriter to(
      OutputStream stream, char delimiter, List<String> columns, List<String> scores) {
    requireDistinct(columns, scores);
    return new ScoreWriter(TextOutput.to(stream), delimiter, columns, scores);
  }

  private static void requireDistinct(List<String> columns, List<String> scores) {
    for (String column : columns) {
      if (columns.indexOf(column) != columns.lastIndexOf(column)) {
        throw new IllegalArgumentException(
            "scores: got the column %s twice, of the data and of the result; leave it out, or rename it in the data"
                .formatted(column));
      }
    }
    for (String score : scores) {
      if (columns.contains(score)) {
        throw new IllegalArgumentException(
            "scores: got the column %s to keep, which is the name of the scores; rename it in the data"
                .formatted(score));
      }
    }
  }

  private void name(String column, boolean more) {
    byte[] name = column.getBytes(StandardCharsets.UTF_8);
    put(name, 0, name.length, !column.equals(column.strip()));
    if (more) {
      text.putByte(delimiter);
    }
  }

  /** Writes {@code rows} rows, of which no texts are kept; scores of a row lie side by side. */
  public void write(float[] scores, int rows) {
    for (int row = 0; row < rows; row++) {
      putScores(scores, row);
    }
  }

  private void putScores(float[] scores, int row) {
    for (int k = 0; k < scoresOfRow; k++) {
      if (k > 0) {
        text.putByte(delimiter);
      }
      text.putNumber(scores[row * scoresOfRow + k]);
    }
    out.endLine();
  }

  /** Writes a row for each row of {@code kept}, with the scores of the same rows. */
  public void write(KeptTexts kept, float[] scores) {
    int columns = kept.columns().size();
    for (int row = 0; row < kept.rows(); row++) {
      for (int c = 0; c < columns; c++) {
        put(kept.bytes(), kept.start(row, c), kept.end(row, c), kept.isQuoted(row, c));
        text.putByte(delimiter);
      }
      putScores(scores, row);
    }
  }

  /**
   * Writes a row: the texts that were kept of row {@code row}, then {@code more}, then the score.
   */
  public void write(KeptTexts kept, int row, List<String> more, float score) {
    for (int c = 0; c < kept.columns().size(); c++) {
      put(kept.bytes(), kept.start(row, c), kept.end(row, c), kept.isQuoted(row, c));
      text.putByte(delimiter);
    }
    write(more, score);
  }

  /** Writes a row of {@code fields} and the score. */
  public void write(List<String> fields, float score) {
    for (String field : fields) {
      byte[] bytes = field.getBytes(StandardCharsets.UTF_8);
      put(bytes, 0, bytes.length, false);
      text.putByte(delimiter);
    }
    text.putNumber(score);
    out.endLine();
  }

  /** Puts a text, in quotes where it needs them. */
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
