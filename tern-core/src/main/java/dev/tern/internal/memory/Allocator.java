package dev.tern.internal.memory;

import dev.tern.internal.memory.AllocationHistory.Action;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Off-heap memory under a hard budget. Blocks are 64-byte aligned and taken by best fit from
 * reserved address space ({@link BlockArena}); neighbours that are both free become one. Memory is
 * put behind addresses in large steps, and the budget, in whole pages, bounds that memory. Freed
 * blocks keep theirs for the next request, except for those of more than a quarter of the budget.
 *
 * <p>A request is served by, in turn: a block of its size that the thread's {@link Magazine} keeps;
 * a free place with memory; what all magazines keep; memory behind other free places; new memory;
 * what other streams still use. One that finds all of these wanting is refused.
 *
 * <p>Contents of a new block are undefined. Thread-safe. Sizes are bytes.
 */
public final class Allocator implements AutoCloseable {
  private static final int HOLDERS_NAMED = 5;
  private static final int EVENTS_NAMED = 6;

  /** How far apart the magazines of threads lie that run at the same time. */
  private static final int APART = 4;

  private final long budget;
  private final Magazine[] magazines;

  /**
   * By the last bits of a thread's number: how often it left a magazine that others used at the
   * same time. A lost count does no harm.
   */
  private final short[] moved = new short[1024];

  /** The logarithm of how many threads have magazines that are {@link #APART}. */
  private final int rounds;

  /** Guarded by itself; whoever holds it may lock a magazine, never the other way round. */
  private final Pool pool;

  private final AllocationHistory history = new AllocationHistory();
  private final WaitingBlocks waiting = new WaitingBlocks(history);
  private final Magazine.Sink giveBack;
  private final GuardedBlocks guarded = new GuardedBlocks();
  private final boolean isRehearsal;
  private long outOfMemory;
  private long waits;
  private boolean closed;

  private Allocator(long budget, Backing backing) {
    if (budget < 0) {
      throw new IllegalArgumentException(
          "memory budget: got " + budget + " bytes, expected at least 0; pass a size such as 2g");
    }
    this.budget = budget;
    isRehearsal = backing == SystemMemory.NOTHING;
    int threads = Integer.highestOneBit(Runtime.getRuntime().availableProcessors());
    magazines = new Magazine[APART * threads];
    rounds = Integer.numberOfTrailingZeros(threads);
    pool = new Pool(budget, backing, this::recall, history);
    giveBack = pool::free;
    for (int i = 0; i < magazines.length; i++) {
      magazines[i] = new Magazine(pool.exceptional(), history, this::moveOn);
    }
  }

  /** An empty allocator that never holds more than {@code budgetBytes}, in whole pages. */
  public static Allocator of(long budgetBytes) {
    return new Allocator(budgetBytes, SystemMemory.best());
  }

  /** One that does and counts all the same, without memory behind the addresses it gives. */
  public static Allocator rehearsal(long budgetBytes) {
    return new Allocator(budgetBytes, SystemMemory.NOTHING);
  }

  static Allocator of(long budgetBytes, Backing backing) {
    return new Allocator(budgetBytes, backing);
  }

  /**
   * A block of at least {@code bytes} (0 is legal and gives a block of its own), 64-byte aligned.
   *
   * @param holder who holds it, for messages and reports; many blocks may share a holder
   * @throws OutOfBudgetException when the budget has no room for it
   */
  public long allocate(long bytes, String holder) {
    if (bytes < 0) {
      throw new IllegalArgumentException(
          "allocate: got "
              + bytes
              + " bytes for "
              + holder
              + ", expected at least 0; check the sizes");
    }
    Magazine mine = magazine();
    // What is larger than any budget must not overflow.
    long size = BlockArena.rounded(Math.min(bytes, Long.MAX_VALUE / 2));
    long address = mine.take(size, bytes, holder);
    address = address != 0 ? address : allocateAnew(size, bytes, holder, mine);
    return isGuarded() ? guarded.guard(address, bytes, holder) : address;
  }

  /**
   * Gives a block back.
   *
   * @throws IllegalStateException when {@code address} is not that of a live block: never allocated
   *     here, inside a block, or freed before
   */
  public void free(long block) {
    long address = isGuarded() ? guarded.release(block) : block;
    Magazine mine = magazine();
    long handle = mine.free(address);
    for (int i = 0; handle == Magazine.UNKNOWN && i < magazines.length; i++) {
      handle = magazines[i] == mine ? handle : magazines[i].free(address);
    }
    requireKnown(handle, address);
    if (handle != Magazine.KEPT) {
      synchronized (pool) {
        if (!closed) {
          pool.free(address, handle);
        }
      }
    }
  }

