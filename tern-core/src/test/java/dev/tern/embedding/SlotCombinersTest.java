package dev.tern.embedding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.base.Workers;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.internal.memory.Allocator;
import dev.tern.optim.Optimizer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Slots of one table that pool their ids in different ways. */
final class SlotCombinersTest {
  private static final int WIDTH = 3;
  private static final long[][] IDS = {{4, 5, 6}, {7}, {}, {5, 5}};
  private static final List<Combiner> EACH = List.of(Combiner.SUM, Combiner.MEAN, Combiner.SQRTN);
  private static final float RATE = 0.5f;

  private static Batch batch() {
    Schema schema =
        new Schema(
            List.of(),
            List.of(),
            List.of(Slot.ragged("sum"), Slot.ragged("mean"), Slot.ragged("sqrtn")));
    Batch batch = new Batch(schema, IDS.length);
    for (int row = 0; row < IDS.length; row++) {
      for (int slot = 0; slot < EACH.size(); slot++) {
        for (long id : IDS[(row + slot) % IDS.length]) {
          batch.addId(slot, id);
        }
      }
      batch.endRow();
    }
    return batch;
  }

  private static double scale(Combiner combiner, int count) {
    return switch (combiner) {
      case SUM -> 1;
      case MEAN -> 1.0 / count;
      case SQRTN -> 1 / Math.sqrt(count);
    };
  }

  private static float[] row(EmbeddingTable table, long id, Arena arena) {
    Lookup lookup = new Lookup();
    table.find(new long[] {id}, 1, lookup, true);
    MemorySegment out = arena.allocate(4L * WIDTH);
    table.pool(lookup, Bags.single(1), 0, 1, out, WIDTH);
    return out.toArray(ValueLayout.JAVA_FLOAT);
  }

  @Test
  void eachSlotPoolsAndTakesGradientsInItsOwnWay() {
    try (Allocator allocator = Allocator.of(1L << 26);
        Arena arena = Arena.ofShared();
        Workers workers = Workers.of(2)) {
      TableConfig config =
          new TableConfig("t", 0, WIDTH, 1, TableOptions.of(Optimizer.sgd(1)).initRange(0.5f));
      EmbeddingTable table = EmbeddingTable.create(config, allocator);
      try (SlotTables slots = new SlotTables(List.of(table), List.of(0, 0, 0), EACH);
          BatchLookup lookup = slots.newLookup(List.of(WIDTH))) {
        float[][] before = new float[10][];
        double[][] steps = new double[10][WIDTH];
        for (int id = 4; id <= 7; id++) {
          before[id] = row(table, id, arena);
        }
        MemorySegment vectors = arena.allocate(4L * IDS.length * EACH.size() * WIDTH);
        MemorySegment gradients = arena.allocate(vectors.byteSize());
        lookup.find(workers, batch(), true, List.of(vectors));
        for (int row = 0; row < IDS.length; row++) {
          for (int slot = 0; slot < EACH.size(); slot++) {
            long[] ids = IDS[(row + slot) % IDS.length];
            double scale = ids.length == 0 ? 0 : scale(EACH.get(slot), ids.length);
            for (int j = 0; j < WIDTH; j++) {
              long at = (long) (row * EACH.size() + slot) * WIDTH + j;
              double expected = 0;
              for (long id : ids) {
                expected += scale * before[(int) id][j];
                steps[(int) id][j] += scale * (at + 1);
              }
              assertThat((double) vectors.getAtIndex(ValueLayout.JAVA_FLOAT, at))
                  .isCloseTo(expected, within(1e-6));
              gradients.setAtIndex(ValueLayout.JAVA_FLOAT, at, at + 1);
            }
          }
        }
        lookup.apply(workers, List.of(gradients), RATE, 1);
        for (int id = 4; id <= 7; id++) {
          float[] after = row(table, id, arena);
          for (int j = 0; j < WIDTH; j++) {
            double expected = before[id][j] - RATE * steps[id][j];
            assertThat((double) after[j]).isCloseTo(expected, within(1e-4));
          }
        }
      }
    }
  }

  @Test
  void thereIsACombinerForEachSlot() {
    assertThatThrownBy(() -> new SlotTables(List.of(), List.of(), EACH))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("got 3 combiners for 0 slots, expected one for each");
  }
}
