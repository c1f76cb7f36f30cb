package dev.tern.internal.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class BlockArenaTest {
  private static final BlockArena.End LOW = BlockArena.End.LOW;
  private static final BlockArena.End HIGH = BlockArena.End.HIGH;

  /** {@code -Dtern.arena.operations=10000000} runs the long form. */
  private static final int OPERATIONS = Integer.getInteger("tern.arena.operations", 200_000);

  /** A model: live blocks by offset, and what is free between them. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void randomUseMatchesAModel(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    long capacity = 64L * random.nextInt(100, 5000);
    BlockArena arena = new BlockArena(capacity + 63);
    TreeMap<Long, Long> model = new TreeMap<>();
    List<Long> handles = new ArrayList<>();
    long live = 0;
    for (int i = 0; i < OPERATIONS; i++) {
      if (random.nextInt(100) < 52) {
        long bytes = random.nextInt(10) == 0 ? random.nextInt(20_000) : random.nextInt(700);
        long size = BlockArena.rounded(bytes);
        boolean placed = random.nextInt(5) == 0;
        long at = 64L * random.nextInt((int) (capacity / 64));
        long handle =
            placed
                ? arena.allocateAt(at, bytes, i)
                : arena.allocate(bytes, random.nextBoolean() ? LOW : HIGH, i);
        boolean fits = placed ? isFree(model, at, size, capacity) : widest(model, capacity) >= size;
        assertThat(handle != BlockArena.NONE).as("seed %d step %d", seed, i).isEqualTo(fits);
        if (fits) {
          long offset = arena.offset(handle);
          assertThat(isFree(model, offset, size, capacity)).as("seed %d step %d", seed, i).isTrue();
          model.put(offset, size);
          handles.add(handle);
          live += size;
        }
      } else if (!handles.isEmpty()) {
        int index = random.nextInt(handles.size());
        long handle = handles.set(index, handles.getLast());
        handles.removeLast();
        live -= model.remove(arena.offset(handle));
        arena.free(handle);
        assertThatThrownBy(() -> arena.free(handle)).isInstanceOf(IllegalStateException.class);
      }
      if (random.nextInt(100) == 0) {
        arena.trim();
      }
      assertThat(arena.allocatedBytes().current()).isEqualTo(live);
      if (i % 1000 == 0) {
        assertWalkIsWhole(arena, model);
      }
    }
    handles.forEach(arena::free);
    arena.trim();
    assertThat(arena.allocatedBytes().current()).isZero();
    assertThat(arena.requestedBytes().current()).isZero();
    assertThat(arena.allocations().current()).isZero();
    assertThat(arena.reservedBytes().current()).isZero();
    assertThat(arena.size(arena.firstBlock())).isEqualTo(capacity);
  }

  private static boolean isFree(TreeMap<Long, Long> model, long at, long size, long capacity) {
    var below = model.floorEntry(at);
    var above = model.ceilingEntry(at);
    return at + size <= capacity
        && (below == null || below.getKey() + below.getValue() <= at)
        && (above == null || above.getKey() >= at + size);
  }

  private static long widest(TreeMap<Long, Long> model, long capacity) {
    long widest = 0;
    long end = 0;
    for (var block : model.entrySet()) {
      widest = Math.max(widest, block.getKey() - end);
      end = block.getKey() + block.getValue();
    }
    return Math.max(widest, capacity - end);
  }

  private static void assertWalkIsWhole(BlockArena arena, TreeMap<Long, Long> model) {
    long end = 0;
    long free = 0;
    int found = 0;
    int before = BlockArena.NONE;
    for (int block = arena.firstBlock(); block != BlockArena.NONE; block = arena.after(block)) {
      assertThat(arena.start(block)).isEqualTo(end);
      assertThat(arena.before(block)).isEqualTo(before);
      end += arena.size(block);
      if (arena.tag(block) == BlockArena.NONE) {
        free += arena.size(block);
      } else {
        assertThat(model).containsEntry(arena.start(block), arena.size(block));
        found++;
      }
      before = block;
    }
    assertThat(end).isEqualTo(arena.capacity());
    assertThat(found).isEqualTo(model.size());
    assertThat(free + arena.allocatedBytes().current()).isEqualTo(arena.capacity());
  }

  @Test
  void smallestHoleAndLowestOfEqualOnesIsTaken() {
    BlockArena arena = new BlockArena(1 << 20);
    long[] blocks = new long[7];
    long[] sizes = {256, 64, 128, 64, 128, 64, 1024};
    for (int i = 0; i < blocks.length; i++) {
      blocks[i] = arena.allocate(sizes[i], LOW, i);
    }
    arena.free(blocks[0]);
    long expected = arena.offset(blocks[2]);
    arena.free(blocks[4]);
    arena.free(blocks[2]);
    assertThat(arena.offset(arena.allocate(100, LOW, 9))).isEqualTo(expected);
  }

  @Test
  void endsKeepOutOfEachOthersWay() {
    BlockArena arena = new BlockArena(1 << 20);
    long low = arena.allocate(64, LOW, 0);
    long high = arena.allocate(64, HIGH, 1);
    assertThat(arena.offset(low)).isZero();
    assertThat(arena.offset(high)).isEqualTo((1 << 20) - 64);
    assertThat(arena.reservedBytes().current()).isEqualTo(128);
  }

  @Test
  void handleOfAFreedBlockIsRefusedAlsoWhenItsRowServesAgain() {
    BlockArena arena = new BlockArena(1 << 12);
    long first = arena.allocate(64, LOW, 0);
    arena.free(first);
    arena.allocate(64, LOW, 0);
    assertThatThrownBy(() -> arena.free(first))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("expected a live one");
    assertThatThrownBy(() -> arena.offset(first)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> arena.free(-1)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> arena.free(77)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void requestBeyondTheCapacityIsRefusedWithoutOverflow() {
    BlockArena arena = new BlockArena(1 << 12);
    assertThat(arena.allocate(Long.MAX_VALUE, LOW, 0)).isEqualTo(BlockArena.NONE);
    assertThat(arena.allocate((1 << 12) + 1, LOW, 0)).isEqualTo(BlockArena.NONE);
    assertThat(arena.allocate(1 << 12, LOW, 0)).isNotEqualTo(BlockArena.NONE);
    assertThat(arena.allocate(0, LOW, 0)).isEqualTo(BlockArena.NONE);
  }

  @Test
  void requestThatFoundNoPlaceFindsOneAfterAFree() {
    BlockArena arena = new BlockArena(1 << 12);
    long first = arena.allocate(3000, LOW, 0);
    long second = arena.allocate(1000, LOW, 1);
    assertThat(arena.allocate(1500, LOW, 2)).isEqualTo(BlockArena.NONE);
    arena.free(first);
    long third = arena.allocate(1500, LOW, 2);
    assertThat(arena.offset(third)).isZero();
    arena.free(second);
    arena.free(third);
    assertThat(arena.allocate(1 << 12, LOW, 3)).isNotEqualTo(BlockArena.NONE);
  }

  @Test
  void longLivedSmallBlocksDoNotSpoilTheSpaceOfLargeOnesAroundThem() {
    BlockArena arena = new BlockArena(1 << 20);
    for (int i = 0; i < 64; i++) {
      long large = arena.allocate(10_000 + 64 * i, LOW, i);
      arena.allocate(64, HIGH, i);
      arena.free(large);
    }
    assertThat(arena.allocate((1 << 20) - 64 * 64, LOW, 99)).isNotEqualTo(BlockArena.NONE);
  }

  @Test
  void freedTailIsGivenUpByTrimAndUsedAgainWithoutIt() {
    BlockArena arena = new BlockArena(1 << 20);
    long first = arena.allocate(1000, LOW, 0);
    arena.free(first);
    assertThat(arena.reservedBytes().current()).isEqualTo(1024);
    arena.free(arena.allocate(1500, LOW, 0));
    assertThat(arena.reservedBytes().current()).isEqualTo(1536);
    assertThat(arena.trim()).isEqualTo(1536);
    assertThat(arena.reservedBytes().current()).isZero();
    assertThat(arena.reservedBytes().peak()).isEqualTo(1536);
  }

  @Test
  void warmArenaUsesNoHeap() {
    BlockArena arena = new BlockArena(1 << 24);
    long[] handles = new long[256];
    churn(arena, handles, 20_000);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    churn(arena, handles, 20_000);
    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(1000);
  }

  /** Leaves nothing live. */
  private static void churn(BlockArena arena, long[] handles, int rounds) {
    int random = 12345;
    java.util.Arrays.fill(handles, BlockArena.NONE);
    for (int i = 0; i < rounds; i++) {
      random = random * 1103515245 + 12345;
      int slot = random >>> 24;
      if (handles[slot] != BlockArena.NONE) {
        arena.free(handles[slot]);
      }
      handles[slot] = arena.allocate(random >>> 16 & 8191, LOW, slot);
    }
    for (long handle : handles) {
      if (handle != BlockArena.NONE) {
        arena.free(handle);
      }
    }
  }
}
