package dev.tern.cli.board;

import java.util.Arrays;

/**
 * A figure over steps, in bounded memory. Points fall into buckets of equally many; where the
 * buckets are full, each two become one. A bucket keeps the least, the greatest and the last value,
 * so no peak is lost however long the run is.
 */
final class Curve {
  /** Buckets at most. */
  static final int MOST = 1_000;

  private final long[] steps = new long[MOST];
  private final double[] seconds = new double[MOST];
  private final double[] low = new double[MOST];
  private final double[] high = new double[MOST];
  private final double[] last = new double[MOST];
  private int size;
  private long each = 1;
  private long inLast = 1;

  /** Adds a finite value. */
  void add(long step, double second, double value) {
    if (size == 0 || inLast == each) {
      if (size == MOST) {
        halve();
      }
      low[size] = value;
      high[size] = value;
      size++;
      inLast = 0;
    }
    int at = size - 1;
    steps[at] = step;
    seconds[at] = second;
    low[at] = Math.min(low[at], value);
    high[at] = Math.max(high[at], value);
    last[at] = value;
    inLast++;
  }

  private void halve() {
    for (int to = 0; to < MOST / 2; to++) {
      int from = 2 * to + 1;
      steps[to] = steps[from];
      seconds[to] = seconds[from];
      last[to] = last[from];
      low[to] = Math.min(low[from - 1], low[from]);
      high[to] = Math.max(high[from - 1], high[from]);
    }
    size = MOST / 2;
    each *= 2;
    inLast = each;
  }

  /** Adds arrays of steps, seconds and values as JSON, and of extremes where buckets have many. */
  void appendTo(StringBuilder out) {
    out.append("{\"s\":").append(Arrays.toString(Arrays.copyOf(steps, size)).replace(" ", ""));
    numbers(out, "t", seconds);
    numbers(out, "y", last);
    if (each > 1) {
      numbers(out, "lo", low);
      numbers(out, "hi", high);
    }
    out.append('}');
  }

  private void numbers(StringBuilder out, String name, double[] values) {
    out.append(",\"").append(name).append("\":[");
    for (int i = 0; i < size; i++) {
      out.append(i == 0 ? "" : ",").append(text(values[i]));
    }
    out.append(']');
  }

  /** A finite number in JSON, to seven digits. */
  static String text(double value) {
    float near = (float) value;
    if (!Float.isFinite(near)) {
      return Double.toString(value);
    }
    return near == Math.rint(near) && Math.abs(near) < 1e7
        ? Integer.toString((int) near)
        : Float.toString(near);
  }
}
