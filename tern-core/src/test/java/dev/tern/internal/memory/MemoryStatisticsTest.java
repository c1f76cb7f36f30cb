package dev.tern.internal.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What an allocator holds from the system, and what it says about it. */
final class MemoryStatisticsTest {
  private static final long MIB = 1 << 20;

  private record Block(long address, long bytes) {}

  @ParameterizedTest
  @EnumSource(SystemMemory.class)
  void countsMatchAModel(SystemMemory backing) {
    SplittableRandom random = new SplittableRandom(11);
    long[] model = new long[8]; // live, peak, taken, freed, requested, its peak, blocks, refused
    try (Allocator allocator = new Allocator(16 * MIB, backing)) {
      List<Block> live = new ArrayList<>();
      for (int i = 0; i < 20_000; i++) {
        if (random.nextInt(100) < 51) {
          long bytes = random.nextInt(30) == 0 ? random.nextLong(2 * MIB) : random.nextLong(9000);
          try {
            live.add(new Block(allocator.allocate(bytes, "x"), bytes));
            model[0] += BlockArena.rounded(bytes);
            model[2] += BlockArena.rounded(bytes);
            model[4] += bytes;
            model[6]++;
          } catch (OutOfBudgetException e) {
            model[7]++;
          }
        } else if (!live.isEmpty()) {
          Block block = live.remove(random.nextInt(live.size()));
          allocator.free(block.address);
          model[0] -= BlockArena.rounded(block.bytes);
          model[3] += BlockArena.rounded(block.bytes);
          model[4] -= block.bytes;
          model[6]--;
        }
        model[1] = Math.max(model[1], model[0]);
        model[5] = Math.max(model[5], model[4]);
        if (random.nextInt(500) == 0) {
          allocator.trim();
        }
        assertAgrees(allocator.statistics(), model, allocator.budget());
      }
      assertThat(model[7]).isPositive();
    }
  }

  private static void assertAgrees(MemoryStatistics statistics, long[] model, long budget) {
    assertThat(statistics.allocated())
        .isEqualTo(new MemoryStatistics.Quantity(model[0], model[1], model[2], model[3]));
    assertThat(statistics.requested().current()).isEqualTo(model[4]);
    assertThat(statistics.requested().peak()).isEqualTo(model[5]);
    assertThat(statistics.allocations().current()).isEqualTo(model[6]);
    assertThat(statistics.outOfMemory()).isEqualTo(model[7]);
    assertThat(statistics.retries()).isGreaterThanOrEqualTo(model[7]);
    MemoryStatistics.Quantity reserved = statistics.reserved();
    assertThat(reserved.current()).isBetween(model[0], reserved.peak());
    assertThat(reserved.peak()).isLessThanOrEqualTo(budget);
    assertThat(reserved.totalAllocated() - reserved.totalFreed()).isEqualTo(reserved.current());
    assertThat(statistics.inactiveSplit().current()).isBetween(0L, reserved.current() - model[0]);
  }

  @Test
  void trimGivesBackWhatIsFreeAndTheRestIsUsedAgain() {
    try (Allocator allocator = Allocator.of(64 * MIB)) {
      long[] blocks = new long[32];
      Arrays.setAll(blocks, i -> allocator.allocate(MIB, "x"));
      for (int i = 0; i < blocks.length; i += 2) {
        allocator.free(blocks[i]);
      }
      long held = allocator.statistics().reserved().current();
      Memory.setLong(blocks[1], 42);
      assertThat(allocator.trim()).isEqualTo(held - 16 * MIB);
      assertThat(allocator.statistics().reserved().current()).isEqualTo(16 * MIB);
      assertThat(allocator.trim()).isZero();
      assertThat(Memory.getLong(blocks[1])).isEqualTo(42);
      for (int i = 0; i < blocks.length; i += 2) {
        blocks[i] = allocator.allocate(MIB, "x");
        Memory.setLong(blocks[i] + MIB - 8, i);
      }
      assertThat(allocator.statistics().reserved().current()).isBetween(32 * MIB, 33 * MIB);
      Arrays.stream(blocks).forEach(allocator::free);
      allocator.trim();
      assertThat(allocator.statistics().reserved().current()).isZero();
    }
  }

