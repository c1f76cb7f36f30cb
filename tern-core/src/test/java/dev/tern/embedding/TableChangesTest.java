package dev.tern.embedding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.RowFormat;
import dev.tern.embedding.config.RowSource;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.internal.memory.OutOfBudgetException;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import dev.tern.tensor.Variable;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tables beneath changes, and tables that took changes in, beside maps. */
final class TableChangesTest {
  private static final int WIDTH = 5;
  private static final Schema SCHEMA =
      new Schema(List.of(), List.of(), List.of(Slot.oneHot("item")));

  private static TableConfig config(TableOptions options) {
    return new TableConfig("item", 0, WIDTH, 1, options);
  }

  private static TableOptions options() {
    return TableOptions.of(Optimizer.adam(0.1f));
  }

  /** Rows of which each weight is the value of an id, and which have no state. */
  private static RowSource source(Map<Long, Float> values, int floats) {
    Deque<Map.Entry<Long, Float>> left = new ArrayDeque<>(values.entrySet());
    return (ids, rows) -> {
      int count = 0;
      for (; count < ids.length && !left.isEmpty(); count++) {
        Map.Entry<Long, Float> row = left.removeFirst();
        ids[count] = row.getKey();
        for (int j = 0; j < floats; j++) {
          float weight = j < WIDTH ? row.getValue() : 0;
          rows.setAtIndex(ValueLayout.JAVA_FLOAT, (long) count * floats + j, weight);
        }
      }
      return count;
    };
  }

  /** The first weight of each id below {@code ids}. */
  private static float[] read(SlotTables tables, Device device, int ids) {
    Batch batch = new Batch(SCHEMA, ids);
    for (int id = 0; id < ids; id++) {
      batch.addId(0, id);
      batch.endRow();
    }
    float[] values = new float[ids];
    try (Arena arena = Arena.ofConfined();
        BatchLookup lookup = tables.newLookup(List.of(WIDTH))) {
      MemorySegment out = arena.allocate(4L * WIDTH * ids, 64);
      lookup.find(device.workers(), batch, false, List.of(out));
      for (int id = 0; id < ids; id++) {
        values[id] = out.getAtIndex(ValueLayout.JAVA_FLOAT, (long) id * WIDTH);
      }
    }
    return values;
  }

  private static float[] expected(Map<Long, Float> rows, int ids) {
    float[] values = new float[ids];
    rows.forEach((id, value) -> values[(int) (long) id] = value);
    return values;
  }

  @ParameterizedTest
  @EnumSource(RowFormat.class)
  void tablesReadTheSameBeneathChangesAsAfterTheyTookThemInAndBackAgain(RowFormat format) {
    int ids = 3000;
    Random random = new Random(3);
    try (Device device = Device.cpu(1, 1L << 26)) {
      EmbeddingTable table = EmbeddingTable.create(config(options().format(format)), device);
      SlotTables tables = new SlotTables(List.of(table), Combiner.SUM);
      int floats = table.config().rowFloats();
      Map<Long, Float> now = new TreeMap<>();
      for (long id = 0; id < ids; id += 2) {
        now.put(id, value(random));
      }
      table.importFrom(source(now, floats));
      List<Map<Long, Float>> states = new ArrayList<>(List.of(new TreeMap<>(now)));
      Deque<TableChanges> waiting = new ArrayDeque<>();
      Deque<TableChanges> back = new ArrayDeque<>();
      SlotTables view = tables.beneath(List.of(List.of()));
      for (int step = 1; step <= 12; step++) {
        TableChanges changes = new TableChanges(table);
        change(now, changes, floats, ids, random);
        states.add(new TreeMap<>(now));
        waiting.addLast(changes);
        view.set(List.of(List.copyOf(waiting)));
        assertThat(read(view, device, ids)).isEqualTo(expected(now, ids));
        while (waiting.size() > random.nextInt(4)) {
          TableChanges first = waiting.removeFirst();
          TableChanges before = new TableChanges(table);
          table.fold(first, Optional.of(before));
          view.drop(0, first);
          first.close();
          back.addFirst(before);
          assertThat(read(view, device, ids)).isEqualTo(expected(now, ids));
        }
      }
      List<TableChanges> layers = new ArrayList<>();
      waiting.forEach(TableChanges::close);
      int state = back.size();
      for (TableChanges before : back) {
        layers.add(before);
        state--;
        view.set(List.of(layers));
        assertThat(read(view, device, ids)).isEqualTo(expected(states.get(state), ids));
      }
      for (TableChanges before : back) {
        table.fold(before, Optional.empty());
        view.drop(0, before);
        before.close();
      }
      assertThat(read(tables, device, ids)).isEqualTo(expected(states.getFirst(), ids));
      assertThat(table.size()).isEqualTo(states.getFirst().size());
      tables.close();
      assertThat(device.memoryInUse()).isZero();
    }
  }

  /** Multiples of 1/128 that rows of one byte a weight hold exactly. */
  private static float value(Random random) {
    return (float) Math.scalb(1.0, random.nextInt(6)) * 127;
  }

  /** Some rows come, change and go. */
  private static void change(
      Map<Long, Float> now, TableChanges changes, int floats, int ids, Random random) {
    Map<Long, Float> put = new TreeMap<>();
    List<Long> gone = new ArrayList<>();
    for (long id = 0; id < ids; id++) {
      int what = random.nextInt(10);
      if (what == 0) {
        put.put(id, value(random));
      } else if (what == 1 && random.nextBoolean()) {
        gone.add(id);
      }
    }
    now.putAll(put);
    now.keySet().removeAll(gone);
    changes.put(source(put, floats));
    long[] without = gone.stream().mapToLong(Long::longValue).toArray();
    changes.remove(without, without.length);
    assertThat(changes.size()).isEqualTo(put.size() + without.length);
  }

