package dev.tern.internal.remat;

import dev.tern.internal.memory.BlockArena;
import java.util.Arrays;

/**
 * What a recorded step takes from memory and gives back when nothing is evicted, in order. What it
 * still has at its end goes back then.
 */
public final class AllocationTrace {
  private static final int NO_BLOCK = -1;

  private long[] bytes = new long[64];
  private int blocks;
  private int[] events = new int[128];
  private int count;

  /** Sees the blocks of a trace come and go. */
  public interface Visitor {
    /** A block is taken. */
    void allocate(int block, long bytes);

    /** It goes back. */
    void free(int block);
  }

  private AllocationTrace() {}

  /** The trace of a step; storages of no bytes are left out. */
  public static AllocationTrace of(Trace step) {
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
    StorageMemory space = new StorageMemory.Counted(Long.MAX_VALUE);
    Simulation.run(
        step,
        space,
        Policy.NONE,
        Foresight.NONE,
        watcher,
        Double.POSITIVE_INFINITY,
        Long.MAX_VALUE);
    for (int block : current) {
      if (block != NO_BLOCK) {
        trace.note(~block);
      }
    }
    return trace;
  }

  /** How many blocks are taken; they are numbered from 0 in that order. */
  public int blocks() {
    return blocks;
  }

  /** Goes through the trace with all sizes times {@code scale}. */
  public void visit(double scale, Visitor visitor) {
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
  public long[] plan(double scale) {
    Lifetimes lives = new Lifetimes();
    long[] live = new long[2];
    visit(
        scale,
        new Visitor() {
          @Override
          public void allocate(int block, long size) {
            lives.settled(block, size);
            live[0] += BlockArena.rounded(size);
            live[1] = Math.max(live[0], live[1]);
          }

          @Override
          public void free(int block) {
            lives.vacated(block);
            live[0] -= BlockArena.rounded(size(block, scale));
          }
        });
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