  /**
   * Gives a block back that another stream still uses: it serves again once {@code event} is over.
   * Until then it is active, though not live; a request that finds no room otherwise waits for it.
   *
   * @throws IllegalStateException as by {@link #free}
   */
  public void freeAfter(long given, Event event) {
    long address = isGuarded() ? guarded.counted(given) : given;
    Optional<Magazine.Leaving> block = Optional.empty();
    for (int i = 0; block.isEmpty() && i < magazines.length; i++) {
      block = magazines[i].remove(address);
    }
    requireKnown(block.map(Magazine.Leaving::handle).orElse(Magazine.UNKNOWN), address);
    synchronized (pool) {
      if (!closed) {
        waiting.add(block.orElseThrow(), event);
      }
    }
  }

  /** A point in the work of a stream. Methods may be called by any thread. */
  public interface Event {
    /** True once the work before it is done, from then on. */
    boolean isOver();

    /** Waits for that. */
    void await();
  }

  /** Gives the memory of all free places back to the system; returns its bytes. */
  public long trim() {
    synchronized (pool) {
      long before = pool.reserved().current();
      waiting.collect(giveBack);
      recall();
      pool.release(Long.MAX_VALUE);
      return before - pool.reserved().current();
    }
  }

  /** The most bytes that may be held from the system. */
  public long budget() {
    return budget;
  }

  /** Bytes in live blocks, each rounded up to 64. */
  public long live() {
    return statistics().allocated().current();
  }

  /** The largest value {@link #live} ever had. */
  public long peak() {
    return statistics().allocated().peak();
  }

  /** Bytes held from the system: live blocks and the memory behind free places. */
  public long mapped() {
    synchronized (pool) {
      return pool.reserved().current();
    }
  }

  /** How often memory or address space was taken from the system or given back. */
  public long systemCalls() {
    synchronized (pool) {
      return pool.systemCalls();
    }
  }

  /** What was counted so far. */
  public MemoryStatistics statistics() {
    return still(this::count);
  }

  /** Has all {@link MemoryStatistics.Quantity#peak} begin anew from what is now. */
  public void resetPeaks() {
    still(() -> {
      for (Magazine magazine : magazines) {
        magazine.resetPeaks();
      }
      waiting.bytes().resetPeak();
      pool.resetPeaks();
      return this;
    });
  }

  /**
   * Keeps the last {@code events} events from now on, about 30 bytes each; 0 ends that.
   *
   * @throws IllegalArgumentException for less than 0, or more than 16 million
   */
  public void recordHistory(int events) {
    synchronized (pool) {
      if (events == 0) {
        history.stop();
      } else {
        history.start(events);
      }
      for (Magazine magazine : magazines) {
        magazine.record();
      }
    }
  }

  /** All memory and what is in it, while nothing changes; what allocates meanwhile waits. */
  public MemorySnapshot snapshot() {
    return still(() -> {
      Map<Long, MemorySnapshot.Block> known = new HashMap<>();
      for (Magazine magazine : magazines) {
        magazine.describe(known);
      }
      waiting.describe(known);
      return new MemorySnapshot(
          budget, count(), pool.describe(known), history.last(Integer.MAX_VALUE), history.count());
    });
  }

  /** Does {@code work} under all locks. */
  private <T> T still(Supplier<T> work) {
    synchronized (pool) {
      for (Magazine magazine : magazines) {
        magazine.lock();
      }
      try {
        return work.get();
      } finally {
        for (Magazine magazine : magazines) {
          magazine.unlock();
        }
      }
    }
  }

  private MemoryStatistics count() {
    var nothing = new MemoryStatistics.Quantity(0, 0, 0, 0);
    MemoryStatistics.Quantity[] sums = {nothing, nothing, nothing};
    for (Magazine magazine : magazines) {
      magazine.read((blocks, bytes, requested) -> {
        sums[0] = sums[0].plus(MemoryStatistics.Quantity.of(blocks));
        sums[1] = sums[1].plus(MemoryStatistics.Quantity.of(bytes));
        sums[2] = sums[2].plus(MemoryStatistics.Quantity.of(requested));
      });
    }
    long most = pool.taken().peak();
    MemoryStatistics.Quantity allocated = sums[1].withPeakAtMost(most);
    return new MemoryStatistics(
        sums[0],
        allocated,
        MemoryStatistics.Quantity.of(pool.reserved()),
        allocated.andStill(waiting.bytes()).withPeakAtMost(most),
        MemoryStatistics.Quantity.of(pool.inactive()),
        sums[2].withPeakAtMost(most),
        pool.retries(),
        outOfMemory,
        waits,
        pool.systemCalls());
  }

  /** What one holder has: the sum over its live blocks. */
  public record Holding(String holder, long bytes) {}

