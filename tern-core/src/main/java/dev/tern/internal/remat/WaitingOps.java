package dev.tern.internal.remat;

import java.util.Arrays;
import java.util.function.IntPredicate;

/**
 * A stack of ops that wait for their inputs, with the storages that each holds.
 *
 * <p>When nothing else may go, an input of a waiting op may: of the op that waits longest, the
 * input that it got last. So the input for which others had to go is kept. An op of n inputs lets
 * at most n (n + 1) / 2 inputs go: after so many it runs, if the memory allows any order of its
 * inputs. Without that limit, two inputs that do not fit together would be computed in turns for
 * ever.
 */
final class WaitingOps {
  private static final int LET_GO = -1;

  private int[] ops = new int[64];
  private int[] start = new int[64];
  private long[] mayLose = new long[64];
  private int size;
  private int[] held = new int[64];
  private int heldCount;

  /** The ops before this one hold nothing any more. */
  private int lowest;

  int size() {
    return size;
  }

  /** Puts an op with that many inputs on top. */
  void push(int op, int inputs) {
    if (size == ops.length) {
      ops = Arrays.copyOf(ops, 2 * size);
      start = Arrays.copyOf(start, 2 * size);
      mayLose = Arrays.copyOf(mayLose, 2 * size);
    }
    ops[size] = op;
    mayLose[size] = inputs * (inputs + 1L) / 2;
    start[size++] = heldCount;
  }

  int top() {
    return ops[size - 1];
  }

  /** The op for which the others run. */
  int bottom() {
    return ops[0];
  }

  void pop() {
    heldCount = start[--size];
    lowest = Math.min(lowest, Math.max(0, size - 1));
  }

  /** Takes all ops off; they hold nothing any more. */
  void clear() {
    size = 0;
    heldCount = 0;
    lowest = 0;
  }

  /** Whether the op on top holds a storage. */
  boolean holds(int storage) {
    for (int i = firstHeld(); i < heldCount; i++) {
      if (held[i] == storage) {
        return true;
      }
    }
    return false;
  }

  /** Notes that the op on top holds a storage. */
  void hold(int storage) {
    if (heldCount == held.length) {
      held = Arrays.copyOf(held, 2 * heldCount);
    }
    held[heldCount++] = storage;
  }

  /** The index of the first storage that the op on top holds. */
  int firstHeld() {
    return start[size - 1];
  }

  int endHeld() {
    return heldCount;
  }

  /** A storage that is held, or a negative number where it was let go. */
  int held(int index) {
    return held[index];
  }

  /**
   * Lets an input go of an op that is not on top; false where none can.
   *
   * @param taker takes an input where it may go, and says whether it did
   */
  boolean letGo(IntPredicate taker) {
    for (int at = lowest; at < size - 1; at++) {
      boolean holdsNothing = true;
      for (int i = start[at + 1] - 1; i >= start[at]; i--) {
        if (held[i] == LET_GO) {
          continue;
        }
        holdsNothing = false;
        if (mayLose[at] > 0 && taker.test(held[i])) {
          held[i] = LET_GO;
          mayLose[at]--;
          return true;
        }
      }
      lowest = holdsNothing && at == lowest ? at + 1 : lowest;
    }
    return false;
  }
}
