package dev.tern.embedding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DType;
import dev.tern.embedding.config.Admission;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.FileStatistics;
import dev.tern.embedding.config.RowLimits;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.embedding.config.TableStatistics;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.embedding.config.WhenFull;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.table.SoundTable;
import dev.tern.internal.table.rows.RowLayout;
import dev.tern.optim.Optimizer;
import dev.tern.optim.Optimizer.Adam.Untouched;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Tables that keep rows in a file, beside tables that have them all in memory. */
final class FileTierTest {
  private static final int BATCH = 200;
  private static final int MOST_WIDTH = 40;

  @TempDir private Path folder;

  private final Allocator allocator = Allocator.of(1L << 28);
  private final long gradients = allocator.allocate(4 * BATCH * MOST_WIDTH, "gradients");
  private final long here = allocator.allocate(4 * BATCH * MOST_WIDTH, "pooled");
  private final long there = allocator.allocate(4 * BATCH * MOST_WIDTH, "pooled");
  private long step;

  @AfterEach
  void closedTablesHoldNeitherMemoryNorFiles() throws Exception {
    allocator.free(gradients);
    allocator.free(here);
    allocator.free(there);
    assertThat(allocator.live()).isZero();
    try (Stream<Path> files = Files.list(folder)) {
      assertThat(files).isEmpty();
    }
  }

  private static TableConfig config(
      int width, Optimizer optimizer, UnknownRow unknown, DType storage, RowPolicy policy) {
    return new TableConfig(
        "t",
        3,
        width,
        42,
        TableOptions.of(optimizer)
            .initRange(0.5f)
            .l2(0.01f)
            .unknown(unknown)
            .storage(storage)
            .rows(policy));
  }

  private static TableConfig config(int width, Optimizer optimizer) {
    return config(width, optimizer, UnknownRow.ZEROS, DType.F32, RowPolicy.ALL);
  }

  /** The least memory that a table can have, as the error about less says. */
  private long least(TableConfig config) {
    TableConfig plain =
        config(
            config.width(), config.optimizer(), UnknownRow.ZEROS, config.storage(), RowPolicy.ALL);
    try (EmbeddingTable table = EmbeddingTable.create(plain, FileTier.of(folder, 1), allocator)) {
      throw new AssertionError(table + " in one byte");
    } catch (IllegalArgumentException e) {
      return Long.parseLong(e.getMessage().replaceAll("(?s).*expected (\\d+) or more.*", "$1"));
    }
  }

  private EmbeddingTable tiered(TableConfig config, long memory) {
    return EmbeddingTable.create(config, FileTier.of(folder, memory), allocator);
  }

  static List<Arguments> tables() {
    List<Arguments> all = new ArrayList<>();
    for (Optimizer optimizer :
        List.of(
            Optimizer.sgd(1),
            Optimizer.momentum(1),
            Optimizer.nesterov(1),
            Optimizer.adagrad(1),
            Optimizer.rowWiseAdagrad(1),
            Optimizer.rmsProp(1),
            Optimizer.lazyAdam(1),
            new Optimizer.Adam(1, 0.9f, 0.99f, 1e-8f, Untouched.DECAYED),
            Optimizer.ftrl(1))) {
      all.add(Arguments.of(config(9, optimizer), 1));
    }
    RowLimits limits = RowLimits.NONE.withClipNorm(1).withBounds(-0.3f, 0.4f);
    all.add(Arguments.of(config(9, Optimizer.momentum(1)).with(o -> o.limits(limits)), 1));
    all.add(
        Arguments.of(
            config(3, Optimizer.adagrad(1), UnknownRow.INITIAL, DType.BF16, RowPolicy.ALL)
                .with(o -> o.limits(limits)),
            2));
    Optimizer sgd = Optimizer.sgd(1);
    RowPolicy counts = RowPolicy.ALL.withAdmission(new Admission.ByCount(3, 300_000));
    RowPolicy few = RowPolicy.ALL.withMaxRows(1500, WhenFull.UNKNOWN);
    all.add(Arguments.of(config(8, Optimizer.rowWiseAdagrad(1)), 12));
    all.add(Arguments.of(config(40, Optimizer.adagrad(1)), 3));
    all.add(Arguments.of(config(3, sgd, UnknownRow.ZEROS, DType.F16, RowPolicy.ALL), 1));
    all.add(Arguments.of(config(1, sgd, UnknownRow.INITIAL, DType.BF16, RowPolicy.ALL), 4));
    all.add(
        Arguments.of(config(5, Optimizer.adagrad(1), UnknownRow.INITIAL, DType.BF16, counts), 4));
    all.add(Arguments.of(config(4, sgd, UnknownRow.ZEROS, DType.F32, few), 1));
    return all;
  }

