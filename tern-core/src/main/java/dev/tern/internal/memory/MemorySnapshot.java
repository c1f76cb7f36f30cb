package dev.tern.internal.memory;

import java.util.List;

/**
 * All memory of an {@link Allocator} at one moment.
 *
 * @param device the number of the device that has the memory; -1 for memory of the host
 * @param budget the most bytes that may be held from the system
 * @param segments memory held from the system, by range and address; there is none between them
 * @param events of the history, the oldest first; empty where none was kept
 * @param eventCount how many events there were, those included that the history has lost
 */
public record MemorySnapshot(
    int device,
    long budget,
    MemoryStatistics statistics,
    List<Segment> segments,
    List<AllocationHistory.Event> events,
    long eventCount) {
  /** What a block is used for. */
  public enum State {
    /** Given out. */
    LIVE,
    /** Freed, but kept for the next request of its size, or on its way back. */
    KEPT,
    /** A gap, or the part of one that has memory. */
    FREE
  }

  /**
   * Memory behind a range of addresses, which has none at both of its ends.
   *
   * @param blocks by address, without holes between them
   */
  public record Segment(long address, long bytes, List<Block> blocks) {
    public Segment {
      blocks = List.copyOf(blocks);
    }
  }

  /**
   * A block.
   *
   * @param requested bytes that it was asked for; 0 unless it is live
   * @param holder who holds it; empty unless it is live
   */
  public record Block(long address, long bytes, long requested, State state, String holder) {}

  public MemorySnapshot {
    segments = List.copyOf(segments);
    events = List.copyOf(events);
  }
}
