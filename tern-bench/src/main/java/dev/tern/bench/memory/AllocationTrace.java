package dev.tern.bench.memory;

import dev.tern.internal.memory.BlockArena;
import dev.tern.internal.remat.Foresight;
import dev.tern.internal.remat.Guide;
import dev.tern.internal.remat.Policy;
import dev.tern.internal.remat.Simulation;
import dev.tern.internal.remat.StorageListener;
import dev.tern.internal.remat.StorageMemory;
import dev.tern.internal.remat.Trace;
import dev.tern.internal.remat.search.Lifetimes;
import java.util.Arrays;

/**
 * What a recorded step takes from memory and gives back when nothing is evicted, in order. What it
 * still has at its end goes back then.
 */
final class AllocationTrace {
  private static final int NO_BLOCK = -1;

  private long[] bytes = new long[64];
  private int blocks;
  private int[] events = new int[128];
  private int count;

  /** Sees the blocks of a trace come and go. */
  interface Visitor {
    /** A block is taken. */
    void allocate(int block, long bytes);

    /** It goes back. */
    void free(int block);
  }

  private AllocationTrace() {}

  /** The trace of a step; storages of no bytes are left out. */
  static AllocationTrace of(Trace step) {
    AllocationTrace trace = new AllocationTrace();
    int[] current = new int[step.recipes().storages()];
    Arrays.fill(current, NO_BLOCK);
    StorageListener watcher =
        new StorageListener() {
          @Override
          public void settled(int storage, long size) {
            current[storage] = size == 0 ? NO_BLOCK : trace.take(size);
          }

          @Override
          public void vacated(int storage) {
            if (current[storage] != NO_BLOCK) {
              trace.note(~current[storage]);
              current[storage] = NO_BLOCK;
            }
          }
        };
    StorageMemory memory = new StorageMemory.Counted(Long.MAX_VALUE);
    Guide guide = new Guide(Policy.NONE, Foresight.NONE, Long.MAX_VALUE, 0);
    Simulation.Limits none = new Simulation.Limits(Double.POSITIVE_INFINITY, Long.MAX_VALUE);
    Simulation.run(step, memory, guide, watcher, none);
    for (int block : current) {
      if (block != NO_BLOCK) {
        trace.note(~block);
      }
    }
    return trace;
  }

  /** How many blocks are taken; they are numbered from 0 in that order. */
  int blocks() {
    return blocks;
  }

  /** Goes through the trace with all sizes times {@code scale}. */
  void visit(double scale, Visitor visitor) {
    for (int i = 0; i < count; i++) {
      int event = events[i];
      if (event >= 0) {
        visitor.allocate(event, size(event, scale));
      } else {
        visitor.free(~event);
      }
    }
  }

  /** Offsets of all blocks, planned with their lifetimes known. */
  long[] plan(double scale) {
    Lifetimes lives = new Lifetimes();
    int[] start = new int[blocks];
    int[] end = new int[blocks];
    int[] now = new int[1];
    long[] live = new long[2];
    visit(
        scale,
        new Visitor() {
          @Override
          public void allocate(int block, long size) {
            start[block] = now[0]++;
            live[0] += BlockArena.rounded(size);
            live[1] = Math.max(live[0], live[1]);
          }

          @Override
          public void free(int block) {
            end[block] = now[0]++;
            live[0] -= BlockArena.rounded(size(block, scale));
          }
        });
    for (int block = 0; block < blocks; block++) {
      lives.begin(block, lives.add(size(block, scale), start[block], end[block]));
    }
    long[][] places = lives.place(live[1]);
    long[] offsets = new long[blocks];
    Arrays.setAll(offsets, block -> places[block][0]);
    return offsets;
  }

  private long size(int block, double scale) {
    return (long) (bytes[block] * scale);
  }

  private int take(long size) {
    if (blocks == bytes.length) {
      bytes = Arrays.copyOf(bytes, 2 * blocks);
    }
    bytes[blocks] = size;
    note(blocks);
    return blocks++;
  }

  private void note(int event) {
    if (count == events.length) {
      events = Arrays.copyOf(events, 2 * count);
    }
    events[count++] = event;
  }
}
