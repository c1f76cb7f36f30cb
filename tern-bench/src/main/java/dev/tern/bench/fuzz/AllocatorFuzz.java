package dev.tern.bench.fuzz;

import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.BlockArena;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.memory.MemoryStatistics;
import dev.tern.internal.memory.OutOfBudgetException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Random use of an {@link Allocator} of a random budget by one to three threads, which free each
 * other's blocks, too. A thread writes marks at both ends of its blocks, which must stay until the
 * block is free. Counters must be exact, no two blocks may overlap, double frees must be refused
 * and requests only where the budget has no room, and in the end nothing may be held.
 *
 * <p>One instance is one allocator of one seed.
 */
final class AllocatorFuzz {
  private static final int OPERATIONS = 20_000;
  private static final int MOST_LIVE = 400;
  private static final long PAGE = 4096;

  private final SplittableRandom random;
  private final Allocator allocator;
  private final long unit;
  private final List<User> users = new ArrayList<>();

  /** Blocks that the next thread is to free. */
  private final ConcurrentLinkedQueue<Handed> handed = new ConcurrentLinkedQueue<>();

  private record Handed(long address, long bytes, int salt) {}

  AllocatorFuzz(long seed) {
    random = new SplittableRandom(seed);
    long budget = random.nextLong(64 << 10, 1L << random.nextInt(17, 25)) & -PAGE;
    // The granularity in which a budget is spent.
    unit = Math.max(PAGE, Long.highestOneBit(budget / 64));
    allocator = Allocator.of(budget);
    int threads = seed % 4 == 0 ? 3 : 1;
    for (int i = 0; i < threads; i++) {
      users.add(new User(i, new SplittableRandom(random.nextLong()), threads == 1));
    }
  }

  /** Allocator after allocator until {@code most} operations are done; prints what was done. */
  static void run(long most, long firstSeed, boolean json) {
    long start = System.nanoTime();
    long operations = 0;
    long refused = 0;
    long seed = firstSeed;
    for (; operations < most; seed++) {
      AllocatorFuzz fuzz = new AllocatorFuzz(seed);
      try {
        operations += fuzz.run(most);
        refused += fuzz.refused();
      } catch (RuntimeException | InterruptedException e) {
        throw new IllegalStateException(
            "fuzz: --allocator 1 --seed " + seed + ": " + e.getMessage(), e);
      }
    }
    System.out.printf(
        Locale.ROOT,
        json
            ? "{\"bench\":\"fuzz\",\"operations\":%d,\"allocators\":%d,\"refused\":%d,"
                + "\"seconds\":%.1f}%n"
            : "fuzz     %d operations on %d allocators, %d refused, none wrong, %.1f s%n",
        operations,
        seed - firstSeed,
        refused,
        (System.nanoTime() - start) / 1e9);
  }

  /** Random operations of all threads, at most {@code most} of each; returns how many. */
  long run(long most) throws InterruptedException {
    int count = (int) Math.min(most, OPERATIONS);
    if (users.size() == 1) {
      users.getFirst().work(count);
    } else {
      List<Thread> threads = new ArrayList<>();
      for (User user : users) {
        threads.add(Thread.ofPlatform().start(() -> user.workApart(count)));
      }
      for (Thread thread : threads) {
        thread.join();
      }
      for (User user : users) {
        if (user.failure.isPresent()) {
          throw user.failure.get();
        }
      }
    }
    finish();
    return (long) count * users.size();
  }

  private long refused() {
    return users.stream().mapToLong(user -> user.refused).sum();
  }

  private void freeHanded() {
    Handed block = handed.poll();
    if (block != null) {
      requireMarks(block.address, block.bytes, block.salt);
      allocator.free(block.address);
    }
  }

  /** What is live is apart and counted; once all is freed, nothing is held. */
  private void finish() {
    while (!handed.isEmpty()) {
      freeHanded();
    }
    TreeMap<Long, Long> live = new TreeMap<>();
    for (User user : users) {
      live.putAll(user.blocks);
    }
    long end = 0;
    long bytes = 0;
    for (Map.Entry<Long, Long> block : live.entrySet()) {
      require(block.getKey() >= end, "blocks overlap at 0x%x", block.getKey());
      end = block.getKey() + block.getValue();
      bytes += block.getValue();
    }
    require(allocator.live() == bytes, "%d bytes are counted, %d live", allocator.live(), bytes);
    live.keySet().forEach(allocator::free);
    allocator.trim();
    MemoryStatistics statistics = allocator.statistics();
    require(allocator.holdings().isEmpty(), "somebody holds %d bytes", allocator.live());
    require(
        statistics.allocations().current() == 0,
        "%d blocks leaked",
        statistics.allocations().current());
    require(allocator.live() == 0, "%d bytes leaked", allocator.live());
    require(
        allocator.statistics().reserved().current() == 0,
        "%d bytes stay mapped",
        allocator.statistics().reserved().current());
    require(
        statistics.reserved().peak() <= allocator.budget(),
        "%d bytes were held",
        statistics.reserved().peak());
    allocator.close();
  }

