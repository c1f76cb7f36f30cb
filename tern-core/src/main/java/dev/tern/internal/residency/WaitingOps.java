package dev.tern.internal.residency;

import java.util.Arrays;

/** A stack of ops that wait for their inputs, with the storages that each holds. */
final class WaitingOps {
  private static final int LET_GO = -1;

  private int[] ops = new int[64];
  private int[] start = new int[64];
  private int size;
  private int[] held = new int[64];
  private int heldCount;

  boolean isEmpty() {
    return size == 0;
  }

  int size() {
    return size;
  }

  void push(int op) {
    if (size == ops.length) {
      ops = Arrays.copyOf(ops, 2 * size);
      start = Arrays.copyOf(start, 2 * size);
    }
    ops[size] = op;
    start[size++] = heldCount;
  }

  int top() {
    return ops[size - 1];
  }

  void pop() {
    heldCount = start[--size];
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

  void letGo(int index) {
    held[index] = LET_GO;
  }
}
