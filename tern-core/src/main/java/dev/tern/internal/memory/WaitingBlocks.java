package dev.tern.internal.memory;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.Optional;

/** Freed blocks that another stream still uses, in the order in which they were freed. */
final class WaitingBlocks {
  private record Waiting(long address, long handle, long bytes, Allocator.Event event) {}

  private final ArrayDeque<Waiting> blocks = new ArrayDeque<>();
  private final ArenaStatistics.Stat waiting = new ArenaStatistics.Stat();

  /** Adds a block of {@code bytes} that is free once {@code event} is over. */
  void add(long address, long handle, long bytes, Allocator.Event event) {
    blocks.add(new Waiting(address, handle, bytes, event));
    waiting.add(bytes);
  }

  /** Hands over the blocks whose events are over. */
  void collect(Magazine.Sink sink) {
    for (Iterator<Waiting> rest = blocks.iterator(); rest.hasNext(); ) {
      Waiting block = rest.next();
      if (block.event.isOver()) {
        rest.remove();
        waiting.remove(block.bytes);
        sink.accept(block.address, block.handle);
      }
    }
  }

  /** What the block waits for that was freed first. */
  Optional<Allocator.Event> first() {
    return blocks.isEmpty() ? Optional.empty() : Optional.of(blocks.getFirst().event);
  }

  /** Bytes that wait. */
  ArenaStatistics.Stat bytes() {
    return waiting;
  }
}
