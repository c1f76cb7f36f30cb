package dev.tern.internal.memory;

/**
 * What an {@link Allocator} counted, by the names and meaning of PyTorch's caching allocator.
 * Bytes, except where a name says otherwise.
 *
 * @param allocations live blocks, a number
 * @param allocated bytes of live blocks, each rounded up to 64
 * @param reserved bytes held from the system
 * @param active bytes of live blocks and of freed ones that another stream still uses
 * @param inactiveSplit bytes held from the system that are in no live block; counted when a block
 *     comes from or goes to the arena, not when a freed one is kept for the next request of its
 *     size
 * @param requested bytes of live blocks as they were asked for
 * @param retries how many requests found the budget full and had memory collected for them
 * @param outOfMemory how many of them were refused
 * @param waits how often a request waited for what another stream still used
 * @param systemCalls how often the system was called, a number
 */
public record MemoryStatistics(
    Quantity allocations,
    Quantity allocated,
    Quantity reserved,
    Quantity active,
    Quantity inactiveSplit,
    Quantity requested,
    long retries,
    long outOfMemory,
    long waits,
    long systemCalls) {

  /**
   * A quantity over time.
   *
   * @param current what it is
   * @param peak the highest value it had; where several threads allocate, bounds from above that
   *     take freed blocks which threads keep for themselves as live
   * @param totalAllocated the sum of all that was added
   * @param totalFreed the sum of all that was taken off
   */
  public record Quantity(long current, long peak, long totalAllocated, long totalFreed) {
    static Quantity of(ArenaStatistics.Stat stat) {
      return new Quantity(stat.current(), stat.peak(), stat.totalAllocated(), stat.totalFreed());
    }

    Quantity plus(Quantity other) {
      return new Quantity(
          current + other.current,
          peak + other.peak,
          totalAllocated + other.totalAllocated,
          totalFreed + other.totalFreed);
    }

    /** With what was taken off but counts all the same. */
    Quantity andStill(ArenaStatistics.Stat stat) {
      long more = stat.current();
      return new Quantity(current + more, peak + stat.peak(), totalAllocated, totalFreed - more);
    }

    Quantity withPeakAtMost(long most) {
      return new Quantity(current, Math.min(peak, most), totalAllocated, totalFreed);
    }
  }
}
