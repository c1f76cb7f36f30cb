package dev.tern.internal.table.rows;

import dev.tern.embedding.config.TableConfig;
import dev.tern.internal.memory.Memory;

/**
 * Adds up the gradients of each distinct id of a lookup, a block of ids at a time: those of one
 * lane in order of position, those of several lanes as {@link LaneSums} says. One thread at a time.
 */
public final class GradientSums {
  private static final int LINE = 64;

  /** So many floats of gradients fit into the second cache beside other data. */
  private static final int NEAR_FLOATS = 1 << 17;

  private final int width;
  private final UpdateLoops loops = UpdateLoops.fastest();
  private final BagPairs pairs;
  private final LaneSums laneSums;
  private final MatrixBlock block = new MatrixBlock();

  /** Whether the gradients of pair sums in the step at hand may be other than 0. */
  private boolean pairing;

  /** For rows of a table like {@code config}. */
  public GradientSums(TableConfig config) {
    width = config.width();
    pairs = BagPairs.fastest(config);
    laneSums = new LaneSums(width, loops, this::sumInOrder);
  }

  /**
   * Begins with the gradients of a lookup whose bags were grouped.
   *
   * @param plural whether some bag holds several ids
   */
  void begin(RowLookup lookup, int bags, RowParts gradients, boolean plural) {
    pairing = gradients.hasPairs() && plural;
    if (gradients.isInterleaved()) {
      lookup.placeBags(gradients);
    } else if ((long) bags * width <= NEAR_FLOATS) {
      lookup.touched += touch(gradients, bags);
    }
  }

  /** Writes the sums of the ids of {@code sums}, a block of {@link StepBlock#ROWS} at most. */
  void sum(RowLookup lookup, int bags, RowParts gradients, MatrixBlock sums) {
    if (lookup.laneCount > 1) {
      laneSums.sum(lookup, bags, gradients, sums);
    } else {
      sumInOrder(lookup, bags, gradients, sums);
    }
  }

  /** Bytes of memory that {@link #sumAll} needs beside the sums. */
  public long blockBytes() {
    return 4L * width * StepBlock.ROWS;
  }

  /**
   * Writes the sum of each distinct id.
   *
   * @param bags checked
   * @param targets of each distinct id the address of its sum
   * @param room the address of {@link #blockBytes} bytes
   */
  public void sumAll(
      RowLookup lookup, PooledBags bags, RowParts gradients, long[] targets, long room) {
    lookup.group(bags);
    begin(lookup, bags.count, gradients, bags.arePlural());
    long stride = 4L * width;
    int unique = lookup.unique();
    for (int from = 0; from < unique; from += StepBlock.ROWS) {
      int to = Math.min(unique, from + StepBlock.ROWS);
      block.at(room - from * stride, stride).rows(from, to).columns(0, width);
      sum(lookup, bags.count, gradients, block);
      for (int u = from; u < to; u++) {
        Memory.copy(room + (u - from) * stride, targets[u], stride);
      }
    }
  }

  /** Adds up the gradients of the ids of {@code target}, in order of their places. */
  private void sumInOrder(RowLookup lookup, int bags, RowParts gradients, MatrixBlock target) {
    int last = gradients.count() - 1;
    for (int p = 0; p <= last; p++) {
      int[] places = p < last && gradients.hasFrontPlaces() ? lookup.frontBags : lookup.bags;
      loops.sumGradients(lookup, places, gradients.part(p, 0, bags), target);
    }
    if (pairing) {
      pairs.addGradients(lookup, gradients, target);
    }
  }

  /** Loads from each line of the gradients, as {@link RowLookup#touch} does. */
  private static int touch(RowParts gradients, int bags) {
    int sum = 0;
    for (int p = 0; p < gradients.count(); p++) {
      MatrixBlock part = gradients.part(p, 0, bags);
      for (int j = part.begin; j < part.end; j += LINE / 4) {
        long at = part.base + 4L * j;
        long stride = part.stride;
        for (int b = 0; b < bags; b++) {
          sum += Memory.getInt(at + b * stride);
        }
      }
    }
    return sum;
  }
}
