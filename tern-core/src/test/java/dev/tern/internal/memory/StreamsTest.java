package dev.tern.internal.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Blocks that simulated streams use after they were freed. */
final class StreamsTest {
  private static final long MIB = 1 << 20;

  /** Work in order, which goes on when a test says so, or when somebody waits for it. */
  private static final class Stream {
    private int submitted;
    private int done;
    private int waits;

    Allocator.Event submit() {
      int at = ++submitted;
      return new Allocator.Event() {
        @Override
        public boolean isOver() {
          return done >= at;
        }

        @Override
        public void await() {
          waits++;
          done = Math.max(done, at);
        }
      };
    }
  }

  @Tag("unchecked") // Blocks lie elsewhere in checked mode.
  @Test
  void blockServesAgainOnlyWhenTheStreamIsDoneWithIt() {
    try (Allocator allocator = Allocator.of(64 * MIB)) {
      Stream stream = new Stream();
      long block = allocator.allocate(MIB, "x");
      allocator.freeAfter(block, stream.submit());
      long other = allocator.allocate(MIB, "x");
      assertThat(other).isNotEqualTo(block);
      stream.done++;
      assertThat(allocator.allocate(MIB, "x")).isEqualTo(block);
      assertThat(stream.waits).isZero();
    }
  }

  @Tag("unchecked") // Blocks lie elsewhere in checked mode.
  @Test
  void blockOfOneStreamServesAlthoughAnEarlierOneStillWaits() {
    try (Allocator allocator = Allocator.of(64 * MIB)) {
      Stream slow = new Stream();
      Stream fast = new Stream();
      long first = allocator.allocate(MIB, "x");
      long second = allocator.allocate(MIB, "x");
      allocator.freeAfter(first, slow.submit());
      allocator.freeAfter(second, fast.submit());
      fast.done++;
      assertThat(allocator.allocate(MIB, "x")).isEqualTo(second);
    }
  }

  @Test
  void requestWithoutRoomWaitsForAStreamInsteadOfFailing() {
    try (Allocator allocator = Allocator.of(8 * MIB)) {
      Stream stream = new Stream();
      long[] blocks = new long[8];
      for (int i = 0; i < blocks.length; i++) {
        blocks[i] = allocator.allocate(MIB, "x");
      }
      for (long block : blocks) {
        allocator.freeAfter(block, stream.submit());
      }
      long whole = allocator.allocate(8 * MIB, "whole");
      Memory.zero(whole, 8 * MIB);
      assertThat(stream.waits).isEqualTo(8);
      assertThatThrownBy(() -> allocator.allocate(1, "x")).isInstanceOf(OutOfBudgetException.class);
      assertThat(allocator.statistics().outOfMemory()).isEqualTo(1);
    }
  }

  @Test
  void requestWaitsNoLongerThanUntilItHasRoom() {
    try (Allocator allocator = Allocator.of(8 * MIB)) {
      Stream stream = new Stream();
      long[] blocks = new long[8];
      for (int i = 0; i < blocks.length; i++) {
        blocks[i] = allocator.allocate(MIB, "x");
      }
      for (long block : blocks) {
        allocator.freeAfter(block, stream.submit());
      }
      allocator.allocate(2 * MIB, "x");
      assertThat(stream.waits).isEqualTo(2);
      assertThatThrownBy(() -> allocator.allocate(9 * MIB, "x"))
          .isInstanceOf(OutOfBudgetException.class);
      assertThat(stream.waits).isEqualTo(2);
    }
  }

  @Test
  void blockThatWaitsIsFreedAndActive() {
    try (Allocator allocator = Allocator.of(64 * MIB)) {
      Stream stream = new Stream();
      long block = allocator.allocate(1000, "x");
      allocator.freeAfter(block, stream.submit());
      MemoryStatistics statistics = allocator.statistics();
      assertThat(statistics.allocated().current()).isZero();
      assertThat(statistics.active()).isEqualTo(new MemoryStatistics.Quantity(1024, 1024, 1024, 0));
      assertThat(allocator.holdings()).isEmpty();
      assertThatThrownBy(() -> allocator.free(block)).hasMessageContaining("free each block once");
      assertThatThrownBy(() -> allocator.freeAfter(block, stream.submit()))
          .hasMessageContaining("free each block once");
      stream.done++;
      allocator.trim();
      assertThat(allocator.statistics().active())
          .isEqualTo(new MemoryStatistics.Quantity(0, 1024, 1024, 1024));
      assertThat(allocator.mapped()).isZero();
    }
  }