  /** Live bytes by holder, largest first, ties by name. */
  public List<Holding> holdings() {
    Map<String, Long> sums = new HashMap<>();
    for (Magazine magazine : magazines) {
      magazine.addHoldings(sums);
    }
    List<Holding> result = new ArrayList<>();
    sums.forEach((holder, bytes) -> result.add(new Holding(holder, bytes)));
    result.sort(Comparator.comparingLong(Holding::bytes).reversed().thenComparing(Holding::holder));
    return List.copyOf(result);
  }

  /**
   * Gives all memory back to the system, live blocks included, when no stream uses freed ones any
   * more; the allocator is then unusable.
   */
  @Override
  public void close() {
    synchronized (pool) {
      if (closed) {
        return;
      }
      closed = true;
      for (Magazine magazine : magazines) {
        magazine.close();
      }
    }
    // Nothing is added any more.
    while (waiting.first().isPresent()) {
      waiting.first().get().await();
      synchronized (pool) {
        waiting.collect(giveBack);
      }
    }
    synchronized (pool) {
      pool.close();
    }
    guarded.close();
  }

  /** That of this thread: threads of successive numbers have some that lie apart in the cache. */
  private Magazine magazine() {
    int thread = (int) Thread.currentThread().threadId();
    int moves = moved[thread & moved.length - 1];
    return magazines[thread * APART + (thread >>> rounds) + moves & magazines.length - 1];
  }

  /** This thread takes another magazine from now on, unless it has tried them all. */
  private void moveOn() {
    int place = (int) Thread.currentThread().threadId() & moved.length - 1;
    if (moved[place] < magazines.length - 1) {
      moved[place]++;
    }
  }

  private boolean isGuarded() {
    return Memory.CHECKED && !isRehearsal;
  }

  private void requireOpen(String op) {
    if (closed) {
      throw new IllegalStateException(
          op + ": got a closed allocator, expected an open one; close it after its last user");
    }
  }

  private void requireKnown(long handle, long address) {
    if (handle == Magazine.UNKNOWN) {
      synchronized (pool) {
        requireOpen("free");
      }
      throw new IllegalStateException(
          "free: got 0x%x, which is not live, expected a live block; free each block once"
              .formatted(address));
    }
  }

  private long allocateAnew(long size, long bytes, String holder, Magazine mine) {
    while (true) {
      Event event;
      synchronized (pool) {
        requireOpen("allocate");
        if (size >= Pool.LARGE) {
          mine.drain(giveBack);
        }
        waiting.collect(giveBack);
        long address = pool.allocate(size);
        if (address != 0) {
          mine.add(address, size, bytes, pool.handle(), holder);
          AllocationEvent.note(holder, size, pool);
          return address;
        }
        if (waiting.first().isEmpty() || size > budget) {
          outOfMemory++;
          history.note(Action.OUT_OF_MEMORY, budget - live(), size, holder);
          throw outOfBudget(bytes, holder);
        }
        event = waiting.first().get();
        waits++;
      }
      // Without the lock: the stream may need memory to get there.
      event.await();
    }
  }

  /** Frees what magazines keep; false when they keep nothing. */
  private boolean recall() {
    boolean any = false;
    for (Magazine magazine : magazines) {
      any |= magazine.drain(giveBack);
    }
    return any;
  }

  private OutOfBudgetException outOfBudget(long bytes, String holder) {
    StringBuilder text =
        new StringBuilder("allocate: got a request of %d bytes for %s".formatted(bytes, holder))
            .append(" with %d live and %d mapped".formatted(live(), pool.reserved().current()))
            .append(", expected at most %d bytes in all".formatted(budget));
    List<Holding> holdings = holdings();
    if (!holdings.isEmpty()) {
      text.append("; largest holders:");
      holdings.stream()
          .limit(HOLDERS_NAMED)
          .forEach(h -> text.append(" %s %d,".formatted(h.holder(), h.bytes())));
      text.setLength(text.length() - 1);
    }
    appendLastEvents(text);
    text.append("; raise the memory budget, or use a smaller batch, model or table");
    return new OutOfBudgetException(text.toString());
  }

  /** Where a history is kept: what happened before the request. */
  private void appendLastEvents(StringBuilder text) {
    List<AllocationHistory.Event> events = history.isOn() ? history.last(EVENTS_NAMED) : List.of();
    if (events.size() > 1) {
      text.append("; before it:");
      for (AllocationHistory.Event event : events.subList(0, events.size() - 1)) {
        String action = event.action().name().toLowerCase(Locale.ROOT);
        String of = event.holder().isEmpty() ? "" : " " + event.holder();
        text.append(" %s %d%s,".formatted(action, event.bytes(), of));
      }
      text.setLength(text.length() - 1);
    }
  }
}
