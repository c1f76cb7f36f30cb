package dev.tern.embedding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.Workers;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.embedding.config.Admission;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.Eviction;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.optim.Optimizer;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Slots that are read id by id, beside the rows and steps of their ids one by one. */
final class SequenceLookupTest {
  private static final int ROWS = 30;
  private static final int ROOM = 40 * ROWS;
  private static final int WIDTH = 5;

  /** Slots item, tags, items, brands, kinds; item and items share a table. */
  private static final List<Integer> OF_SLOTS = List.of(0, 1, 0, 2, 1);

  /** Items and brands are one sequence, kinds another; item and tags are pooled. */
  private static final List<List<Integer>> SEQUENCES = List.of(List.of(2, 3), List.of(4));

  private static final int POOLED = 2;
  private static final int FLOATS = (ROWS * POOLED + 3 * ROOM) * WIDTH;

  private final Allocator allocator = Allocator.of(1L << 28);
  private final long vectors = allocator.allocate(4L * FLOATS, "vectors");
  private final long gradients = allocator.allocate(4L * FLOATS, "gradients");
  private final long alone = allocator.allocate(4L * WIDTH * ROOM * 4, "alone");

  @AfterEach
  void closedTablesHoldNoMemory() {
    List.of(vectors, gradients, alone).forEach(allocator::free);
    assertThat(allocator.live()).isZero();
  }

  private EmbeddingTable table(int index, RowPolicy policy) {
    TableOptions options =
        TableOptions.of(Optimizer.adagrad(1)).initRange(0.5f).l2(0.01f).rows(policy);
    return EmbeddingTable.create(
        new TableConfig("t" + index, index, WIDTH, 42, options), allocator);
  }

  private static Batch batch(SplittableRandom random) {
    Schema schema =
        new Schema(
            List.of("y"),
            List.of(),
            List.of(
                Slot.oneHot("item"),
                Slot.ragged("tags"),
                Slot.ragged("items"),
                Slot.ragged("brands"),
                Slot.ragged("kinds")));
    Batch batch = new Batch(schema, ROWS);
    for (int b = 0; b < ROWS; b++) {
      batch.setLabel(0, b % 2);
      batch.addId(0, random.nextInt(200));
      add(batch, 1, random.nextInt(4), random);
      int length = random.nextInt(5) == 0 ? 0 : random.nextInt(40);
      add(batch, 2, length, random);
      add(batch, 3, length, random);
      add(batch, 4, random.nextInt(3), random);
      batch.endRow();
    }
    return batch;
  }

  private static void add(Batch batch, int slot, int count, SplittableRandom random) {
    for (int i = 0; i < count; i++) {
      batch.addId(slot, random.nextInt(random.nextBoolean() ? 200 : 10));
    }
  }

  /** Memory of the pooled slots, then of both sequences. */
  private List<MemorySegment> segments(long at) {
    long first = 4L * ROWS * POOLED * WIDTH;
    return List.of(
        MemorySegment.ofAddress(at).reinterpret(first),
        MemorySegment.ofAddress(at + first).reinterpret(4L * 2 * ROOM * WIDTH),
        MemorySegment.ofAddress(at + first + 4L * 2 * ROOM * WIDTH).reinterpret(4L * ROOM * WIDTH));
  }

  /** Where the vector of the id at a position of a slot lies, or the pooled one of its row. */
  private static long at(long memory, int slot, int row, int position) {
    long vector =
        switch (slot) {
          case 0, 1 -> (long) row * POOLED + slot;
          case 2, 3 -> (long) ROWS * POOLED + 2L * position + slot - 2;
          default -> (long) ROWS * POOLED + 2L * ROOM + position;
        };
    return memory + 4 * vector * WIDTH;
  }

  /** The ids of the slots of one table, the row and the place of each. */
  private record Places(List<int[]> all, List<Long> ids) {
    static Places of(Batch batch, int table) {
      Places places = new Places(new ArrayList<>(), new ArrayList<>());
      for (int slot = 0; slot < OF_SLOTS.size(); slot++) {
        for (int row = 0; row < ROWS && OF_SLOTS.get(slot) == table; row++) {
          for (int i = batch.offsets(slot)[row]; i < batch.offsets(slot)[row + 1]; i++) {
            places.all.add(new int[] {slot, row, i});
            places.ids.add(batch.ids(slot)[i]);
          }
        }
      }
      return places;
    }

    long[] array() {
      return ids.stream().mapToLong(Long::longValue).toArray();
    }
  }

  private void requireRows(Batch batch, List<EmbeddingTable> plain, boolean insert) {
    for (int t = 0; t < plain.size(); t++) {
      Places places = Places.of(batch, t);
      Lookup lookup = new Lookup();
      plain.get(t).find(places.array(), places.ids.size(), lookup, insert);
      plain
          .get(t)
          .ragged(
              lookup, MemorySegment.ofAddress(alone).reinterpret(4L * WIDTH * places.ids.size()));
      for (int i = 0; i < places.all.size(); i++) {
        int[] place = places.all.get(i);
        if (place[0] >= 2) {
          for (int j = 0; j < WIDTH; j++) {
            assertThat(Memory.getInt(at(vectors, place[0], place[1], place[2]) + 4L * j))
                .as("slot %d, position %d", place[0], place[2])
                .isEqualTo(Memory.getInt(alone + 4L * (i * WIDTH + j)));
          }
        }
      }
    }
  }

