package dev.tern.internal.table.tier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.memory.OutOfBudgetException;
import dev.tern.internal.memory.ScratchFile;
import dev.tern.internal.table.index.Hashing;
import dev.tern.internal.table.index.IdIndex;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Rows in a file against a map of them. */
final class ColdRowsTest {
  private static final int MOST = 4096;

  @TempDir private Path folder;

  private final Allocator allocator = Allocator.of(1L << 28);
  private final Map<Long, Long> expected = new HashMap<>();
  private ScratchFile file;
  private ColdRows cold;
  private final ArrayDeque<ColdMerge> begun = new ArrayDeque<>();
  private final Set<ColdMerge> run = new HashSet<>();
  private long buffer;
  private long memory;
  private int idOffset;

  /** Rows of the memory that are, or were, of merges. */
  private int used;

  @AfterEach
  void allMemoryIsGivenBack() {
    allocator.free(buffer);
    allocator.free(memory);
    cold.free();
    file.close();
    assertThat(allocator.live()).isZero();
  }

  private void open(int rowBytes, int bits) {
    idOffset = rowBytes;
    file = ScratchFile.in(folder, "test");
    cold = new ColdRows(rowBytes, bits, 1 << 13, file, allocator, "test");
    buffer = allocator.allocate(cold.blockBytes(), "test");
    memory = allocator.allocate((long) MOST * (rowBytes + 8), "test");
  }

  /** Undoes {@link Hashing#mix}. */
  private static long idOf(long hash) {
    long z = unshift(hash, 31) * inverse(0x94D049BB133111EBL);
    z = unshift(z, 27) * inverse(0xBF58476D1CE4E5B9L);
    return unshift(z, 30) - 0x9E3779B97F4A7C15L;
  }

  private static long unshift(long z, int shift) {
    long x = z;
    for (int done = shift; done < 64; done += shift) {
      x = z ^ (x >>> shift);
    }
    return x;
  }

  private static long inverse(long odd) {
    long x = odd;
    for (int i = 0; i < 6; i++) {
      x *= 2 - odd * x;
    }
    return x;
  }

  /** Begins to give the ids of some hashes rows whose bytes {@code value} stands for. */
  private void begin(int partition, TreeSet<Long> hashes, long value, int filterBits) {
    while (cold.merge(partition).isPresent()) {
      endFirst();
    }
    long[] sorted =
        hashes.stream().sorted(Long::compareUnsigned).mapToLong(Long::longValue).toArray();
    if (used + sorted.length > MOST) {
      endAll();
      used = 0;
    }
    long[] rows = new long[sorted.length];
    int replaced = 0;
    for (int i = 0; i < rows.length; i++) {
      rows[i] = memory + (long) used++ * (idOffset + 8);
      for (int j = 0; j < idOffset; j++) {
        Memory.setByte(rows[i] + j, content(sorted[i], value, j));
      }
      Memory.setLong(rows[i] + idOffset, idOf(sorted[i]));
      replaced += expected.put(sorted[i], value) == null ? 0 : 1;
    }
    ColdMerge.Rows leaving = new ColdMerge.Rows(sorted, rows, new int[rows.length]);
    begun.add(cold.begin(partition, leaving, replaced, filterBits));
    assertThat(cold.records()).isEqualTo(expected.size());
  }

  private void merge(int partition, TreeSet<Long> hashes, long value, int filterBits) {
    begin(partition, hashes, value, filterBits);
    endAll();
  }

  /** Runs a merge that has begun, if it was not yet. */
  private void run(ColdMerge merge) {
    if (run.add(merge)) {
      cold.run(merge);
    }
  }

  private void endFirst() {
    ColdMerge first = begun.remove();
    run(first);
    cold.end(first);
    for (int i = 0; i < first.count() * (idOffset + 8); i++) {
      Memory.setByte(first.address(0) + i, (byte) 0);
    }
  }

  private void endAll() {
    while (!begun.isEmpty()) {
      endFirst();
    }
  }

  private static byte content(long hash, long value, int column) {
    return (byte) (Hashing.mix(hash ^ value) + 31 * column);
  }

  private void requireAll() {
    expected.forEach((hash, value) -> {
      long record = cold.find(hash, idOf(hash), buffer);
      assertThat(record).isNotEqualTo(ColdRows.NONE);
      for (int j = 0; j < idOffset; j++) {
        assertThat(Memory.getByte(record + j)).isEqualTo(content(hash, value, j));
      }
    });
    List<Long> ids = new ArrayList<>();
    cold.forEachId(ids::add);
    assertThat(ids)
        .containsExactlyInAnyOrderElementsOf(
            expected.keySet().stream().map(ColdRowsTest::idOf).toList());
  }

