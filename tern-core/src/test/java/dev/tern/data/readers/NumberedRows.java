package dev.tern.data.readers;

import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** Numbered rows of known content, and rows of readers as comparable values. */
public final class NumberedRows {
  public static final Schema SCHEMA =
      new Schema(
          List.of("label"), List.of("x", "y"), List.of(Slot.oneHot("one"), Slot.ragged("many")));

  private NumberedRows() {}

  /** Row {@code number}: its number as label; ids and numbers drawn from it. */
  public static void add(Batch batch, int number) {
    batch.setLabel(0, number);
    batch.setDense(0, number * 0.5f);
    batch.setDense(1, number % 3 == 0 ? Float.NaN : -number);
    batch.addId(0, number * 1_000_003L);
    for (int i = 0; i < number % 4; i++) {
      batch.addId(1, -10L * number - i);
    }
    batch.endRow();
  }

  /** Rows {@code [from, to)}. */
  public static Batch batch(int from, int to) {
    Batch batch = new Batch(SCHEMA, 1);
    for (int number = from; number < to; number++) {
      add(batch, number);
    }
    return batch;
  }

  /** Rows {@code [0, count)} in batches of at most {@code size}. */
  static DataReader reader(int count, int size) {
    List<Batch> batches = new ArrayList<>();
    for (int from = 0; from < count; from += size) {
      batches.add(batch(from, Math.min(count, from + size)));
    }
    return Readers.inMemory(SCHEMA, batches);
  }

  /** {@code schema} with {@code suffix} after all names. */
  static Schema renamed(Schema schema, String suffix) {
    return new Schema(
        schema.labels().stream().map(name -> name + suffix).toList(),
        schema.dense().stream().map(name -> name + suffix).toList(),
        schema.slots().stream().map(s -> new Slot(s.name() + suffix, s.hotness())).toList());
  }

  /** A map that keeps labels, doubles dense numbers and adds 7 to ids. */
  static void shift(Batch from, Batch to) {
    to.appendRows(from, 0, from.size());
    for (int i = 0; i < from.size() * from.schema().denseDim(); i++) {
      to.dense()[i] *= 2;
    }
    for (int s = 0; s < from.schema().slotCount(); s++) {
      for (int i = 0; i < from.idCount(s); i++) {
        to.ids(s)[i] += 7;
      }
    }
  }

  /** Each row of {@code batch} as text. */
  public static List<String> texts(Batch batch) {
    int labels = batch.schema().labelDim();
    int dense = batch.schema().denseDim();
    List<String> rows = new ArrayList<>();
    for (int b = 0; b < batch.size(); b++) {
      StringBuilder row = new StringBuilder();
      row.append(Arrays.toString(slice(batch.labels(), b, labels)));
      row.append(Arrays.toString(slice(batch.dense(), b, dense)));
      for (int s = 0; s < batch.schema().slotCount(); s++) {
        int[] offsets = batch.offsets(s);
        row.append(Arrays.toString(Arrays.copyOfRange(batch.ids(s), offsets[b], offsets[b + 1])));
      }
      rows.add(row.toString());
    }
    return rows;
  }

  private static float[] slice(float[] values, int row, int dim) {
    return Arrays.copyOfRange(values, row * dim, (row + 1) * dim);
  }

  /** Rows of the rest of the pass as text. */
  static List<String> rest(DataReader reader) {
    List<String> rows = new ArrayList<>();
    for (Optional<Batch> next = reader.next(); next.isPresent(); next = reader.next()) {
      try (Batch batch = next.get()) {
        if (batch.size() == 0) {
          throw new AssertionError("an empty batch");
        }
        rows.addAll(texts(batch));
      }
    }
    return rows;
  }

  /** Rows {@code [0, count)} as text. */
  public static List<String> expected(int count) {
    return texts(batch(0, count));
  }

  /** The numbers of rows, by their labels. */
  static List<Integer> numbers(DataReader reader) {
    return rest(reader).stream()
        .map(row -> (int) Float.parseFloat(row.substring(1, row.indexOf(']'))))
        .toList();
  }
}
