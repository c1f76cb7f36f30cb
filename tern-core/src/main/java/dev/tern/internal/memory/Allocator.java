package dev.tern.internal.memory;

import dev.tern.internal.memory.AllocationHistory.Action;
import dev.tern.internal.memory.MemoryStatistics.Quantity;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import jdk.jfr.FlightRecorder;

/**
 * Off-heap memory under a hard budget. Blocks are 64-byte aligned and placed by best fit in
 * reserved address space ({@link BlockArena}); free neighbours become one. The allocator puts
 * memory behind addresses in large steps. The budget, in whole pages, bounds that memory. A freed
 * block keeps its memory for the next request, unless it is larger than a quarter of the budget.
 *
 * <p>A request is served from the first of these that has enough: a block of its size that the
 * thread's {@link Magazine} keeps; a free place with memory; blocks that any magazine keeps; memory
 * behind other free places; new memory. Otherwise it is refused.
 *
 * <p>The contents of a new block are undefined. Thread-safe. Sizes are bytes. In the checked mode
 * of {@link Memory} counts and budgets stay the same, but blocks lie elsewhere ({@link
 * GuardedBlocks}).
 */
public final class Allocator implements AutoCloseable {
  private static final int HOLDERS_NAMED = 5;
  private static final int EVENTS_NAMED = 6;

  /** The distance, in magazines, between threads that run at the same time. */
  private static final int APART = 4;

  private final long budget;
  private final Magazine[] magazines;

  /**
   * How often a thread has changed its magazine because others used it at the same time, by the
   * last bits of the thread's number. A lost count does no harm.
   */
  private final short[] moved = new short[1024];

  /** Magazines lie {@link #APART} for 2 to the power of this many successive threads. */
  private final int rounds;

  /** Guarded by its own monitor. A thread locks the pool first and magazines after it. */
  private final Pool pool;

  private final AllocationHistory history = new AllocationHistory();
  private final Magazine.Sink giveBack;
  private final GuardedBlocks guarded = new GuardedBlocks();
  private final Backing backing;
  private long outOfMemory;
  private boolean closed;