  /** Every other block goes; what replaces them is larger, so that none of the gaps will do. */
  @Test
  void memoryOfGapsServesElsewhereBeforeMoreIsTaken() {
    try (Allocator allocator = Allocator.of(1L << 30)) {
      long[] blocks = new long[48];
      Arrays.setAll(blocks, i -> allocator.allocate(8 * MIB, "x"));
      for (int i = 0; i < blocks.length; i += 2) {
        allocator.free(blocks[i]);
      }
      for (int i = 0; i < 12; i++) {
        allocator.allocate(16 * MIB, "larger");
      }
      MemoryStatistics statistics = allocator.statistics();
      assertThat(statistics.allocated().peak()).isEqualTo(384 * MIB);
      assertThat(statistics.reserved().peak()).isLessThanOrEqualTo((384 + 16 + 2) * MIB);
    }
  }

  @Test
  void wholeBudgetServesThoughLiveBlocksLieInItsMidst() {
    try (Allocator allocator = Allocator.of(64 * MIB)) {
      long[] blocks = new long[64];
      Arrays.setAll(blocks, i -> allocator.allocate(MIB, "x"));
      for (int i = 0; i < blocks.length; i += 2) {
        allocator.free(blocks[i]);
      }
      long whole = allocator.allocate(32 * MIB, "in one piece");
      Memory.zero(whole, 32 * MIB);
      assertThat(allocator.statistics().reserved().current()).isEqualTo(64 * MIB);
      assertThatThrownBy(() -> allocator.allocate(1, "x")).isInstanceOf(OutOfBudgetException.class);
      assertThat(allocator.statistics().retries()).isEqualTo(2);
      assertThat(allocator.statistics().outOfMemory()).isEqualTo(1);
    }
  }

  @Tag("unchecked") // Checks take heap memory.
  @Test
  void warmAllocatorUsesNoHeapAndDoesNotCallTheSystem() {
    try (Allocator allocator = Allocator.of(64 * MIB)) {
      ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
      long[] live = new long[64];
      long least = Long.MAX_VALUE;
      churn(allocator, live);
      long calls = allocator.statistics().systemCalls();
      for (int i = 0; i < 200 && least > 0; i++) {
        long before = threads.getCurrentThreadAllocatedBytes();
        churn(allocator, live);
        least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
      }
      assertThat(least).isZero();
      assertThat(allocator.statistics().systemCalls()).isEqualTo(calls);
    }
  }

  private static void churn(Allocator allocator, long[] live) {
    int random = 12345;
    for (int i = 0; i < 20_000; i++) {
      random = random * 1103515245 + 12345;
      int slot = random >>> 26;
      if (live[slot] != 0) {
        allocator.free(live[slot]);
      }
      live[slot] = allocator.allocate(random >>> 8 & 65535, "x");
    }
    for (int slot = 0; slot < live.length; slot++) {
      if (live[slot] != 0) {
        allocator.free(live[slot]);
        live[slot] = 0;
      }
    }
  }

  @Test
  void blocksMayBeFreedByOtherThreadsButOnlyOnce() throws InterruptedException {
    try (Allocator allocator = Allocator.of(64 * MIB)) {
      for (int round = 0; round < 200; round++) {
        long block = allocator.allocate(1000 + round % 3 * MIB, "x");
        List<Thread> threads = new ArrayList<>();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        AtomicBoolean once = new AtomicBoolean();
        for (int i = 0; i < 2; i++) {
          threads.add(
              Thread.ofPlatform()
                  .start(() -> {
                    try {
                      allocator.free(block);
                      once.set(!once.get());
                    } catch (IllegalStateException e) {
                      failure.set(e);
                    }
                  }));
        }
        for (Thread thread : threads) {
          thread.join();
        }
        assertThat(once).isTrue();
        assertThat(failure.get()).hasMessageContaining("free each block once");
        assertThat(allocator.live()).isZero();
      }
    }
  }

  @Test
  void requestBeyondAllAddressesIsRefused() {
    try (Allocator allocator = Allocator.of(Long.MAX_VALUE)) {
      assertThatThrownBy(() -> allocator.allocate(Long.MAX_VALUE, "x"))
          .isInstanceOfAny(IllegalStateException.class, OutOfBudgetException.class);
      assertThatThrownBy(() -> allocator.allocate(1L << 60, "x"))
          .isInstanceOfAny(IllegalStateException.class, OutOfBudgetException.class);
      allocator.free(allocator.allocate(100, "x"));
    }
  }
}