  @ParameterizedTest
  @EnumSource(RowFormat.class)
  void ofAllRowsOnlyThoseThatDifferAreKept(RowFormat format) {
    try (Device device = Device.cpu(1, 1L << 26)) {
      TableOptions stored = options().storage(DType.BF16).format(format);
      EmbeddingTable table = EmbeddingTable.create(config(stored), device);
      int floats = table.config().rowFloats();
      Map<Long, Float> rows = new TreeMap<>();
      for (long id = 0; id < 2000; id++) {
        rows.put(id, 1f + id % 3);
      }
      table.importFrom(source(rows, floats));
      rows.put(7L, 5f);
      rows.put(3000L, 6f);
      rows.remove(8L);
      SlotTables tables = new SlotTables(List.of(table), Combiner.SUM);
      try (TableChanges changes = new TableChanges(table)) {
        assertThat(changes.putDifferences(source(rows, floats), Long.MAX_VALUE)).isTrue();
        assertThat(changes.size()).isEqualTo(3);
        SlotTables view = tables.beneath(List.of(List.of(changes)));
        assertThat(read(view, device, 3001)).isEqualTo(expected(rows, 3001));
      }
      try (TableChanges changes = new TableChanges(table)) {
        assertThat(changes.putDifferences(source(rows, floats), 100)).isFalse();
      }
      tables.close();
      assertThat(device.memoryInUse()).isZero();
    }
  }

  @Test
  void idsWithoutARowReadAsTheMeanOfAllRowsBeneathChangesAndAfter() {
    try (Device device = Device.cpu(1, 1L << 26)) {
      EmbeddingTable table =
          EmbeddingTable.create(config(options().unknown(UnknownRow.MEAN)), device);
      SlotTables tables = new SlotTables(List.of(table), Combiner.SUM);
      int floats = table.config().rowFloats();
      table.importFrom(source(new TreeMap<>(Map.of(0L, 1f, 1L, 3f, 2L, 8f)), floats));
      TableChanges changes = new TableChanges(table);
      changes.put(source(new TreeMap<>(Map.of(1L, 5f, 3L, 7f)), floats));
      changes.remove(new long[] {2}, 1);
      SlotTables view = tables.beneath(List.of(List.of(changes)));
      view.prepareUnknown();
      float[] after = {1, 5, 13 / 3f, 7, 13 / 3f};
      assertThat(read(view, device, 5)).isEqualTo(after);
      TableChanges before = new TableChanges(table);
      table.fold(changes, Optional.of(before));
      view.drop(0, changes);
      changes.close();
      assertThat(read(view, device, 5)).isEqualTo(after);
      view.set(List.of(List.of(before)));
      assertThat(read(view, device, 5)).isEqualTo(new float[] {1, 3, 8, 4, 4});
      before.close();
      tables.close();
    }
  }

  @Test
  void readersSeeTheSameWhereMemoryEndsWithinAFoldAndFoldingAgainTakesTheRest() {
    int ids = 20_000;
    try (Device device = Device.cpu(1, 1L << 23)) {
      EmbeddingTable table = EmbeddingTable.create(config(options()), device);
      SlotTables tables = new SlotTables(List.of(table), Combiner.SUM);
      int floats = table.config().rowFloats();
      Map<Long, Float> rows = new TreeMap<>(Map.of(1L, 1f, 2L, 2f));
      table.importFrom(source(rows, floats));
      TableChanges changes = new TableChanges(table);
      Map<Long, Float> put = new TreeMap<>();
      for (long id = 3; id < ids; id++) {
        put.put(id, 1f + id % 5);
      }
      rows.putAll(put);
      changes.put(source(put, floats));
      SlotTables view = tables.beneath(List.of(List.of(changes)));
      int free = (int) (device.memoryBudget() - device.memoryInUse());
      Variable other = Variable.zeros(device, "other", Shape.of((free - 500_000) / 4));
      assertThatThrownBy(() -> table.fold(changes, Optional.empty()))
          .isInstanceOf(OutOfBudgetException.class);
      assertThat(table.size()).isBetween(3L, (long) ids - 100);
      assertThat(read(view, device, ids)).isEqualTo(expected(rows, ids));
      other.close();
      table.fold(changes, Optional.empty());
      view.drop(0, changes);
      changes.close();
      assertThat(read(view, device, ids)).isEqualTo(expected(rows, ids));
      tables.close();
      assertThat(device.memoryInUse()).isZero();
    }
  }

  @Test
  void tablesBeneathChangesAreNotTrained() {
    try (Device device = Device.cpu(1, 1L << 22)) {
      EmbeddingTable table = EmbeddingTable.create(config(options()), device);
      SlotTables tables = new SlotTables(List.of(table), Combiner.SUM);
      SlotTables view = tables.beneath(List.of(List.of()));
      Batch batch = new Batch(SCHEMA, 1);
      batch.addId(0, 1);
      batch.endRow();
      try (Arena arena = Arena.ofConfined();
          BatchLookup lookup = view.newLookup(List.of(WIDTH))) {
        List<MemorySegment> out = List.of(arena.allocate(4L * WIDTH, 64));
        assertThatThrownBy(() -> lookup.find(device.workers(), batch, true, out))
            .isInstanceOf(IllegalStateException.class)
            .hasMessageContaining("train the tables themselves");
        lookup.find(device.workers(), batch, false, out);
        assertThatThrownBy(() -> lookup.apply(device.workers(), out, 0.1f, 1))
            .isInstanceOf(IllegalStateException.class);
      }
      view.close();
      assertThat(table.size()).isZero();
      tables.close();
    }
  }
}