  @ParameterizedTest(name = "{0}, {1} times the least memory")
  @MethodSource("tables")
  void rowsAndResultsAreThoseOfATableInMemoryAndTheLimitHolds(TableConfig config, int times) {
    long memory = times * least(config);
    long others = allocator.live();
    SplittableRandom random = new SplittableRandom(times);
    try (EmbeddingTable file = tiered(config, memory)) {
      int universe = 6000 * times;
      try (EmbeddingTable plain = EmbeddingTable.create(config, Allocator.of(1L << 28))) {
        Lookup one = new Lookup();
        Lookup other = new Lookup();
        for (int i = 0; i < 150 * times; i++) {
          long[] ids = ids(random, universe);
          boolean training = i % 5 != 4;
          file.find(ids, ids.length, one, training);
          plain.find(ids, ids.length, other, training);
          requireSamePooled(file, one, plain, other);
          if (training) {
            update(random, file, one, plain, other);
          }
          assertThat(file.size()).isEqualTo(plain.size());
          assertThat(file.bytes()).isLessThanOrEqualTo(memory);
          assertThat(allocator.live() - others).isLessThanOrEqualTo(memory);
        }
        requireSameRows(file, plain);
        TableStatistics expected = plain.statistics();
        TableStatistics got = file.statistics();
        assertThat(got.hits()).isEqualTo(expected.hits());
        assertThat(got.misses()).isEqualTo(expected.misses());
        assertThat(got.rejected()).isEqualTo(expected.rejected());
        assertThat(got.file().spilled()).isPositive();
        assertThat(got.file().fetched()).isPositive();
        assertThat(got.file().rows()).isBetween(1L, got.rows());
      }
    }
  }

  /** A batch of ids, some of them often. */
  private static long[] ids(SplittableRandom random, int universe) {
    return IntStream.range(0, BATCH)
        .mapToLong(_ -> {
          double u = random.nextDouble();
          return (long) (universe * (random.nextInt(3) == 0 ? u * u * u * u : u)) - 100;
        })
        .toArray();
  }

  private static int[] bags() {
    return IntStream.rangeClosed(0, BATCH / 2).map(b -> 2 * b).toArray();
  }

  private void requireSamePooled(
      EmbeddingTable file, Lookup one, EmbeddingTable plain, Lookup other) {
    int width = file.config().width();
    ByAddress.pool(file, one, bags(), 0, BATCH / 2, Combiner.SUM, here, width);
    ByAddress.pool(plain, other, bags(), 0, BATCH / 2, Combiner.SUM, there, width);
    for (int i = 0; i < BATCH / 2 * width; i++) {
      assertThat(Memory.getInt(here + 4L * i)).isEqualTo(Memory.getInt(there + 4L * i));
    }
  }