  /** Gives each position the gradient of its vector, and the plain tables a step of them. */
  private void applyAlone(Batch batch, List<EmbeddingTable> plain, int step) {
    for (int t = 0; t < plain.size(); t++) {
      Places places = Places.of(batch, t);
      Lookup lookup = new Lookup();
      int count = places.ids.size();
      plain.get(t).find(places.array(), count, lookup, false);
      for (int i = 0; i < count; i++) {
        int[] place = places.all.get(i);
        Memory.copy(
            at(gradients, place[0], place[1], place[2]), alone + 4L * i * WIDTH, 4L * WIDTH);
      }
      MemorySegment memory = MemorySegment.ofAddress(alone).reinterpret(4L * count * WIDTH);
      plain.get(t).apply(lookup, Bags.single(count), memory, WIDTH, 0.1f, step);
    }
  }

  private static List<String> rows(EmbeddingTable table) {
    List<String> rows = new ArrayList<>();
    int floats = table.config().rowFloats();
    table.exportTo((ids, segment, count) -> {
      for (int i = 0; i < count; i++) {
        int[] row = new int[floats];
        for (int j = 0; j < floats; j++) {
          row[j] = Memory.getInt(segment.address() + 4L * (i * floats + j));
        }
        rows.add(ids[i] + Arrays.toString(row));
      }
    });
    return rows;
  }

  @ParameterizedTest
  @CsvSource({"1, SUM", "2, SUM", "2, MEAN"})
  void eachIdOfASequenceHasItsRowAndEachTableTakesOneStepOfAllGradients(
      int threads, Combiner combiner) {
    SplittableRandom random = new SplittableRandom(5);
    List<EmbeddingTable> shared = new ArrayList<>();
    List<EmbeddingTable> plain = new ArrayList<>();
    for (int t = 0; t < 3; t++) {
      shared.add(table(t, RowPolicy.ALL));
      plain.add(table(t, RowPolicy.ALL));
    }
    try (SlotTables slots = new SlotTables(shared, OF_SLOTS, combiner);
        Workers workers = Workers.of(threads);
        BatchLookup lookup = slots.newLookup(WIDTH, SEQUENCES)) {
      Batch batch = batch(random);
      for (int step = 1; step <= 60; step++) {
        boolean training = step % 5 != 0;
        lookup.find(workers, batch, training, segments(vectors));
        requireRows(batch, plain, training);
        Batch next = batch(random);
        lookup.lookAhead(next);
        if (training && combiner == Combiner.SUM) {
          for (int i = 0; i < FLOATS; i++) {
            Memory.setFloat(gradients + 4L * i, (float) random.nextGaussian());
          }
          lookup.apply(workers, segments(gradients), 0.1f, step);
          applyAlone(batch, plain, step);
        }
        batch = next;
      }
      for (int t = 0; t < 3; t++) {
        assertThat(rows(shared.get(t))).isEqualTo(rows(plain.get(t))).isNotEmpty();
      }
      assertThat(lookup.ahead.taken()).isPositive();
    } finally {
      plain.forEach(EmbeddingTable::close);
    }
  }

  @Test
  void theLabelOfARowSaysNothingOfTheIdsInItsSequences() {
    RowPolicy clicks =
        RowPolicy.ALL
            .withAdmission(new Admission.Always())
            .withEviction(new Eviction.LowScore(0.5, 0.3f, 1, 2));
    List<EmbeddingTable> tables =
        List.of(table(0, clicks), table(1, RowPolicy.ALL), table(2, RowPolicy.ALL));
    try (SlotTables slots = new SlotTables(tables, OF_SLOTS, Combiner.SUM);
        Workers workers = Workers.of(1);
        BatchLookup lookup = slots.newLookup(WIDTH, SEQUENCES)) {
      Batch batch = new Batch(batch(new SplittableRandom(1)).schema(), 1);
      batch.setLabel(0, 1);
      batch.addId(0, 7);
      batch.addId(2, 8);
      batch.addId(3, 9);
      batch.endRow();
      lookup.find(workers, batch, true, segments(vectors));
      lookup.apply(workers, segments(gradients), 0, 1);
      List<String> scores = rows(tables.getFirst());
      assertThat(scores).hasSize(2);
      String clicked = scores.getFirst().replaceAll(".*, ", "");
      String seen = scores.getLast().replaceAll(".*, ", "");
      assertThat(Float.intBitsToFloat(Integer.parseInt(clicked.replace("]", ""))))
          .isGreaterThan(Float.intBitsToFloat(Integer.parseInt(seen.replace("]", ""))));
    }
  }

  @Test
  void slotsOfOneSequenceHaveEquallyManyIdsAndStandInOneSequenceAlone() {
    List<EmbeddingTable> tables =
        List.of(table(0, RowPolicy.ALL), table(1, RowPolicy.ALL), table(2, RowPolicy.ALL));
    try (SlotTables slots = new SlotTables(tables, OF_SLOTS, Combiner.SUM);
        Workers workers = Workers.of(1);
        BatchLookup lookup = slots.newLookup(WIDTH, SEQUENCES)) {
      Batch batch = new Batch(batch(new SplittableRandom(1)).schema(), 1);
      batch.setLabel(0, 1);
      batch.addId(2, 8);
      batch.endRow();
      assertThatThrownBy(() -> lookup.find(workers, batch, true, segments(vectors)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("slots [2, 3] of one sequence, expected the same");
      assertThat(tables).allSatisfy(table -> assertThat(table.size()).isZero());
      List<List<Integer>> twice = List.of(List.of(2, 3), List.of(3));
      assertThatThrownBy(() -> slots.newLookup(WIDTH, twice))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("expected each of 0 to 4 once at most");
    }
  }
}