  /** A thread and its blocks. */
  private final class User {
    private final int salt;
    private final SplittableRandom random;
    private final boolean isAlone;

    /** Bytes by address. */
    private final TreeMap<Long, Long> blocks = new TreeMap<>();

    private long live;
    private long peak;
    private long refused;
    private Optional<RuntimeException> failure = Optional.empty();

    User(int salt, SplittableRandom random, boolean isAlone) {
      this.salt = salt;
      this.random = random;
      this.isAlone = isAlone;
    }

    void workApart(int count) {
      try {
        work(count);
      } catch (RuntimeException e) {
        failure = Optional.of(e);
      }
    }

    void work(int count) {
      for (int i = 0; i < count; i++) {
        int kind = random.nextInt(1000);
        if (kind < 520 && blocks.size() < MOST_LIVE || blocks.isEmpty()) {
          allocate();
        } else if (kind < 998) {
          free();
        } else {
          allocator.trim();
        }
        if (isAlone) {
          check();
        }
      }
    }

    private void allocate() {
      long asked = size();
      long bytes = BlockArena.rounded(asked);
      try {
        long address = allocator.allocate(asked, "fuzz");
        require(address % 64 == 0, "address 0x%x is not aligned", address);
        Map.Entry<Long, Long> below = blocks.lowerEntry(address + bytes);
        boolean isApart = below == null || below.getKey() + below.getValue() <= address;
        require(isApart, "block at 0x%x overlaps another", address);
        blocks.put(address, bytes);
        mark(address, bytes, salt);
        live += bytes;
        peak = Math.max(peak, live);
      } catch (OutOfBudgetException e) {
        refused++;
        if (isAlone) {
          allocator.trim();
          long room = allocator.budget() - allocator.statistics().reserved().current();
          require(bytes + 2 * unit > room, "%d bytes were refused with room for %d", bytes, room);
        }
      }
    }

    private void free() {
      long low = blocks.firstKey();
      long from = low + random.nextLong(blocks.lastKey() - low + 1);
      Map.Entry<Long, Long> found = blocks.ceilingEntry(from);
      Map.Entry<Long, Long> block = found == null ? blocks.firstEntry() : found;
      long address = block.getKey();
      long bytes = block.getValue();
      blocks.remove(address);
      requireMarks(address, bytes, salt);
      live -= bytes;
      if (!isAlone && random.nextInt(3) == 0) {
        handed.add(new Handed(address, bytes, salt));
        freeHanded();
      } else {
        allocator.free(address);
      }
      if (isAlone && random.nextInt(50) == 0) {
        requireRefusal(address);
        requireRefusal(address + 64);
      }
    }

    private void requireRefusal(long address) {
      if (blocks.containsKey(address)) {
        return;
      }
      try {
        allocator.free(address);
      } catch (IllegalStateException e) {
        return;
      }
      require(false, "0x%x was freed, which is not live", address);
    }

    private void check() {
      MemoryStatistics statistics = allocator.statistics();
      MemoryStatistics.Quantity allocated = statistics.allocated();
      long counted = allocated.current();
      require(counted == live, "%d bytes are counted, %d live", counted, live);
      require(allocated.peak() == peak, "a peak of %d is counted, not %d", allocated.peak(), peak);
      require(statistics.outOfMemory() == refused, "%d refusals are missing", refused);
      long mapped = statistics.reserved().current();
      require(mapped >= live && mapped <= allocator.budget(), "%d bytes are mapped", mapped);
    }

    private long size() {
      long budget = allocator.budget();
      return switch (random.nextInt(40)) {
        case 0 -> random.nextLong(budget + budget / 8);
        case 1, 2 -> random.nextLong(budget / 8);
        case 3, 4, 5 -> random.nextLong(unit);
        case 6, 7, 8, 9, 10, 11, 12, 13, 14 -> 64L << random.nextInt(6);
        default -> random.nextLong(2000);
      };
    }
  }

  private static void mark(long address, long bytes, int salt) {
    Memory.setLong(address, MemoryFuzz.mix(address + salt));
    Memory.setLong(address + bytes - 8, MemoryFuzz.mix(bytes + salt));
  }

  private static void requireMarks(long address, long bytes, int salt) {
    boolean isIntact =
        Memory.getLong(address) == MemoryFuzz.mix(address + salt)
            && Memory.getLong(address + bytes - 8) == MemoryFuzz.mix(bytes + salt);
    require(isIntact, "block of %d bytes at 0x%x was written by another", bytes, address);
  }

  private static void require(boolean holds, String what, Object... numbers) {
    if (!holds) {
      throw new IllegalStateException("allocator: " + what.formatted(numbers));
    }
  }
}
