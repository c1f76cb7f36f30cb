package dev.tern.internal.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What users of other caching allocators reported; in brackets where. */
final class AllocatorIssuesTest {
  private static final long MIB = 1 << 20;

  /** Memory of the system that is refused once told so. */
  private static final class Refusing implements Backing {
    private boolean refuses;

    @Override
    public boolean isWhole() {
      return false;
    }

    @Override
    public long reserve(long bytes) {
      return SystemMemory.NOTHING.reserve(bytes);
    }

    @Override
    public int commit(long address, long bytes) {
      if (refuses) {
        throw Pages.refused("commit", bytes);
      }
      return SystemMemory.NOTHING.commit(address, bytes);
    }

    @Override
    public int decommit(long address, long bytes) {
      return SystemMemory.NOTHING.decommit(address, bytes);
    }

    @Override
    public int unreserve(long address, long bytes) {
      return SystemMemory.NOTHING.unreserve(address, bytes);
    }
  }

  /** [pytorch#35901] An 11 GiB segment was cut up by small blocks, and half the card was lost. */
  @Test
  void smallBlocksInTheMemoryOfALargeOneDoNotSpoilIt() {
    try (Allocator allocator = Allocator.of(64 * MIB)) {
      long large = allocator.allocate(48 * MIB, "large");
      allocator.free(large);
      List<Long> between = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        allocator.allocate(64 << 10, "small, stays");
        between.add(allocator.allocate(MIB, "goes"));
      }
      between.forEach(allocator::free);
      long rest = allocator.allocate(52 * MIB, "large");
      Memory.zero(rest, 52 * MIB);
    }
  }

  /** The same where memory comes in huge pages, each held by a small block until it must not be. */
  @Test
  void hugePagesThatSmallBlocksHoldServeBeforeARequestIsRefused() {
    try (Allocator allocator = Allocator.rehearsal(1L << 30)) {
      List<Long> between = new ArrayList<>();
      for (int i = 0; i < 250; i++) {
        allocator.allocate(64, "small, stays");
        between.add(allocator.allocate(3 * MIB, "goes"));
      }
      between.forEach(allocator::free);
      allocator.allocate(960 * MIB, "large");
      assertThat(allocator.statistics().reserved().current()).isLessThanOrEqualTo(1L << 30);
      assertThatThrownBy(() -> allocator.allocate(64 * MIB, "too much"))
          .isInstanceOf(OutOfBudgetException.class);
    }
  }

  /** [pytorch#31252, #31353] Batches of other sizes needed the cache emptied in between. */
  @Test
  void batchesOfOtherSizesHoldNoMoreThanTheLargest() {
    try (Allocator allocator = Allocator.rehearsal(1L << 30)) {
      double[] scales = {1, 1.03, 0.97, 1.10, 1.06, 0.9, 1.08};
      for (double scale : scales) {
        List<Long> step = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
          long kept = allocator.allocate((long) (scale * MIB * (1 + i % 5)), "value");
          long scratch = allocator.allocate((long) (scale * MIB * (2 + i % 3)), "scratch");
          allocator.free(scratch);
          step.add(kept);
        }
        step.reversed().forEach(allocator::free);
      }
      MemoryStatistics statistics = allocator.statistics();
      double most = 1.02 * statistics.allocated().peak() + 16 * MIB;
      assertThat((double) statistics.reserved().peak()).isLessThanOrEqualTo(most);
    }
  }

  /** [vllm#52951, Fuser#5767] Each stream had a pool, and kept gigabytes from all others. */
  @Test
  void memoryThatThreadsFreedServesAnyOther() throws InterruptedException {
    try (Allocator allocator = Allocator.of(64 * MIB)) {
      for (int t = 0; t < 32; t++) {
        Thread thread =
            Thread.ofPlatform()
                .start(() -> {
                  long[] blocks = new long[24];
                  Arrays.setAll(blocks, i -> allocator.allocate(2 * MIB, "thread"));
                  Arrays.stream(blocks).forEach(allocator::free);
                });
        thread.join();
      }
      long whole = allocator.allocate(64 * MIB, "whole");
      Memory.zero(whole, 64 * MIB);
      allocator.free(whole);
      long small = allocator.allocate(MIB, "kept");
      Thread.ofPlatform().start(() -> allocator.free(small)).join();
      allocator.trim();
      assertThat(allocator.statistics().reserved().current()).isZero();
    }
  }

  /** [test_out_of_memory_retry] After a refusal all is as before, and smaller requests are met. */
  @Test
  void refusedRequestChangesNothingButItsCount() {
    try (Allocator allocator = Allocator.of(8 * MIB)) {
      long block = allocator.allocate(3 * MIB, "x");
      Memory.setLong(block, 42);
      MemoryStatistics before = allocator.statistics();
      assertThatThrownBy(() -> allocator.allocate(6 * MIB, "y"))
          .isInstanceOf(OutOfBudgetException.class);
      MemoryStatistics after = allocator.statistics();
      assertThat(after.allocated()).isEqualTo(before.allocated());
      assertThat(after.allocations()).isEqualTo(before.allocations());
      assertThat(after.requested()).isEqualTo(before.requested());
      assertThat(after.outOfMemory()).isEqualTo(1);
      long rest = allocator.allocate(5 * MIB, "y");
      Memory.zero(rest, 5 * MIB);
      assertThat(Memory.getLong(block)).isEqualTo(42);
    }
  }

  /** [pytorch#95823] 4 GiB and a little took 8, by powers of two. */
  @Test
  void requestTakesWhatItAsksForAndLessThanALine() {
    try (Allocator allocator = Allocator.rehearsal(1L << 30)) {
      long bytes = (257 << 20) + 1;
      allocator.allocate(bytes, "x");
      MemoryStatistics statistics = allocator.statistics();
      assertThat(statistics.requested().current()).isEqualTo(bytes);
      assertThat(statistics.allocated().current() - bytes).isBetween(0L, 63L);
      assertThat(statistics.reserved().current() - bytes).isBetween(0L, 2 * MIB);
    }
  }

  /** [pytorch#188008] After memory was mapped in part and refused, nothing worked any more. */
  @Test
  void refusalOfTheSystemLeavesAnAllocatorThatWorks() {
    Refusing system = new Refusing();
    try (Allocator allocator = new Allocator(64 * MIB, system)) {
      allocator.allocate(MIB, "before");
      system.refuses = true;
      assertThatThrownBy(() -> allocator.allocate(32 * MIB, "x"))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageStartingWith("commit: got a refusal");
      assertThat(allocator.live()).isEqualTo(MIB);
      assertThat(allocator.holdings()).containsExactly(new Allocator.Holding("before", MIB));
      system.refuses = false;
      allocator.allocate(63 * MIB, "x");
      assertThat(allocator.statistics().reserved().current()).isEqualTo(64 * MIB);
    }
  }

  /** [private pools, MemPool] */
  @Test
  void allocatorsShareNothing() {
    Allocator one = Allocator.of(8 * MIB);
    try (Allocator other = Allocator.of(8 * MIB)) {
      one.allocate(8 * MIB, "all of one");
      long block = other.allocate(8 * MIB, "all of the other");
      Memory.setLong(block, 42);
      assertThatThrownBy(() -> one.free(block)).hasMessageContaining("not live");
      one.close();
      assertThat(Memory.getLong(block)).isEqualTo(42);
      assertThat(other.live()).isEqualTo(8 * MIB);
    }
  }
}
