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
import dev.tern.embedding.config.WhenFull;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.table.SoundTable;
import dev.tern.internal.table.tier.ColdRows;
import dev.tern.optim.Optimizer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Batches looked up before their turn, beside the same ones that were not. */
final class LookAheadTest {
  private static final int BATCH = 120;
  private static final int WIDTH = 4;
  private static final long TIER = 400_000;

  @TempDir private Path folder;

  private final Allocator allocator = Allocator.of(1L << 28);
  private final long gradients = allocator.allocate(4L * BATCH * WIDTH, "gradients");
  private final long pooled = allocator.allocate(4L * BATCH * WIDTH, "pooled");
  private long step;

  @AfterEach
  void closedTablesHoldNoMemory() {
    allocator.free(gradients);
    allocator.free(pooled);
    assertThat(allocator.live()).isZero();
  }

  static List<Arguments> tables() {
    RowPolicy counted = RowPolicy.ALL.withAdmission(new Admission.ByCount(3, 10_000));
    return List.of(
        Arguments.of(RowPolicy.ALL, 9000, false),
        Arguments.of(counted, 3000, false),
        Arguments.of(RowPolicy.ALL.withAdmission(new Admission.ByProbability(0.3)), 3000, false),
        Arguments.of(RowPolicy.ALL.withEviction(new Eviction.Unseen(2)), 2000, false),
        Arguments.of(counted.withEviction(new Eviction.LowScore(0.7, 0.9f)), 1000, false),
        Arguments.of(
            RowPolicy.ALL
                .withMaxRows(500, WhenFull.UNKNOWN)
                .withRoomMadeBy(new Eviction.LeastRecent(), 500),
            2000,
            false),
        Arguments.of(RowPolicy.ALL, 9000, true),
        Arguments.of(counted, 5000, true));
  }

  private EmbeddingTable table(RowPolicy policy, boolean tier) {
    TableConfig config =
        new TableConfig(
            "t",
            3,
            WIDTH,
            42,
            TableOptions.of(Optimizer.adagrad(1))
                .initRange(0.5f)
                .unknown(UnknownRow.INITIAL)
                .rows(policy));
    return tier
        ? EmbeddingTable.create(config, FileTier.of(folder, TIER), allocator)
        : EmbeddingTable.create(config, allocator);
  }

  private static long[] ids(SplittableRandom random, int universe) {
    return IntStream.range(0, BATCH)
        .mapToLong(_ -> random.nextInt(random.nextInt(3) == 0 ? universe / 50 : universe) - 30)
        .toArray();
  }

  private List<Integer> pooledBits(EmbeddingTable table, Lookup lookup) {
    ByAddress.ragged(table, lookup, pooled);
    return IntStream.range(0, BATCH * WIDTH).mapToObj(i -> Memory.getInt(pooled + 4L * i)).toList();
  }

  private void update(EmbeddingTable table, Lookup lookup, long number) {
    SplittableRandom random = new SplittableRandom(number);
    for (int i = 0; i < BATCH * WIDTH; i++) {
      Memory.setFloat(gradients + 4L * i, (float) random.nextGaussian());
    }
    int[] offsets = IntStream.rangeClosed(0, BATCH).toArray();
    ByAddress.apply(table, lookup, offsets, BATCH, Combiner.SUM, gradients, WIDTH, 0.1f, number);
  }

  private void train(EmbeddingTable table, long[] ids, long number) {
    Lookup lookup = new Lookup();
    table.find(ids, ids.length, lookup, true);
    update(table, lookup, number);
  }

