package dev.tern.files;

import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.PassOrder;
import dev.tern.data.PositionedReader;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SplittableRandom;

/** Rows as plain lists, for tests: of readers, for writers, at random. */
public record Rows(Schema schema, List<Row> list) {
  /** One row; equal when all bits are. */
  public record Row(List<Float> labels, List<Float> dense, List<List<Long>> ids) {}

  public static Row row(float label, List<Float> dense, List<List<Long>> ids) {
    return new Row(List.of(label), dense, ids);
  }

  /** Reads all that is left of the pass. */
  public static List<Row> read(DataReader reader) {
    List<Row> rows = new ArrayList<>();
    for (Optional<Batch> next = reader.next(); next.isPresent(); next = reader.next()) {
      try (Batch batch = next.get()) {
        add(batch, rows);
      }
    }
    return rows;
  }

  private static void add(Batch batch, List<Row> rows) {
    Schema schema = batch.schema();
    for (int b = 0; b < batch.size(); b++) {
      List<List<Long>> ids = new ArrayList<>();
      for (int s = 0; s < schema.slotCount(); s++) {
        int[] offsets = batch.offsets(s);
        ids.add(Arrays.stream(batch.ids(s), offsets[b], offsets[b + 1]).boxed().toList());
      }
      rows.add(
          new Row(
              floats(batch.labels(), b, schema.labelDim()),
              floats(batch.dense(), b, schema.denseDim()),
              ids));
    }
  }

  private static List<Float> floats(float[] values, int row, int width) {
    List<Float> list = new ArrayList<>();
    for (int i = row * width; i < (row + 1) * width; i++) {
      list.add(values[i]);
    }
    return list;
  }

  /** All rows in one batch. */
  public Batch batch() {
    Batch batch = new Batch(schema, Math.max(1, list.size()));
    for (Row row : list) {
      for (int i = 0; i < row.labels().size(); i++) {
        batch.setLabel(i, row.labels().get(i));
      }
      for (int i = 0; i < row.dense().size(); i++) {
        batch.setDense(i, row.dense().get(i));
      }
      for (int s = 0; s < row.ids().size(); s++) {
        for (long id : row.ids().get(s)) {
          batch.addId(s, id);
        }
      }
      batch.endRow();
    }
    return batch;
  }

  /** Writes all rows, in batches of {@code size}, and finishes. */
  public void write(DataWriter writer, int size) {
    try (writer) {
      for (int from = 0; from < list.size(); from += size) {
        List<Row> part = list.subList(from, Math.min(list.size(), from + size));
        try (Batch batch = new Rows(schema, part).batch()) {
          writer.write(batch);
        }
      }
      writer.finish();
    }
  }

  /** Labels, numbers and slots named label0, dense0, slot0...; hotness 0 varies from 0 to 4. */
  public static Rows random(
      long seed, int count, int labels, int dense, int[] hotness, long maxId) {
    SplittableRandom random = new SplittableRandom(seed);
    List<Slot> slots = new ArrayList<>();
    for (int s = 0; s < hotness.length; s++) {
      slots.add(new Slot("slot" + s, hotness[s]));
    }
    Schema schema = new Schema(names("label", labels), names("dense", dense), slots);
    List<Row> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      rows.add(randomRow(random, schema, maxId));
    }
    return new Rows(schema, rows);
  }

  private static Row randomRow(SplittableRandom random, Schema schema, long maxId) {
    List<Float> labels = new ArrayList<>();
    for (int i = 0; i < schema.labelDim(); i++) {
      labels.add((float) random.nextInt(2));
    }
    List<Float> dense = new ArrayList<>();
    for (int i = 0; i < schema.denseDim(); i++) {
      dense.add(
          switch (random.nextInt(4)) {
            case 0 -> (float) random.nextInt(-5, 1000);
            case 1 -> Float.NaN;
            default -> (float) random.nextDouble(-1e6, 1e6);
          });
    }
    List<List<Long>> ids = new ArrayList<>();
    for (Slot slot : schema.slots()) {
      int hotness = slot.hotness() == 0 ? random.nextInt(5) : slot.hotness();
      List<Long> list = new ArrayList<>();
      for (int i = 0; i < hotness; i++) {
        list.add(maxId < 0 ? random.nextLong() : random.nextLong(maxId + 1));
      }
      ids.add(list);
    }
    return new Row(labels, dense, ids);
  }

  private static List<String> names(String prefix, int count) {
    List<String> names = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      names.add(prefix + i);
    }
    return names;
  }

  /** These rows as a reader, in batches of {@code size}. */
  DataReader reader(int size) {
    return new PositionedReader() {
      private int position;

      @Override
      public Schema schema() {
        return schema;
      }

      @Override
      protected Optional<Batch> read() {
        int from = position;
        position = Math.min(list.size(), from + size);
        return from == position
            ? Optional.empty()
            : Optional.of(new Rows(schema, list.subList(from, position)).batch());
      }

      @Override
      protected void begin(int epoch, PassOrder order) {
        position = 0;
      }

      @Override
      protected long pass(long rows) {
        int from = position;
        position = (int) Math.min(list.size(), from + rows);
        return position - from;
      }

      @Override
      public OptionalLong rowCount() {
        return OptionalLong.of(list.size());
      }

      @Override
      protected void release() {}
    };
  }
}
