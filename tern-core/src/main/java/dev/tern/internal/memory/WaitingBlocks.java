package dev.tern.internal.memory;

import dev.tern.internal.memory.AllocationHistory.Action;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.Map;
import java.util.Optional;

/** Freed blocks that another stream still uses, in the order in which they were freed. */
final class WaitingBlocks {
  private record Waiting(Magazine.Leaving block, Allocator.Event event) {}

  private final ArrayDeque<Waiting> blocks = new ArrayDeque<>();
  private final ArenaStatistics.Stat waiting = new ArenaStatistics.Stat();
  private final AllocationHistory history;

  WaitingBlocks(AllocationHistory history) {
    this.history = history;
  }

  /** Adds a block that is free once {@code event} is over. */
  void add(Magazine.Leaving block, Allocator.Event event) {
    blocks.add(new Waiting(block, event));
    waiting.add(block.bytes());
  }

  /** Adds the blocks by address. */
  void describe(Map<Long, MemorySnapshot.Block> known) {
    for (Waiting waits : blocks) {
      Magazine.Leaving block = waits.block;
      known.put(block.address(), block.as(MemorySnapshot.State.WAITING));
    }
  }

  /** Hands over the blocks whose events are over. */
  void collect(Magazine.Sink sink) {
    for (Iterator<Waiting> rest = blocks.iterator(); rest.hasNext(); ) {
      Waiting next = rest.next();
      if (next.event.isOver()) {
        rest.remove();
        Magazine.Leaving block = next.block;
        waiting.remove(block.bytes());
        history.note(Action.FREE_COMPLETED, block.address(), block.bytes(), block.holder());
        sink.accept(block.address(), block.handle());
      }
    }
  }

  /** The event that the block freed first waits for. */
  Optional<Allocator.Event> first() {
    return blocks.isEmpty() ? Optional.empty() : Optional.of(blocks.getFirst().event);
  }

  /** Bytes that wait. */
  ArenaStatistics.Stat bytes() {
    return waiting;
  }
}
