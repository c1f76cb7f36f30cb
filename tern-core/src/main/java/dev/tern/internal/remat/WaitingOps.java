package dev.tern.internal.remat;

import java.util.Arrays;

/**
 * A stack of ops that wait for their inputs, with the storages that each holds.
 *
 * <p>An input of a waiting op may be let go when nothing else may: an input of the op that waits
 * longest, and of that op the input that it got last. So the input for which others had to go is
 * kept. After at most n (n + 1) / 2 inputs let go, an op of n inputs runs, if the memory allows any
 * order of its inputs. Without that limit, two inputs that do not fit together would be computed in
 * turns for ever.
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

  /** Says whether a storage that a waiting op holds can go, and if so lets it go. */
  @FunctionalInterface
  interface Taker {
    boolean take(int storage);
  }

  boolean isEmpty() {
    return size == 0;
  }

  int size() {
    return size;
  }

  /** Puts an op of {@code inputs} inputs on top. */
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

  /** Takes all off; what they held is held no more. */
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

  /** What the op on top holds is from here on; what the others hold is before. */
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

  /** Lets an input of an op go that is not on top; false where none can. */
  boolean letGo(Taker taker) {
    for (int at = lowest; at < size - 1; at++) {
      boolean holdsNothing = true;
      for (int i = start[at + 1] - 1; i >= start[at]; i--) {
        if (held[i] == LET_GO) {
          continue;
        }
        holdsNothing = false;
        if (mayLose[at] > 0 && taker.take(held[i])) {
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