  private void update(
      SplittableRandom random,
      EmbeddingTable file,
      Lookup one,
      EmbeddingTable plain,
      Lookup other) {
    int width = file.config().width();
    for (int i = 0; i < BATCH / 2 * width; i++) {
      Memory.setFloat(gradients + 4L * i, (float) random.nextGaussian());
    }
    step++;
    ByAddress.apply(file, one, bags(), BATCH / 2, Combiner.SUM, gradients, width, 0.1f, step);
    ByAddress.apply(plain, other, bags(), BATCH / 2, Combiner.SUM, gradients, width, 0.1f, step);
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

  private static void requireSameRows(EmbeddingTable file, EmbeddingTable plain) {
    List<String> expected = rows(plain);
    assertThat(expected).hasSize((int) plain.size());
    assertThat(rows(file)).isEqualTo(expected);
  }

  /** Makes rows of ids {@code from} to {@code to - 1}. */
  private static void insert(EmbeddingTable table, long from, long to) {
    Lookup lookup = new Lookup();
    for (long id = from; id < to; id += BATCH) {
      long[] ids = LongStream.range(id, Math.min(to, id + BATCH)).toArray();
      table.find(ids, ids.length, lookup, true);
    }
  }

  @Test
  void addressesOfALookupAreRefusedOnceRowsMovedAndAreFoundAgain() {
    TableConfig config = config(2, Optimizer.sgd(1));
    try (EmbeddingTable file = tiered(config, least(config));
        EmbeddingTable plain = EmbeddingTable.create(config, allocator)) {
      long[] ids = LongStream.range(0, BATCH).toArray();
      Lookup early = new Lookup();
      Lookup same = new Lookup();
      file.find(ids, BATCH, early, true);
      plain.find(ids, BATCH, same, true);
      insert(file, 1000, 5000);
      insert(plain, 1000, 5000);
      assertThatThrownBy(
              () -> ByAddress.pool(file, early, bags(), 0, BATCH / 2, Combiner.SUM, here, 2))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("moved since")
          .hasMessageContaining("refresh it");
      file.refresh(early);
      requireSamePooled(file, early, plain, same);
      update(new SplittableRandom(1), file, early, plain, same);
      insert(file, 5000, 9000);
      insert(plain, 5000, 9000);
      requireSameRows(file, plain);
    }
  }

  @Test
  void anUpdateReachesRowsThatLeftMemorySinceTheyWereLookedUp() {
    TableConfig config = config(2, Optimizer.adagrad(1));
    try (EmbeddingTable file = tiered(config, least(config));
        EmbeddingTable plain = EmbeddingTable.create(config, allocator)) {
      long[] ids = LongStream.range(0, BATCH).toArray();
      for (boolean training : new boolean[] {true, false}) {
        Lookup early = new Lookup();
        Lookup same = new Lookup();
        file.find(ids, BATCH, early, training);
        plain.find(ids, BATCH, same, training);
        insert(file, 1000, 5000);
        insert(plain, 1000, 5000);
        update(new SplittableRandom(1), file, early, plain, same);
      }
      requireSameRows(file, plain);
    }
  }

  @Test
  void manyThreadsScoreAtOnceAndChangeNothing() throws Exception {
    TableConfig config = config(4, Optimizer.adagrad(1));
    try (EmbeddingTable file = tiered(config, least(config));
        EmbeddingTable plain = EmbeddingTable.create(config, allocator)) {
      insert(file, 0, 4000);
      insert(plain, 0, 4000);
      TableStatistics before = file.statistics();
      try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
        List<Future<Integer>> results = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
          int seed = t;
          results.add(threads.submit(() -> score(file, plain, seed)));
        }
        for (Future<Integer> result : results) {
          assertThat(result.get()).isZero();
        }
      }
      assertThat(file.statistics())
          .usingRecursiveComparison()
          .ignoringFields("file.bytesRead")
          .isEqualTo(before);
      assertThat(file.statistics().file().bytesRead()).isGreaterThan(before.file().bytesRead());
    }
  }

  @Test
  void statisticsSayWhatWentThroughTheFile() {
    TableConfig config = config(2, Optimizer.sgd(1));
    int record = RowLayout.idOffset(config) + Long.BYTES;
    try (EmbeddingTable file = tiered(config, least(config))) {
      insert(file, 0, BATCH);
      TableStatistics first = file.statistics();
      assertThat(first.file()).isEqualTo(FileStatistics.NONE);
      assertThat(first.probes()).isBetween(1.0, 1.2);
      insert(file, BATCH, 20_000);
      TableStatistics spilled = file.statistics();
      assertThat(List.of(spilled.rows(), spilled.admitted())).containsOnly(20_000L);
      FileStatistics there = spilled.file();
      assertThat(there.rows()).isEqualTo(there.spilled()).isGreaterThan(10_000);
      assertThat(there.fetched()).isZero();
      assertThat(there.bytes()).isPositive().isGreaterThanOrEqualTo(there.rows() * record);
      // A partition is written anew with the rows that join it, after those in it were read.
      assertThat(there.bytesWritten() % record).isZero();
      long again = there.bytesWritten() - there.spilled() * record;
      assertThat(again).isPositive().isLessThanOrEqualTo(there.bytesRead());
      insert(file, 0, BATCH);
      FileStatistics fetched = file.statistics().file();
      assertThat(fetched.fetched()).isEqualTo(BATCH);
      assertThat(fetched.bytesRead()).isGreaterThanOrEqualTo(there.bytesRead() + BATCH * record);
      assertThat(file.statistics().probes()).isBetween(1.0, 1.2);
    }
  }

  /** Looks up known and unknown ids; returns how many floats are wrong. */
  private static int score(EmbeddingTable file, EmbeddingTable plain, int seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Allocator mine = Allocator.of(1 << 20);
    long got = mine.allocate(16L * BATCH, "got");
    long expected = mine.allocate(16L * BATCH, "expected");
    Lookup one = new Lookup();
    Lookup other = new Lookup();
    int wrong = 0;
    for (int i = 0; i < 100; i++) {
      long[] ids = random.longs(BATCH, -100, 4100).toArray();
      file.find(ids, BATCH, one, false);
      plain.find(ids, BATCH, other, false);
      ByAddress.ragged(file, one, got);
      ByAddress.ragged(plain, other, expected);
      wrong += one.isComplete() == other.isComplete() ? 0 : 1;
      for (int j = 0; j < 4 * BATCH; j++) {
        wrong += Memory.getInt(got + 4L * j) == Memory.getInt(expected + 4L * j) ? 0 : 1;
      }
    }
    mine.free(got);
    mine.free(expected);
    return wrong;
  }

  @Test
  void changesAreListedWhereverTheirRowsLie() {
    TableConfig config = config(2, Optimizer.sgd(1));
    try (EmbeddingTable file = tiered(config, least(config));
        EmbeddingTable plain = EmbeddingTable.create(config, allocator)) {
      insert(file, 0, 9000);
      insert(plain, 0, 9000);
      file.trackChanges();
      plain.trackChanges();
      SplittableRandom random = new SplittableRandom(3);
      Lookup one = new Lookup();
      Lookup other = new Lookup();
      for (int i = 0; i < 8; i++) {
        long[] ids = ids(random, 3000);
        file.find(ids, BATCH, one, true);
        plain.find(ids, BATCH, other, true);
        update(random, file, one, plain, other);
        insert(file, 9000 + 300 * i, 9300 + 300 * i);
        insert(plain, 9000 + 300 * i, 9300 + 300 * i);
      }
      assertThat(Changes.of(plain).all()).isFalse();
      assertThat(Changes.of(file).all()).isFalse();
      assertThat(Changes.of(file).rows()).isEqualTo(Changes.of(plain).rows());
      assertThat(Changes.of(file).gone()).isEmpty();
      long[] changed = Changes.of(file).rows();
      List<Long> exported = new ArrayList<>();
      file.exportTo(
          changed, (ids, _, count) -> Arrays.stream(ids, 0, count).forEach(exported::add));
      assertThat(exported).hasSize(changed.length);
    }
  }

  @Test
  void rowsAreImportedBeyondMemory() {
    TableConfig config = config(3, Optimizer.rowWiseAdagrad(1));
    long memory = 12 * least(config);
    try (EmbeddingTable plain = EmbeddingTable.create(config, allocator)) {
      insert(plain, -20_000, 20_000);
      try (EmbeddingTable file = tiered(config, memory)) {
        TableCopy.copyRows(plain, file);
        assertThat(file.bytes()).isLessThanOrEqualTo(memory);
        requireSameRows(file, plain);
      }
    }
  }

  @Test
  @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void blocksAreImportedBeyondMemory() {
    TableConfig config = config(5, Optimizer.adagrad(1));
    long memory = 3 * least(config);
    try (EmbeddingTable plain = EmbeddingTable.create(config, allocator)) {
      insert(plain, -20_000, 20_000);
      try (EmbeddingTable file = tiered(config, memory)) {
        BlockCopy.of(plain).importInto(file);
        assertThat(file.statistics().file().spilled()).isPositive();
        assertThat(file.bytes()).isLessThanOrEqualTo(memory);
        SoundTable.require(file.rows);
        requireSameRows(file, plain);
        update(new SplittableRandom(1), file, found(file), plain, found(plain));
        requireSameRows(file, plain);
      }
    }
  }

  private static Lookup found(EmbeddingTable table) {
    Lookup lookup = new Lookup();
    long[] ids = LongStream.range(-100, BATCH - 100).toArray();
    table.find(ids, BATCH, lookup, true);
    return lookup;
  }

  @Test
  void anImportNamesAnIdThatIsInTheFileAlready() {
    TableConfig config = config(2, Optimizer.sgd(1));
    try (EmbeddingTable file = tiered(config, 12 * least(config))) {
      int[] round = {0};
      assertThatThrownBy(() ->
              file.importFrom((ids, segment) -> {
                long at = segment.address();
                int first = 1000 * round[0]++ % 29_000;
                for (int i = 0; i < 1000; i++) {
                  ids[i] = first + i;
                  Memory.setLong(at + 8L * i, 0);
                }
                return 1000;
              }))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got id 0 twice in an import");
      assertThat(file.statistics().file().rows()).isPositive();
    }
  }

  @Test
  void aBatchOfMoreIdsThanMemoryHoldsIsRefusedAndNothingIsLost() {
    TableConfig config = config(2, Optimizer.sgd(1));
    try (EmbeddingTable file = tiered(config, least(config));
        EmbeddingTable plain = EmbeddingTable.create(config, allocator)) {
      insert(file, 0, 3000);
      insert(plain, 0, 3000);
      long[] many = LongStream.range(0, 2000).toArray();
      assertThatThrownBy(() -> file.find(many, many.length, new Lookup(), true))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("table t: got a batch of more different ids than the")
          .hasMessageContaining("give the table more memory");
      requireSameRows(file, plain);
    }
  }

  @Test
  void aFilterThatOutgrowsTheMemoryIsAnError() {
    RowPolicy counts = RowPolicy.ALL.withAdmission(new Admission.ByCount(2, 100));
    TableConfig config = config(2, Optimizer.sgd(1), UnknownRow.ZEROS, DType.F32, counts);
    FileTier tier = FileTier.of(folder, least(config) + 3000);
    try (EmbeddingTable file = EmbeddingTable.create(config, tier, allocator)) {
      assertThatThrownBy(() -> insert(file, 0, 100_000))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("table t filter: got")
          .hasMessageContaining("expect as many ids as there are");
      assertThat(file.bytes()).isLessThanOrEqualTo(tier.memory());
    }
    assertThat(tier.left()).isEqualTo(tier.memory());
  }

  @Test
  void idsWithoutARowWhenTheyWereLookedUpStaySoWhateverMoves() {
    RowPolicy counts = RowPolicy.ALL.withAdmission(new Admission.ByCount(2, 10_000));
    TableConfig config = config(2, Optimizer.adagrad(1), UnknownRow.ZEROS, DType.F32, counts);
    try (EmbeddingTable file = tiered(config, least(config) + 30_000);
        EmbeddingTable plain = EmbeddingTable.create(config, allocator)) {
      Lookup early = new Lookup();
      Lookup same = new Lookup();
      long[] ids = LongStream.range(0, BATCH).toArray();
      file.find(ids, BATCH, early, true);
      plain.find(ids, BATCH, same, true);
      assertThat(early.isComplete()).isFalse();
      for (int round = 0; round < 2; round++) {
        insert(file, 0, 4000);
        insert(plain, 0, 4000);
      }
      assertThat(file.statistics().file().spilled()).isPositive();
      file.refresh(early);
      plain.refresh(same);
      requireSamePooled(file, early, plain, same);
      update(new SplittableRandom(1), file, early, plain, same);
      requireSameRows(file, plain);
    }
  }

  @Test
  void aLookupWhoseRowsCouldNotBeReadAgainIsOfNoUse() throws Throwable {
    TableConfig config = config(2, Optimizer.adagrad(1));
    for (boolean updating : new boolean[] {true, false}) {
      try (EmbeddingTable file = tiered(config, least(config))) {
        insert(file, 0, 4000);
        long[] ids = LongStream.range(0, BATCH).toArray();
        Lookup lookup = new Lookup();
        file.find(ids, BATCH, lookup, false);
        assertThat(lookup.isComplete()).isTrue();
        assertThat(lookup.found.copied).isPositive();
        BrokenScratchFile.breakOpenOne();
        for (int attempt = 0; attempt < 2; attempt++) {
          assertThatThrownBy(
                  () -> {
                    if (updating) {
                      ByAddress.apply(
                          file, lookup, bags(), BATCH / 2, Combiner.SUM, gradients, 2, 0.1f, 1);
                    } else {
                      file.refresh(lookup);
                    }
                  })
              .hasMessageContaining(attempt == 0 ? "it cannot be read" : "call find first");
        }
        assertThatThrownBy(
                () -> ByAddress.pool(file, lookup, bags(), 0, BATCH / 2, Combiner.SUM, here, 2))
            .hasMessageContaining("call find first");
      }
    }
  }

  @Test
  void rowsOfATableWithAFileAreNotErased() {
    try (EmbeddingTable table = tiered(config(3, Optimizer.sgd(1)), 1 << 20)) {
      insert(table, 0, 3);
      assertThatThrownBy(() -> table.erase(new long[] {1}, 1))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("which stay for good; keep rows in memory");
      assertThat(table.size()).isEqualTo(3);
    }
  }

  @Test
  void tablesOfOneTierShareItsMemoryAndGiveItBack() {
    TableConfig config = config(4, Optimizer.adagrad(1));
    FileTier tier = FileTier.of(folder, 20 * least(config));
    try (EmbeddingTable large = EmbeddingTable.create(config, tier, allocator);
        EmbeddingTable small = EmbeddingTable.create(config, tier, allocator);
        EmbeddingTable plain = EmbeddingTable.create(config, allocator)) {
      for (long from = 0; from < 40_000; from += 1000) {
        insert(large, from, from + 1000);
        insert(small, from / 4, from / 4 + 250);
        insert(plain, from / 4, from / 4 + 250);
        assertThat(large.bytes() + small.bytes()).isLessThanOrEqualTo(tier.memory());
      }
      assertThat(tier.left()).isLessThan(tier.memory() / 50);
      assertThat(large.statistics().file().rows()).isPositive();
      assertThat(large.bytes()).isGreaterThan(2 * small.bytes());
      requireSameRows(small, plain);
    }
    assertThat(tier.left()).isEqualTo(tier.memory());
  }
}