  @Test
  void closeWaitsForStreams() {
    Allocator allocator = Allocator.of(64 * MIB);
    Stream stream = new Stream();
    allocator.freeAfter(allocator.allocate(1000, "x"), stream.submit());
    allocator.freeAfter(allocator.allocate(1000, "x"), stream.submit());
    allocator.close();
    assertThat(stream.done).isEqualTo(2);
    long any = 64;
    assertThatThrownBy(() -> allocator.freeAfter(any, stream.submit()))
        .hasMessageContaining("closed allocator");
  }

  /** The stream's work allocates before it is done with the block that the request waits for. */
  @Test
  void waitingRequestDoesNotKeepTheStreamFromAllocating() throws InterruptedException {
    try (Allocator allocator = Allocator.of(8 * MIB)) {
      CountDownLatch waits = new CountDownLatch(1);
      CountDownLatch over = new CountDownLatch(1);
      long small = allocator.allocate(100, "x");
      long block = allocator.allocate(7 * MIB, "x");
      allocator.free(small);
      allocator.freeAfter(
          block,
          new Allocator.Event() {
            @Override
            public boolean isOver() {
              return over.getCount() == 0;
            }

            @Override
            public void await() {
              waits.countDown();
              try {
                assertThat(over.await(1, TimeUnit.MINUTES)).isTrue();
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
            }
          });
      Thread stream =
          Thread.ofPlatform()
              .start(() -> {
                try {
                  waits.await();
                } catch (InterruptedException e) {
                  throw new IllegalStateException(e);
                }
                allocator.free(allocator.allocate(500, "stream"));
                over.countDown();
              });
      assertThat(allocator.allocate(7 * MIB, "y")).isPositive();
      stream.join();
    }
  }

  private record Block(long address, long bytes, int stream, int event) {}

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void noBlockThatAStreamUsesIsGivenToAnother(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Stream[] streams = {new Stream(), new Stream(), new Stream()};
    try (Allocator allocator = Allocator.of(4 * MIB)) {
      List<Block> live = new ArrayList<>();
      List<Block> used = new ArrayList<>();
      long bytes = 0;
      for (int i = 0; i < 10_000; i++) {
        if (random.nextInt(100) < 55) {
          long size = random.nextLong(random.nextInt(10) == 0 ? 400_000 : 9000);
          try {
            live.add(new Block(allocator.allocate(size, "x"), BlockArena.rounded(size), 0, 0));
            bytes += BlockArena.rounded(size);
          } catch (OutOfBudgetException e) {
            assertThat(stillUsed(used, streams)).as("seed %d step %d", seed, i).isEmpty();
          }
        } else if (!live.isEmpty()) {
          Block block = live.remove(random.nextInt(live.size()));
          bytes -= block.bytes;
          int stream = random.nextInt(streams.length);
          if (random.nextBoolean()) {
            allocator.free(block.address);
          } else {
            allocator.freeAfter(block.address, streams[stream].submit());
            used.add(new Block(block.address, block.bytes, stream, streams[stream].submitted));
          }
        }
        Stream any = streams[random.nextInt(streams.length)];
        if (random.nextInt(4) == 0 && any.done < any.submitted) {
          any.done++;
        }
        used = stillUsed(used, streams);
        assertApart(live, used);
        assertThat(allocator.live()).isEqualTo(bytes);
        assertThat(allocator.statistics().active().current())
            .isGreaterThanOrEqualTo(bytes + used.stream().mapToLong(Block::bytes).sum());
        assertThat(allocator.mapped()).isLessThanOrEqualTo(allocator.budget());
      }
      live.forEach(block -> allocator.free(block.address));
      for (Stream stream : streams) {
        stream.done = stream.submitted;
      }
      allocator.trim();
      assertThat(allocator.statistics().active().current()).isZero();
      assertThat(allocator.mapped()).isZero();
    }
  }

  private static List<Block> stillUsed(List<Block> used, Stream[] streams) {
    return new ArrayList<>(
        used.stream().filter(block -> streams[block.stream].done < block.event).toList());
  }

  private static void assertApart(List<Block> live, List<Block> used) {
    TreeMap<Long, Long> sorted = new TreeMap<>();
    live.forEach(block -> assertThat(sorted.put(block.address, block.bytes)).isNull());
    used.forEach(block -> assertThat(sorted.put(block.address, block.bytes)).isNull());
    long end = 0;
    for (var block : sorted.entrySet()) {
      assertThat(block.getKey()).isGreaterThanOrEqualTo(end);
      end = block.getKey() + block.getValue();
    }
  }
}
