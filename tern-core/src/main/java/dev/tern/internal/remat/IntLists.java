package dev.tern.internal.remat;

import java.util.Arrays;

/** Lists of ints that grow at their end, all in two arrays. */
public final class IntLists {
  private static final int END = -1;

  private int[] head = new int[64];
  private int[] tail = new int[64];
  private int lists;
  private int[] value = new int[64];
  private int[] next = new int[64];
  private int cells;

  /** A new empty list; lists are numbered from 0. */
  int add() {
    if (lists == head.length) {
      head = Arrays.copyOf(head, 2 * lists);
      tail = Arrays.copyOf(tail, 2 * lists);
    }
    head[lists] = END;
    return lists++;
  }

  void append(int list, int element) {
    if (cells == value.length) {
      value = Arrays.copyOf(value, 2 * cells);
      next = Arrays.copyOf(next, 2 * cells);
    }
    value[cells] = element;
    next[cells] = END;
    if (head[list] == END) {
      head[list] = cells;
    } else {
      next[tail[list]] = cells;
    }
    tail[list] = cells++;
  }

  /** The first cell of a list, or a negative number. */
  public int first(int list) {
    return head[list];
  }

  /** The cell after {@code cell}, or a negative number. */
  public int next(int cell) {
    return next[cell];
  }

  public int get(int cell) {
    return value[cell];
  }
}
