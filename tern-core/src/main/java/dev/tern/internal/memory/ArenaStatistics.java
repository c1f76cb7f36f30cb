package dev.tern.internal.memory;

/**
 * What an arena counted, by the names and meaning of PyTorch's caching allocator. Bytes, except
 * where a name says otherwise.
 */
public final class ArenaStatistics {
  /** A quantity over time: its present and highest value, and the sums added and taken off. */
  public static final class Stat {
    private long peak;
    private long added;
    private long removed;

    /** The present value. */
    public long current() {
      return added - removed;
    }

    /** The highest value it had. */
    public long peak() {
      return peak;
    }

    /** The sum of all that was added. */
    public long totalAllocated() {
      return added;
    }

    /** The sum of all that was taken off. */
    public long totalFreed() {
      return removed;
    }

    void change(long by) {
      if (by < 0) {
        remove(-by);
      } else {
        add(by);
      }
    }

    void add(long by) {
      added += by;
      if (added - removed > peak) {
        peak = added - removed;
      }
    }

    void remove(long by) {
      removed += by;
    }

    void resetPeak() {
      peak = added - removed;
    }
  }

  private final Stat allocations = new Stat();
  private final Stat allocated = new Stat();
  private final Stat reserved = new Stat();
  private final Stat inactiveSplit = new Stat();
  private final Stat requested = new Stat();
  private long retries;
  private long outOfMemory;

  ArenaStatistics() {}

  /** Live blocks, a number. */
  public Stat allocations() {
    return allocations;
  }

  /** Bytes of live blocks, each rounded up to 64. */
  public Stat allocatedBytes() {
    return allocated;
  }

  /** How far blocks reach into the range, from both of its ends together. */
  public Stat reservedBytes() {
    return reserved;
  }

  /** Bytes of free blocks within what is reserved. */
  public Stat inactiveSplitBytes() {
    return inactiveSplit;
  }

  /** Bytes of live blocks as they were asked for. */
  public Stat requestedBytes() {
    return requested;
  }

  /** How many requests found no place, whatever became of them. */
  public long retries() {
    return retries;
  }

  /** How many requests were given up. */
  public long outOfMemory() {
    return outOfMemory;
  }

  /** Notes that the user of the arena gave up on a request. */
  public void gaveUp() {
    outOfMemory++;
  }

  void allocated(long size, long asked) {
    allocations.change(1);
    allocated.change(size);
    requested.change(asked);
  }

  void freed(long size, long asked) {
    allocations.change(-1);
    allocated.change(-size);
    requested.change(-asked);
  }

  void reserved(long by) {
    reserved.change(by);
  }

  void split(long by) {
    inactiveSplit.change(by);
  }

  void refused() {
    retries++;
  }
}
