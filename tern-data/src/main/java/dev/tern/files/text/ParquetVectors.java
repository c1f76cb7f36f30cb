package dev.tern.files.text;

import dev.tern.base.DataException;
import dev.tern.base.Shown;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.files.Columns;
import dev.tern.files.FileColumn;
import dev.tern.files.KeptTexts;
import dev.tern.files.ReadPolicy;
import dev.tern.files.parquet.ParquetOptions;
import dev.tern.files.parquet.ParquetReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The rows of a Parquet file of vectors: a column of values, called as the table or else the first
 * one, and the numbers in all others, in their order: one LIST, or a column for each number.
 */
final class ParquetVectors implements VectorRows {
  private final Path file;
  private final String column;
  private final DataReader reader;
  private final KeptTexts texts;
  private final int width;
  private Optional<Batch> batch = Optional.empty();

  /** The current row of the batch, and of the file, both from 0 on. */
  private int row;

  private long rows;

  private ParquetVectors(Path file, String column, DataReader reader, KeptTexts texts) {
    this.file = file;
    this.column = column;
    this.reader = reader;
    this.texts = texts;
    width = reader.schema().denseDim();
  }

  /**
   * Opens a file.
   *
   * @param widths how many numbers vectors may have
   * @throws DataException if it has no columns of numbers, or others than these
   */
  static ParquetVectors open(Path file, String table, List<Integer> widths) {
    List<String> names =
        new ArrayList<>(ParquetReader.columns(file).stream().map(FileColumn::name).toList());
    if (names.size() < 2) {
      throw new DataException(
          "%s: got the columns %s, expected one of values and others of numbers; check what wrote it"
              .formatted(file, names));
    }
    String column = names.contains(table) ? table : names.getFirst();
    names.remove(column);
    KeptTexts texts = new KeptTexts(List.of(column));
    Columns numbers = new Columns(List.of(), Set.of(), names, List.of());
    DataReader reader =
        ParquetReader.open(
            List.of(file),
            ParquetOptions.DEFAULT,
            numbers,
            ReadPolicy.STRICT.withoutLabels(),
            texts);
    try {
      ParquetVectors vectors = new ParquetVectors(file, column, reader, texts);
      if (!widths.contains(vectors.width)) {
        throw vectors.wrongWidth(names, widths);
      }
      reader.start(0);
      return vectors;
    } catch (RuntimeException e) {
      reader.close();
      throw e;
    }
  }

  private DataException wrongWidth(List<String> names, List<Integer> widths) {
    return new DataException(
        "%s: got %d numbers of the columns %s beside the values in %s, expected %s; make model.embedding, or embedding beside the column in data.sparse, as wide, or give other vectors"
            .formatted(
                file,
                width,
                Shown.list(names),
                column,
                widths.size() == 1
                    ? widths.getFirst() + " as rows of the table have"
                    : widths.getFirst() + ", or " + widths.getLast() + " for whole rows"));
  }

  @Override
  public int width() {
    return width;
  }

  @Override
  public boolean next(float[] to, int at) {
    row++;
    rows++;
    while (batch.isEmpty() || row >= batch.get().size()) {
      batch.ifPresent(Batch::close);
      texts.clear();
      batch = reader.next();
      row = 0;
      if (batch.isEmpty()) {
        return false;
      }
    }
    System.arraycopy(batch.get().dense(), row * width, to, at, width);
    for (int i = 0; i < width; i++) {
      if (Float.isNaN(to[at + i])) {
        throw new DataException(
            "%s: got no number in place %d of its vector, expected a finite number; leave the vector out"
                .formatted(where(), i + 1));
      }
    }
    if (value().isEmpty()) {
      throw new DataException(
          "%s: got no value, expected one in column %s; leave out rows without one"
              .formatted(where(), column));
    }
    return true;
  }

  private String where() {
    return file + ": row " + rows;
  }

  @Override
  public String value() {
    return texts.text(row, 0);
  }

  @Override
  public DataException fault(String got) {
    return new DataException("%s: got \"%s\" %s".formatted(where(), Shown.line(value()), got));
  }

  @Override
  public void close() {
    batch.ifPresent(Batch::close);
    reader.close();
  }
}
