package dev.tern.internal.memory;

/**
 * What an {@link Allocator} counted, by the names and meaning of PyTorch's caching allocator.
 * Bytes, except where a name says otherwise.
 *
 * @param allocations live blocks, a number
 * @param allocated bytes of live blocks, each rounded up to 64
 * @param reserved bytes held from the system
 * @param inactiveSplit bytes held from the system that are in no block; a freed block that a thread
 *     keeps for the next request of its size still counts as a block
 * @param requested bytes that were asked for, in live blocks
 * @param retries how many requests found the budget full and had memory collected for them
 * @param outOfMemory how many of them were refused
 * @param systemCalls how often the system was called, a number
 */
public record MemoryStatistics(
    Quantity allocations,
    Quantity allocated,
    Quantity reserved,
    Quantity inactiveSplit,
    Quantity requested,
    long retries,
    long outOfMemory,
    long systemCalls) {

  /**
   * A quantity over time.
   *
   * @param current what it is
   * @param peak the highest value it had. Where several threads allocate, an upper bound: it counts
   *     freed blocks that threads keep for their next request as live
   * @param totalAllocated the sum of all that was added
   * @param totalFreed the sum of all that was taken off
   */
  public record Quantity(long current, long peak, long totalAllocated, long totalFreed) {
    static final Quantity NONE = new Quantity(0, 0, 0, 0);

    Quantity plus(Gauge other) {
      return new Quantity(
          current + other.current(),
          peak + other.peak(),
          totalAllocated + other.totalAdded(),
          totalFreed + other.totalRemoved());
    }

    Quantity withPeakAtMost(long most) {
      return new Quantity(current, Math.min(peak, most), totalAllocated, totalFreed);
    }
  }
}