  private static List<String> rows(EmbeddingTable table) {
    List<String> rows = new ArrayList<>();
    int floats = table.config().rowFloats();
    table.exportTo((ids, segment, count) -> {
      long values = segment.address();
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

  @ParameterizedTest
  @MethodSource("tables")
  void aBatchLookedUpAheadIsFoundAsTheTableIsInItsTurn(
      RowPolicy policy, int universe, boolean tier) {
    SplittableRandom random = new SplittableRandom(5);
    try (EmbeddingTable table = table(policy, tier);
        EmbeddingTable plain = table(policy, tier)) {
      Lookup ahead = new Lookup();
      Lookup now = new Lookup();
      for (int i = 0; i < 300; i++) {
        long[] ids = ids(random, universe);
        table.lookAhead(ids, BATCH, ahead);
        for (int others = random.nextInt(3); others > 0; others--) {
          // Some of the same ids, whose rows may come, change, and go before.
          long[] between = ids(random, universe);
          System.arraycopy(ids, 0, between, 0, random.nextInt(BATCH));
          step++;
          train(table, between, step);
          train(plain, between, step);
        }
        boolean training = random.nextInt(6) > 0;
        table.find(ahead, training);
        plain.find(ids, BATCH, now, training);
        assertThat(ahead.isComplete()).isEqualTo(now.isComplete());
        assertThat(pooledBits(table, ahead)).isEqualTo(pooledBits(plain, now));
        if (training) {
          step++;
          update(table, ahead, step);
          update(plain, now, step);
        }
      }
      assertThat(rows(table)).isEqualTo(rows(plain));
      // What is read ahead and looked for again is read twice.
      assertThat(table.statistics())
          .usingRecursiveComparison()
          .ignoringFields("file.bytesRead")
          .isEqualTo(plain.statistics());
      assertThat(table.statistics().file().fetched() > 0).isEqualTo(tier);
      SoundTable.require(table.rows);
    }
  }

  @Test
  void allThatMemoryLacksIsReadAhead() {
    try (EmbeddingTable table = table(RowPolicy.ALL, true)) {
      for (long first = 0; first < 6000; first += BATCH) {
        train(table, LongStream.range(first, first + BATCH).toArray(), ++step);
      }
      long[] early = LongStream.range(0, BATCH).toArray();
      Lookup ahead = new Lookup();
      table.lookAhead(early, BATCH, ahead);
      int missing = ahead.found.ahead.missing();
      assertThat(missing).isGreaterThan(BATCH / 2);
      assertThat(ahead.found.ahead.read()).isEqualTo(missing);
      assertThat(IntStream.range(0, missing))
          .allMatch(i -> ahead.found.ahead.record(ahead.found.missing[i]) != ColdRows.NONE);
      Lookup hurried = new Lookup();
      table.lookAhead(early, BATCH, hurried.found, () -> false);
      assertThat(hurried.found.ahead.read()).isZero();
    }
  }

  @Test
  void aRowThatWasReadAheadAndChangesThenIsReadAgain() {
    try (EmbeddingTable table = table(RowPolicy.ALL, true);
        EmbeddingTable plain = table(RowPolicy.ALL, false)) {
      long[] early = LongStream.range(0, BATCH).toArray();
      Lookup ahead = new Lookup();
      for (EmbeddingTable each : List.of(plain, table)) {
        step = 0;
        for (long first = 0; first < 12_000; first += BATCH) {
          train(each, LongStream.range(first, first + BATCH).toArray(), ++step);
          if (first == 6000) {
            each.lookAhead(early, BATCH, ahead);
            train(each, early, ++step);
          }
        }
      }
      assertThat(IntStream.range(0, ahead.found.ahead.missing()))
          .anyMatch(i -> ahead.found.ahead.record(ahead.found.missing[i]) != ColdRows.NONE);
      Lookup now = new Lookup();
      table.find(ahead, true);
      plain.find(early, BATCH, now, true);
      assertThat(pooledBits(table, ahead)).isEqualTo(pooledBits(plain, now));
    }
  }

  @Test
  void aLookupThatWasNotLookedUpAheadIsRefused() {
    try (EmbeddingTable table = table(RowPolicy.ALL, false);
        EmbeddingTable other = table(RowPolicy.ALL, false)) {
      Lookup lookup = new Lookup();
      assertRefused(table, lookup);
      other.lookAhead(new long[] {1}, 1, lookup);
      assertRefused(table, lookup);
      table.lookAhead(new long[] {1}, 1, lookup);
      table.find(lookup, true);
      assertRefused(table, lookup);
      assertThatThrownBy(
              () -> {
                table.lookAhead(new long[] {1}, 1, lookup);
                ByAddress.pool(table, lookup, new int[] {0, 1}, 0, 1, Combiner.SUM, pooled, WIDTH);
              })
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("never filled");
    }
  }

  private static void assertRefused(EmbeddingTable table, Lookup lookup) {
    assertThatThrownBy(() -> table.find(lookup, true))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("expected one that this table looked up ahead");
  }

  private static Batch batch(long... ids) {
    Schema schema = new Schema(List.of(), List.of(), List.of(Slot.oneHot("a"), Slot.oneHot("b")));
    Batch batch = new Batch(schema, ids.length);
    for (long id : ids) {
      batch.addId(0, id);
      batch.addId(1, id);
      batch.endRow();
    }
    return batch;
  }

  private static SlotTables tables(EmbeddingTable... tables) {
    return new SlotTables(List.of(tables), Combiner.SUM);
  }

  /** Looks ahead until both slots were looked up, or failed. */
  private static void lookAhead(LookAhead ahead, Batch batch) throws InterruptedException {
    ahead.begin(batch);
    while (!ahead.isDone()) {
      Thread.sleep(1);
    }
    assertThat(ahead.end(batch)).isTrue();
  }

  @Test
  @Timeout(20)
  void whatGoesWrongAheadIsThrownWhenTheSlotsTurnComes() throws InterruptedException {
    try (EmbeddingTable first = table(RowPolicy.ALL, false);
        EmbeddingTable second = table(RowPolicy.ALL, false);
        LookAhead ahead =
            new LookAhead(
                tables(first, second), new SlotPlaces(List.of(WIDTH, WIDTH), List.of()))) {
      Batch batch = batch(1, 2, 3);
      batch.offsets(1)[3] = 1000;
      lookAhead(ahead, batch);
      batch.offsets(1)[3] = 3;
      TableBatch[] parts =
          tables(first, second).newBatch(new SlotPlaces(List.of(WIDTH, WIDTH), List.of()));
      TableBatch before = parts[0];
      assertThat(ahead.take(0, parts)).isTrue();
      assertThat(parts[0]).isNotSameAs(before);
      assertThatThrownBy(() -> ahead.take(1, parts)).isInstanceOf(IndexOutOfBoundsException.class);
      // The next batch has nothing to do with it.
      lookAhead(ahead, batch);
      assertThat(ahead.take(1, parts)).isTrue();
      assertThat(parts[1].lookup.count()).isEqualTo(3);
    }
  }

  @Test
  @Timeout(20)
  void aBatchThatIsForgottenOrIsNotTheNextLeavesNoTrace() {
    for (int round = 0; round < 50; round++) {
      try (EmbeddingTable first = table(RowPolicy.ALL, false);
          EmbeddingTable second = table(RowPolicy.ALL, false);
          Workers workers = Workers.of(2)) {
        BatchLookup lookup = tables(first, second).newLookup(List.of(WIDTH));
        lookup.lookAhead(batch(1, 2, 3));
        lookup.find(workers, batch(4, 5), true, ByAddress.segments(BATCH * WIDTH, pooled));
        lookup.lookAhead(batch(6));
        lookup.forgetAhead();
        lookup.apply(workers, ByAddress.segments(BATCH * WIDTH, gradients), 0, 1);
        lookup.lookAhead(batch(7));
        lookup.close();
        assertThatThrownBy(() -> lookup.lookAhead(batch(8)))
            .isInstanceOf(IllegalStateException.class)
            .hasMessageContaining("after close");
        assertThat(rows(first)).hasSize(2).allMatch(row -> row.matches("[45] .*"));
        assertThat(rows(second)).hasSize(2);
      }
    }
  }
}
