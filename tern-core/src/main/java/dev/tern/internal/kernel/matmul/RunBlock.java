package dev.tern.internal.kernel.matmul;

import dev.tern.internal.memory.Memory;

/** Some runs of rows side by side, the longest first: those with a row number t are the first. */
final class RunBlock {
  /** Most runs. */
  static final int RUNS = 48;

  private final int[] first = new int[RUNS];
  private final int[] length = new int[RUNS];

  /**
   * Takes runs {@code from} to {@code to - 1}, at most {@link #RUNS}.
   *
   * @param offsets address of offsets, I32
   */
  void take(long offsets, int from, int to) {
    for (int run = from; run < to; run++) {
      int start = Memory.getInt(offsets + 4L * run);
      int rows = Memory.getInt(offsets + 4L * run + 4) - start;
      int at = run - from;
      for (; at > 0 && length[at - 1] < rows; at--) {
        first[at] = first[at - 1];
        length[at] = length[at - 1];
      }
      first[at] = start;
      length[at] = rows;
    }
  }

  /** How many of the first {@code of} runs have more than {@code rows} rows. */
  int longer(int rows, int of) {
    int count = of;
    while (count > 0 && length[count - 1] <= rows) {
      count--;
    }
    return count;
  }

  /** The first row of a run. */
  int first(int run) {
    return first[run];
  }

  /** The last row of a run. */
  int last(int run) {
    return first[run] + length[run] - 1;
  }
}
