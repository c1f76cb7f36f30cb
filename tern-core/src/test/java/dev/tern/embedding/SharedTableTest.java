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
import dev.tern.embedding.config.UnknownRow;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.optim.Optimizer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Slots that use one table, beside one whose ids are joined by hand. */
final class SharedTableTest {
  private static final int ROWS = 40;
  private static final int SLOTS = 3;
  private static final int WIDTH = 5;
  private static final List<Integer> WIDTHS = List.of(2, 3);

  /** Slots 0 and 2 share a table. */
  private static final List<Integer> OF_SLOTS = List.of(0, 1, 0);

  @TempDir private Path folder;

  private final Allocator allocator = Allocator.of(1L << 28);
  private final long[] vectors = parts();
  private final long[] gradients = parts();
  private final long joined = allocator.allocate(4L * 2 * ROWS * WIDTH, "joined");

  private long[] parts() {
    return WIDTHS.stream()
        .mapToLong(width -> allocator.allocate(4L * ROWS * SLOTS * width, "parts"))
        .toArray();
  }

  @AfterEach
  void closedTablesHoldNoMemory() {
    Arrays.stream(vectors).forEach(allocator::free);
    Arrays.stream(gradients).forEach(allocator::free);
    allocator.free(joined);
    assertThat(allocator.live()).isZero();
  }

  static List<Arguments> tables() {
    RowPolicy counted = RowPolicy.ALL.withAdmission(new Admission.ByCount(3, 10_000));
    List<Arguments> all = new ArrayList<>();
    for (int threads = 1; threads <= 2; threads++) {
      all.add(Arguments.of(RowPolicy.ALL, Combiner.SUM, false, threads));
      all.add(
          Arguments.of(
              counted.withEviction(new Eviction.Unseen(3)), Combiner.MEAN, false, threads));
      all.add(Arguments.of(counted, Combiner.SQRTN, true, threads));
    }
    return all;
  }

  private EmbeddingTable table(Optimizer optimizer, RowPolicy policy, boolean tier) {
    TableConfig config =
        new TableConfig(
            "t",
            0,
            WIDTH,
            42,
            TableOptions.of(optimizer)
                .initRange(0.5f)
                .l2(0.01f)
                .unknown(UnknownRow.INITIAL)
                .rows(policy));
    return tier
        ? EmbeddingTable.create(config, FileTier.of(folder, 500_000), allocator)
        : EmbeddingTable.create(config, allocator);
  }

  private static Schema schema() {
    return new Schema(
        List.of(), List.of(), List.of(Slot.oneHot("a"), Slot.oneHot("b"), Slot.ragged("c")));
  }

  private static Batch batch(SplittableRandom random, int universe) {
    Batch batch = new Batch(schema(), ROWS);
    for (int b = 0; b < ROWS; b++) {
      batch.addId(0, random.nextInt(universe));
      batch.addId(1, random.nextInt(universe));
      for (int k = random.nextInt(4); k > 0; k--) {
        batch.addId(2, random.nextInt(random.nextBoolean() ? universe : 20));
      }
      batch.endRow();
    }
    return batch;
  }

  private static List<String> rows(EmbeddingTable table) {
    List<String> rows = new ArrayList<>();
    int floats = table.config().rowFloats();
    table.exportTo((ids, values, count) -> {
      for (int i = 0; i < count; i++) {
        int[] row = new int[floats];
        for (int j = 0; j < floats; j++) {
          row[j] = Memory.getInt(values + 4L * (i * floats + j));
        }
        rows.add(ids[i] + " " + Arrays.toString(row));
      }
    });
    return rows;
  }

  /** Where column {@code j} of a slot's vector lies. */
  private static long at(long[] parts, int row, int slot, int j) {
    int p = j < 2 ? 0 : 1;
    int width = WIDTHS.get(p);
    return parts[p] + 4L * ((row * SLOTS + slot) * width + j - 2 * p);
  }

  /** The ids of slots 0 and 2, one after another. */
  private static long[] joinedIds(Batch batch) {
    long[] ids = Arrays.copyOf(batch.ids(0), ROWS + batch.idCount(2));
    System.arraycopy(batch.ids(2), 0, ids, ROWS, batch.idCount(2));
    return ids;
  }

  private static int[] joinedOffsets(Batch batch) {
    return IntStream.rangeClosed(0, 2 * ROWS)
        .map(i -> i < ROWS ? i : ROWS + batch.offsets(2)[i - ROWS])
        .toArray();
  }

