package dev.tern.checkpoint.tools;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Writes rows as lines of text: {@link TableFormat#TEXT}. */
final class RowLines implements AutoCloseable {
  private final Writer out;
  private final int width;
  private final boolean unsigned;

  /** Lines of {@code width} weights; ids are unsigned, or signed. */
  RowLines(Path target, int width, boolean unsigned) throws IOException {
    out = new BufferedWriter(Files.newBufferedWriter(target), 1 << 16);
    this.width = width;
    this.unsigned = unsigned;
  }

  /** Writes the names of the columns of {@link #row(RowWalk, String)}. */
  void names(List<String> weights) throws IOException {
    out.write(RowNames.ID + '\t' + RowNames.VALUE + '\t' + String.join("\t", weights) + '\n');
  }

  /** Writes a row with its weights, {@code value} behind the id. */
  void row(RowWalk row, String value) throws IOException {
    out.write(text(row.id()));
    out.write('\t');
    out.write(RowValues.escaped(value));
    weights(row);
  }

  /** Writes a row with its weights. */
  void row(RowWalk row) throws IOException {
    out.write(text(row.id()));
    weights(row);
  }

  private String text(long id) {
    return unsigned ? Long.toUnsignedString(id) : Long.toString(id);
  }

  private void weights(RowWalk row) throws IOException {
    for (int j = 0; j < width; j++) {
      out.write('\t');
      out.write(Float.toString(row.weight(j)));
    }
    out.write('\n');
  }

  /** Writes an id alone: its row is gone. */
  void gone(long id) throws IOException {
    out.write(text(id));
    out.write('\n');
  }

  @Override
  public void close() throws IOException {
    out.close();
  }
}