  Allocator(long budget, Backing backing) {
    if (budget < 0) {
      throw new IllegalArgumentException(
          "memory budget: got " + budget + " bytes, expected at least 0; pass a size such as 2g");
    }
    this.budget = budget;
    this.backing = backing;
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

  /** An empty allocator of other memory than the system's. */
  public static Allocator of(long budgetBytes, Backing backing) {
    return new Allocator(budgetBytes, backing);
  }

  /** An allocator that places and counts blocks, but has no memory behind their addresses. */
  public static Allocator rehearsal(long budgetBytes) {
    return new Allocator(budgetBytes, SystemMemory.NOTHING);
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
          "allocate: got %s bytes for %s, expected at least 0; check the sizes"
              .formatted(bytes, holder));
    }
    Magazine mine = magazine();
    // A size larger than any budget must not overflow.
    long size = BlockArena.rounded(Math.min(bytes, Long.MAX_VALUE / 2));
    long address = mine.take(size, bytes, holder);
    address = address != 0 ? address : allocateAnew(size, bytes, holder, mine);
    if (!isGuarded()) {
      return address;
    }
    return backing.isReplaceable()
        ? guarded.guard(address, bytes, holder)
        : guarded.watch(address, bytes, holder);
  }

  /**
   * Gives a block back.
   *
   * @param block its address
   * @throws IllegalStateException when there is no live block at the address: it was never
   *     allocated here, lies inside a block, or was freed before
   */
  public void free(long block) {
    long address = isGuarded() ? guarded.release(block) : block;
    Magazine mine = magazine();
    long handle = mine.free(address);
    for (int i = 0; handle == Magazine.UNKNOWN && i < magazines.length; i++) {
      handle = magazines[i] == mine ? handle : magazines[i].free(address);
    }
    if (handle == Magazine.UNKNOWN) {
      synchronized (pool) {
        requireOpen("free");
      }
      throw new IllegalStateException(
          "free: got 0x%x, which is not live, expected a live block; free each block once"
              .formatted(address));
    }
    if (handle != Magazine.KEPT) {
      synchronized (pool) {
        if (!closed) {
          pool.free(address, handle);
        }
      }
    }
  }

  /** Gives the memory of all free places back to the system; returns its bytes. */
  public long trim() {
    synchronized (pool) {
      long before = pool.reserved().current();
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

  /** What was counted so far. */
  public MemoryStatistics statistics() {
    return still(this::count);
  }

  /**
   * Records the last {@code events} events from now on, about 30 bytes each; 0 ends the recording.
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

  /** All memory and the blocks in it at one moment; threads that allocate meanwhile wait. */
  public MemorySnapshot snapshot() {
    return still(() ->
        new MemorySnapshot(
            backing.device(),
            budget,
            count(),
            pool.describe(liveBlocks()),
            history.last(Integer.MAX_VALUE),
            history.count()));
  }

  /** All live blocks by address; under all locks. */
  private Map<Long, MemorySnapshot.Block> liveBlocks() {
    Map<Long, MemorySnapshot.Block> blocks = new HashMap<>();
    for (Magazine magazine : magazines) {
      magazine.describe(blocks);
    }
    return blocks;
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
    Quantity blocks = Quantity.NONE;
    Quantity allocated = Quantity.NONE;
    Quantity requested = Quantity.NONE;
    for (Magazine magazine : magazines) {
      blocks = blocks.plus(magazine.blocks);
      allocated = allocated.plus(magazine.allocated);
      requested = requested.plus(magazine.requested);
    }
    long most = pool.taken().peak();
    return new MemoryStatistics(
        blocks,
        allocated.withPeakAtMost(most),
        Quantity.NONE.plus(pool.reserved()),
        Quantity.NONE.plus(pool.inactive()),
        requested.withPeakAtMost(most),
        pool.retries(),
        outOfMemory,
        pool.systemCalls());
  }

  /** Bytes of all live blocks of one holder. */
  public record Holding(String holder, long bytes) {}

  /** Live bytes by holder, largest first, ties by name. */
  public List<Holding> holdings() {
    Map<String, Long> sums =
        still(this::liveBlocks).values().stream()
            .collect(
                Collectors.groupingBy(
                    MemorySnapshot.Block::holder,
                    Collectors.summingLong(MemorySnapshot.Block::bytes)));
    return sums.entrySet().stream()
        .map(sum -> new Holding(sum.getKey(), sum.getValue()))
        .sorted(Comparator.comparingLong(Holding::bytes).reversed().thenComparing(Holding::holder))
        .toList();
  }

  /** Gives all memory back to the system, live blocks included; the allocator is then unusable. */
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
      pool.close();
    }
    guarded.close();
  }

  /** The magazine of this thread. Threads with successive numbers have magazines far apart. */
  private Magazine magazine() {
    int thread = (int) Thread.currentThread().threadId();
    int moves = moved[thread & moved.length - 1];
    return magazines[thread * APART + (thread >>> rounds) + moves & magazines.length - 1];
  }

  /** Moves this thread to another magazine, unless it has tried them all. */
  private void moveOn() {
    int place = (int) Thread.currentThread().threadId() & moved.length - 1;
    if (moved[place] < magazines.length - 1) {
      moved[place]++;
    }
  }

  private boolean isGuarded() {
    return Memory.CHECKED && backing.isReadable();
  }

  private void requireOpen(String op) {
    if (closed) {
      throw new IllegalStateException(
          op + ": got a closed allocator, expected an open one; close it after its last user");
    }
  }

  private long allocateAnew(long size, long bytes, String holder, Magazine mine) {
    synchronized (pool) {
      requireOpen("allocate");
      if (size >= Pool.LARGE) {
        mine.drain(giveBack);
      }
      long address = pool.allocate(size);
      if (address == 0) {
        outOfMemory++;
        history.note(Action.OUT_OF_MEMORY, budget - live(), size, holder);
        throw outOfBudget(bytes, holder);
      }
      mine.add(address, size, bytes, pool.handle(), holder);
      // Without a recorder the class of the event stays unused: its first use starts one.
      if (FlightRecorder.isInitialized()) {
        AllocationEvent.note(holder, size, pool);
      }
      return address;
    }
  }

  /** Frees all blocks that magazines keep; false when they keep none. */
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
      text.append(
          holdings.stream()
              .limit(HOLDERS_NAMED)
              .map(h -> h.holder() + " " + h.bytes())
              .collect(Collectors.joining(", ", "; largest holders: ", "")));
    }
    appendLastEvents(text);
    pool.refusal().ifPresent(refusal -> text.append("; ").append(refusal));
    text.append("; raise the memory budget, or use a smaller batch, model or table");
    return new OutOfBudgetException(text.toString());
  }

  /** Appends what happened before the request, where a history is recorded. */
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
