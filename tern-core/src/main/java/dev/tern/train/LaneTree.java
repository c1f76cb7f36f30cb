package dev.tern.train;

import dev.tern.base.Shape;
import dev.tern.internal.memory.Memory;
import dev.tern.tensor.Device;
import dev.tern.tensor.Variable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Adds up tensors of lanes as a balanced binary tree over the lanes, while lanes come one after
 * another: {@code ((0 + 1) + (2 + 3)) + 4} of 5. A sum waits for its sibling, so there is memory
 * for one set of tensors a level of the tree, not for one a lane. Bits depend on the numbers of the
 * lanes alone.
 *
 * <p>The work is cut into {@link #tasks} tasks, each with some of the numbers. It goes through
 * arrays on the heap, a block at a time: the JIT vectorizes loops over these.
 */
final class LaneTree implements AutoCloseable {
  /** Numbers of a block, which stays in the nearest cache. */
  private static final int BLOCK = 1 << 10;

  /** Numbers of a task. */
  private static final int TASK = 1 << 15;

  private final List<Variable> levels = new ArrayList<>();
  private final long[] levelAt;
  private final long[] targets;

  /** Of each tensor its first number among all, then how many there are. */
  private final int[] firsts;

  /** Of each worker a sum and what is added to it. */
  private final float[][] sums;

  private final float[][] others;

  /** Lanes that were added. */
  private int added;

  // The lane at hand.
  private long[] lane = {};
  private boolean isLast;

  /**
   * For batches of {@code lanes} lanes.
   *
   * @param targets take the sums, in their order
   */
  LaneTree(Device device, List<Variable> targets, int lanes) {
    firsts = new int[targets.size() + 1];
    this.targets = new long[targets.size()];
    for (int i = 0; i < this.targets.length; i++) {
      firsts[i + 1] = Math.addExact(firsts[i], targets.get(i).shape().elements());
      this.targets[i] = Memory.address(targets.get(i).memory(), targets.get(i).name());
    }
    // Lane k waits at the level of its trailing ones; the last one waits for nobody.
    levelAt = new long[Integer.SIZE - Integer.numberOfLeadingZeros(Math.max(1, lanes) - 1)];
    try {
      for (int level = 0; level < levelAt.length; level++) {
        Variable sum =
            Variable.zeros(device, "sums of lanes." + level, Shape.of(firsts[targets.size()]));
        levels.add(sum);
        levelAt[level] = Memory.address(sum.memory(), sum.name());
      }
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
    sums = new float[device.workers().threads()][BLOCK];
    others = new float[sums.length][BLOCK];
  }

  /** Begins with the first lane. */
  void begin() {
    added = 0;
  }

  /**
   * Takes the next lane; {@link #run} of all tasks adds it, then {@link #end} ends it.
   *
   * @param tensors their addresses, in the order of the targets
   * @param last whether it is the last of the batch, after which the targets have the sums
   */
  void next(long[] tensors, boolean last) {
    lane = tensors;
    isLast = last;
  }

  void end() {
    added++;
  }

  int tasks() {
    return Math.ceilDiv(firsts[targets.length], TASK);
  }

  /** Adds the lane's numbers of a task; tasks may run side by side. */
  void run(int task, int worker) {
    int end = Math.min(firsts[targets.length], (task + 1) * TASK);
    float[] sum = sums[worker];
    float[] other = others[worker];
    for (int from = task * TASK; from < end; from += BLOCK) {
      int count = Math.min(BLOCK, end - from);
      move(lane, sum, from, count, false);
      int level = 0;
      for (int waiting = added; isLast ? waiting != 0 : (waiting & 1) != 0; waiting >>= 1) {
        if ((waiting & 1) != 0) {
          Memory.copyOut(levelAt[level] + 4L * from, other, 0, count);
          add(other, sum, count);
        }
        level++;
      }
      if (isLast) {
        move(targets, sum, from, count, true);
      } else {
        Memory.copyIn(sum, 0, levelAt[level] + 4L * from, count);
      }
    }
  }

  private static void add(float[] earlier, float[] sum, int count) {
    for (int i = 0; i < count; i++) {
      sum[i] = earlier[i] + sum[i];
    }
  }

  /** Copies numbers {@code [from, from + count)} of all tensors to an array, or back. */
  private void move(long[] tensors, float[] array, int from, int count, boolean back) {
    int found = Arrays.binarySearch(firsts, 0, tensors.length, from);
    // Of tensors without numbers, which begin where the next one does, any may be found.
    int tensor = found >= 0 ? found : -found - 2;
    for (int at = from; at < from + count; tensor++) {
      int part = Math.min(from + count, firsts[tensor + 1]) - at;
      if (part > 0) {
        long address = tensors[tensor] + 4L * (at - firsts[tensor]);
        if (back) {
          Memory.copyIn(array, at - from, address, part);
        } else {
          Memory.copyOut(address, array, at - from, part);
        }
        at += part;
      }
    }
  }

  @Override
  public void close() {
    levels.forEach(Variable::close);
  }
}