  private void requirePooled(EmbeddingTable plain, Lookup lookup, int[] offsets, Combiner how) {
    plain.pool(lookup, offsets, 0, 2 * ROWS, how, joined, WIDTH);
    for (int i = 0; i < 2 * ROWS * WIDTH; i++) {
      int bag = i / WIDTH;
      assertThat(Memory.getInt(at(vectors, bag % ROWS, bag < ROWS ? 0 : 2, i % WIDTH)))
          .isEqualTo(Memory.getInt(joined + 4L * i));
    }
  }

  private void drawGradients(SplittableRandom random) {
    for (int row = 0; row < ROWS; row++) {
      for (int slot = 0; slot < SLOTS; slot++) {
        for (int j = 0; j < WIDTH; j++) {
          float gradient = (float) random.nextGaussian();
          Memory.setFloat(at(gradients, row, slot, j), gradient);
          if (slot != 1) {
            int bag = row + (slot == 0 ? 0 : ROWS);
            Memory.setFloat(joined + 4L * (bag * WIDTH + j), gradient);
          }
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("tables")
  void slotsOfOneTableAreOneLookupAndOneStep(
      RowPolicy policy, Combiner combiner, boolean tier, int threads) {
    Optimizer adagrad = Optimizer.adagrad(1);
    SplittableRandom random = new SplittableRandom(3);
    try (EmbeddingTable shared = table(adagrad, policy, tier);
        EmbeddingTable other = table(adagrad, policy, false);
        EmbeddingTable plain = table(adagrad, policy, false);
        Workers workers = Workers.of(threads);
        BatchLookup lookup =
            new SlotTables(List.of(shared, other), OF_SLOTS, combiner).newLookup(WIDTHS)) {
      Lookup alone = new Lookup();
      Batch batch = batch(random, 4000);
      for (int step = 1; step <= 200; step++) {
        boolean training = step % 5 != 0;
        long[] ids = joinedIds(batch);
        int[] offsets = joinedOffsets(batch);
        lookup.find(workers, batch, training, vectors);
        plain.find(ids, ids.length, alone, training);
        requirePooled(plain, alone, offsets, combiner);
        batch = batch(random, 4000);
        lookup.lookAhead(batch);
        if (training) {
          drawGradients(random);
          lookup.apply(workers, gradients, 0.1f, step);
          plain.apply(alone, offsets, 2 * ROWS, combiner, joined, WIDTH, 0.1f, step);
        }
      }
      assertThat(rows(shared)).isEqualTo(rows(plain)).isNotEmpty();
      assertThat(shared.statistics().hits()).isEqualTo(plain.statistics().hits());
      assertThat(shared.statistics().file().spilled() > 0).isEqualTo(tier);
      assertThat(other.size()).isPositive();
    }
  }

  @Test
  void anIdOfTwoSlotsTakesOneStepOfTheSumOfItsGradients() {
    try (EmbeddingTable shared = table(Optimizer.adagrad(1), RowPolicy.ALL, false);
        EmbeddingTable other = table(Optimizer.adagrad(1), RowPolicy.ALL, false);
        Workers workers = Workers.of(1);
        BatchLookup lookup =
            new SlotTables(List.of(shared, other), OF_SLOTS, Combiner.SUM).newLookup(WIDTHS)) {
      Batch batch = new Batch(schema(), 1);
      batch.addId(0, 7);
      batch.addId(1, 7);
      batch.addId(2, 7);
      batch.addId(2, 8);
      batch.endRow();
      lookup.find(workers, batch, true, vectors);
      for (int slot = 0; slot < SLOTS; slot++) {
        for (int j = 0; j < WIDTH; j++) {
          Memory.setFloat(at(gradients, 0, slot, j), slot + 1000);
        }
      }
      lookup.apply(workers, gradients, 0.1f, 1);
      float[] squares = new float[2];
      shared.exportTo((ids, values, count) -> {
        assertThat(Arrays.copyOf(ids, count)).containsExactly(7, 8);
        for (int i = 0; i < 2; i++) {
          squares[i] = Memory.getFloat(values + 4L * (i * 2 * WIDTH + WIDTH));
        }
      });
      // Of 1000 + 1002, and of 1002 alone; a little aside for l2 and where state begins.
      assertThat(squares[0]).isBetween(2002f * 2002 - 100, 2002f * 2002 + 100);
      assertThat(squares[1]).isBetween(1002f * 1002 - 100, 1002f * 1002 + 100);
    }
  }

  @Test
  void everyTableIsSomeSlots() {
    assertThatThrownBy(() -> new SlotTables(List.of(), List.of(0), Combiner.SUM))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("got tables [0] of slots");
  }
}
