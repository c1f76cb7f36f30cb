package dev.tern.files.parquet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** Rows as text, so that a difference shows which row and what: labels | dense | ids; ids. */
public final class ParquetRows {
  private ParquetRows() {}

  public static List<String> all(DataReader reader) {
    List<String> rows = new ArrayList<>();
    for (Optional<Batch> next = reader.next(); next.isPresent(); next = reader.next()) {
      try (Batch batch = next.get()) {
        for (int row = 0; row < batch.size(); row++) {
          rows.add(row(batch, row));
        }
      }
    }
    return rows;
  }

  static List<String> allAndClose(DataReader reader) {
    try (reader) {
      return all(reader);
    }
  }

  static String row(Batch batch, int row) {
    StringBuilder text = new StringBuilder();
    append(text, batch.labels(), row, batch.schema().labelDim());
    append(text.append(" | "), batch.dense(), row, batch.schema().denseDim());
    text.append(" |");
    for (int slot = 0; slot < batch.schema().slotCount(); slot++) {
      int[] offsets = batch.offsets(slot);
      text.append(' ')
          .append(
              Arrays.toString(Arrays.copyOfRange(batch.ids(slot), offsets[row], offsets[row + 1])));
    }
    return text.toString();
  }

  private static void append(StringBuilder text, float[] values, int row, int dim) {
    text.append(Arrays.toString(Arrays.copyOfRange(values, row * dim, (row + 1) * dim)));
  }

  /** Skips to several places and checks what follows; closes the reader. */
  static void skipsAgree(DataReader reader, List<String> rows) {
    try (reader) {
      int total = rows.size();
      for (int skip : new int[] {0, 1, 63, total / 3, total / 2 + 1, total - 1, total}) {
        reader.start(0);
        assertThat(reader.skip(skip)).isEqualTo(skip);
        Optional<Batch> next = reader.next();
        assertThat(next.isPresent()).isEqualTo(skip < total);
        if (next.isPresent()) {
          try (Batch batch = next.get()) {
            for (int row = 0; row < batch.size(); row++) {
              assertThat(row(batch, row)).isEqualTo(rows.get(skip + row));
            }
          }
        }
      }
    }
  }
}