  @Test
  void idsCanBeMadeOfTheirHashes() {
    open(4, 0);
    LongStream.of(0, 1, -1, Long.MIN_VALUE, 12345)
        .forEach(hash -> assertThat(Hashing.mix(idOf(hash))).isEqualTo(hash));
  }

  @ParameterizedTest(name = "rows of {0} bytes, 2^{1} partitions, {2} bits of a filter")
  @CsvSource({
    "36, 0, 8",
    "1, 3, 8",
    "36, 15, 8",
    "2040, 2, 4",
    "2041, 1, 1",
    "5000, 2, 0",
    "7, 4, 0"
  })
  void recordsAreThoseOfTheLastMerge(int rowBytes, int bits, int filterBits) {
    open(rowBytes, bits);
    SplittableRandom random = new SplittableRandom(rowBytes);
    List<Long> universe = new ArrayList<>();
    for (int i = 0; i < 3000; i++) {
      universe.add(random.nextLong());
    }
    int found = 0;
    for (int round = 0; round < 40; round++) {
      Map<Integer, TreeSet<Long>> parts = new HashMap<>();
      for (int i = random.nextInt(100); i >= 0; i--) {
        long hash = universe.get(random.nextInt(universe.size()));
        parts.computeIfAbsent(cold.partition(hash), _ -> new TreeSet<>()).add(hash);
      }
      long value = round;
      parts.forEach((partition, hashes) -> begin(partition, hashes, value, filterBits));
      begun.stream().filter(_ -> random.nextBoolean()).forEach(this::run);
      for (int i = random.nextInt(begun.size() + 1); i > 0; i--) {
        endFirst();
      }
      if (round % 4 == 3) {
        requireAll();
        found += begun.size();
      }
    }
    assertThat(found).isPositive();
    endAll();
    requireAll();
    for (long hash : universe) {
      if (!expected.containsKey(hash)) {
        assertThat(cold.find(hash, idOf(hash), buffer)).isEqualTo(ColdRows.NONE);
      }
    }
  }

  @Test
  void recordsAreFoundWhereManyHashesShareTheirUpperHalf() {
    open(36, 2);
    int partition = 1;
    long low = partition << IdIndex.BUCKET_BITS - 2;
    TreeSet<Long> hashes = new TreeSet<>();
    for (long upper : new long[] {0, 7, 8, 0x80000000L, 0xFFFFFFFFL}) {
      for (int i = 0; i < 300; i++) {
        hashes.add(upper << 32 | (long) i << IdIndex.BUCKET_BITS | low);
      }
    }
    merge(partition, hashes, 1, ColdRows.FILTER_BITS);
    requireAll();
    for (long upper : new long[] {0, 6, 7, 9, 0x80000000L, 0xFFFFFFFFL}) {
      long absent = upper << 32 | 300L << IdIndex.BUCKET_BITS | low;
      assertThat(cold.find(absent, idOf(absent), buffer)).isEqualTo(ColdRows.NONE);
    }
  }

  @Test
  void theFilterKnowsOfMostIdsWithoutARecordThatTheyHaveNone() {
    open(4, 0);
    SplittableRandom random = new SplittableRandom(1);
    TreeSet<Long> hashes = new TreeSet<>();
    while (hashes.size() < MOST) {
      hashes.add(random.nextLong());
    }
    merge(0, hashes, 1, ColdRows.FILTER_BITS);
    int wrong = 0;
    for (int i = 0; i < 100_000; i++) {
      wrong += cold.mayHold(0, random.nextLong()) ? 1 : 0;
    }
    assertThat(wrong).isBetween(500, 5_000);
  }

  @Test
  void theFileStaysNearTheSizeOfItsRecords() {
    open(100, 4);
    SplittableRandom random = new SplittableRandom(2);
    for (int round = 0; round < 600; round++) {
      int partition = round % 16;
      TreeSet<Long> hashes = new TreeSet<>();
      for (int i = 0; i < 50 + random.nextInt(400); i++) {
        long id = Math.abs(random.nextLong() % 50_000);
        long hash = Hashing.mix(id);
        if (cold.partition(hash) == partition) {
          hashes.add(hash);
        }
      }
      if (!hashes.isEmpty()) {
        merge(partition, hashes, round, ColdRows.FILTER_BITS);
      }
    }
    assertThat(file.bytes()).isLessThan(2 * cold.records() * 108 + (2 << 20));
    requireAll();
  }

  @Test
  void whatCannotBeMadeHoldsNoMemory() {
    open(4, 0);
    try (Allocator small = Allocator.of(8192)) {
      assertThatThrownBy(() -> new ColdRows(4, 0, 1 << 13, file, small, "test"))
          .isInstanceOf(OutOfBudgetException.class);
      assertThat(small.live()).isZero();
    }
  }
}
