package dev.tern.internal.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class AllocatorTest {
  private static final long MIB = 1 << 20;

  @Tag("unchecked") // It writes what sizes are rounded up by.
  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void randomUseMatchesAModel(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    try (Allocator allocator = Allocator.of(64 * MIB)) {
      TreeMap<Long, Long> model = new TreeMap<>();
      long live = 0;
      long peak = 0;
      for (int step = 0; step < 20_000; step++) {
        if (random.nextInt(100) < 52) {
          long bytes = randomSize(random);
          try {
            long address = allocator.allocate(bytes, "fuzz");
            long rounded = rounded(bytes);
            assertThat(address % 64).isZero();
            assertDisjoint(model, address, rounded);
            model.put(address, rounded);
            stamp(address, rounded);
            live += rounded;
          } catch (OutOfBudgetException e) {
            assertThat(allocator.statistics().reserved().current() + rounded(bytes))
                .as("refused %d, live %d", bytes, live)
                .isGreaterThan(allocator.budget());
          }
        } else if (!model.isEmpty()) {
          long address = randomKey(model, random);
          long bytes = model.remove(address);
          assertStamped(address, bytes);
          allocator.free(address);
          live -= bytes;
        }
        peak = Math.max(peak, live);
        assertThat(allocator.live()).isEqualTo(live);
        assertThat(allocator.peak()).isEqualTo(peak);
        assertThat(allocator.statistics().reserved().current()).isBetween(live, allocator.budget());
      }
      model.keySet().forEach(allocator::free);
      assertThat(allocator.live()).isZero();
      assertThat(allocator.holdings()).isEmpty();
    }
  }

  @Test
  void freedNeighboursJoinSoThatTheWholeSlabIsReusable() {
    try (Allocator allocator = Allocator.of(64 << 10)) {
      List<Long> blocks = new ArrayList<>();
      for (int i = 0; i < 64; i++) {
        blocks.add(allocator.allocate(1024, "part"));
      }
      assertThat(allocator.live()).isEqualTo(64 << 10);
      for (int i = 1; i < 64; i += 2) {
        allocator.free(blocks.get(i));
      }
      assertThatThrownBy(() -> allocator.allocate(2048, "whole"))
          .isInstanceOf(OutOfBudgetException.class);
      for (int i = 0; i < 64; i += 2) {
        allocator.free(blocks.get(i));
      }
      allocator.free(allocator.allocate(64 << 10, "whole"));
      assertThat(allocator.peak()).isEqualTo(64 << 10);
    }
  }

  @Tag("unchecked") // Blocks lie elsewhere in checked mode.
  @Test
  void bestFitTakesTheSmallestHoleAndTheLowestOfEqualOnes() {
    try (Allocator allocator = Allocator.of(16 * MIB)) {
      long big = allocator.allocate(4096, "a");
      allocator.allocate(64, "wall");
      long small = allocator.allocate(1024, "b");
      allocator.allocate(64, "wall");
      long twin = allocator.allocate(1024, "c");
      allocator.allocate(64, "wall");
      allocator.free(twin);
      allocator.free(big);
      allocator.free(small);
      allocator.trim();
      assertThat(allocator.allocate(1000, "d")).isEqualTo(Math.min(small, twin));
      assertThat(allocator.allocate(1000, "d")).isEqualTo(Math.max(small, twin));
      assertThat(allocator.allocate(1000, "d")).isEqualTo(big + 4096 - 1024);
    }
  }

  @Test
  void requestOverTheBudgetNamesTheFiveLargestHolders() {
    try (Allocator allocator = Allocator.of(MIB)) {
      for (int i = 1; i <= 7; i++) {
        allocator.allocate(i * 1024, "table " + i);
      }
      assertThatThrownBy(() -> allocator.allocate(2 * MIB, "table 8"))
          .isInstanceOf(OutOfBudgetException.class)
          .hasMessage(
              "allocate: got a request of 2097152 bytes for table 8 with 28672 live and 65536"
                  + " mapped, expected at most 1048576 bytes in all; largest holders: table 7 7168,"
                  + " table 6 6144, table 5 5120, table 4 4096, table 3 3072; raise the memory"
                  + " budget, or use a smaller batch, model or table");
      assertThat(allocator.live()).isEqualTo(28672);
    }
  }

  @Test
  void hugeRequestDoesNotOverflow() {
    try (Allocator allocator = Allocator.of(Long.MAX_VALUE)) {
      assertThatThrownBy(() -> allocator.allocate(-1, "x"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got -1 bytes for x");
    }
    try (Allocator allocator = Allocator.of(MIB)) {
      assertThatThrownBy(() -> allocator.allocate(Long.MAX_VALUE, "x"))
          .isInstanceOf(OutOfBudgetException.class);
    }
  }

  @Test
  void wholeBudgetCanBeHandedOutTwiceInARow() {
    try (Allocator allocator = Allocator.of(32 * MIB)) {
      for (int i = 0; i < 3; i++) {
        long small = allocator.allocate(100, "small");
        allocator.free(small);
        long all = allocator.allocate(32 * MIB, "all");
        stamp(all, 32 * MIB);
        assertThatThrownBy(() -> allocator.allocate(1, "one"))
            .isInstanceOf(OutOfBudgetException.class);
        allocator.free(all);
        assertThat(allocator.statistics().reserved().current()).isZero();
      }
    }
  }

  @Test
  void freeRefusesWhatIsNotLive() {
    try (Allocator allocator = Allocator.of(MIB)) {
      long address = allocator.allocate(128, "x");
      assertThatThrownBy(() -> allocator.free(address + 64)).hasMessageContaining("not live");
      allocator.free(address);
      assertThatThrownBy(() -> allocator.free(address))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("free each block once");
      assertThatThrownBy(() -> allocator.free(0)).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void blocksOfNoBytesAreDistinct() {
    try (Allocator allocator = Allocator.of(MIB)) {
      long first = allocator.allocate(0, "x");
      long second = allocator.allocate(0, "x");
      assertThat(first).isNotEqualTo(second);
      assertThat(allocator.live()).isEqualTo(128);
    }
  }

  @Test
  void closedAllocatorRefusesUse() {
    Allocator allocator = Allocator.of(MIB);
    long address = allocator.allocate(1, "x");
    allocator.close();
    allocator.close();
    assertThatThrownBy(() -> allocator.allocate(1, "x")).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> allocator.free(address)).isInstanceOf(IllegalStateException.class);
    assertThat(allocator.live()).isZero();
  }

  @Test
  void manyThreadsShareOneAllocator() throws InterruptedException {
    AtomicReference<Throwable> failure = new AtomicReference<>();
    try (Allocator allocator = Allocator.of(64 * MIB)) {
      List<Thread> threads =
          IntStream.range(0, 4)
              .mapToObj(i -> Thread.ofPlatform().unstarted(() -> churn(allocator, i, failure)))
              .toList();
      threads.forEach(Thread::start);
      for (Thread thread : threads) {
        thread.join();
      }
      assertThat(failure.get()).isNull();
      assertThat(allocator.live()).isZero();
    }
  }

  private static void churn(Allocator allocator, int thread, AtomicReference<Throwable> failure) {
    try {
      SplittableRandom random = new SplittableRandom(thread);
      TreeMap<Long, Long> mine = new TreeMap<>();
      for (int step = 0; step < 5_000; step++) {
        if (mine.size() < 50 && random.nextBoolean() || mine.isEmpty()) {
          long bytes = rounded(random.nextInt(20_000));
          long address = allocator.allocate(bytes, "thread");
          mine.put(address, bytes);
          stamp(address, bytes);
        } else {
          long address = randomKey(mine, random);
          assertStamped(address, mine.remove(address));
          allocator.free(address);
        }
      }
      mine.keySet().forEach(allocator::free);
    } catch (Throwable e) {
      failure.compareAndSet(null, e);
    }
  }

  @Tag("unchecked") // Blocks lie elsewhere in checked mode.
  @Test
  void arenaPagesServeWhereThereIsNoMmap() {
    long address = SystemMemory.ARENAS.reserve(1000);
    assertThat(address % 64).isZero();
    stamp(address, 960);
    assertStamped(address, 960);
    assertThat(SystemMemory.ARENAS.unreserve(address, 1000)).isEqualTo(1);
  }

  private static long rounded(long bytes) {
    return Math.max(64, (bytes + 63) / 64 * 64);
  }

  private static long randomSize(SplittableRandom random) {
    return switch (random.nextInt(20)) {
      case 0 -> random.nextLong(8 * MIB);
      case 1, 2, 3 -> random.nextLong(256 << 10);
      default -> random.nextLong(5000);
    };
  }

  private static long randomKey(TreeMap<Long, Long> map, SplittableRandom random) {
    long low = map.firstKey();
    Long key = map.ceilingKey(low + random.nextLong(map.lastKey() - low + 1));
    return key == null ? low : key;
  }

  private static void assertDisjoint(TreeMap<Long, Long> model, long address, long bytes) {
    Map.Entry<Long, Long> below = model.floorEntry(address);
    Map.Entry<Long, Long> above = model.ceilingEntry(address);
    assertThat(below == null || below.getKey() + below.getValue() <= address).isTrue();
    assertThat(above == null || address + bytes <= above.getKey()).isTrue();
  }

  /** Writes the ends of a block: an overlap would destroy them. */
  private static void stamp(long address, long bytes) {
    Memory.setLong(address, address ^ bytes);
    Memory.setLong(address + bytes - 8, address + bytes);
  }

  private static void assertStamped(long address, long bytes) {
    assertThat(Memory.getLong(address)).isEqualTo(address ^ bytes);
    assertThat(Memory.getLong(address + bytes - 8)).isEqualTo(address + bytes);
  }
}
