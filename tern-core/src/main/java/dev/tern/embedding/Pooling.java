package dev.tern.embedding;

import dev.tern.internal.memory.Memory;

/**
 * The rows of bags as one vector each. Keeps nothing from one call to the next, so that several
 * threads may pool at once.
 */
final class Pooling {
  /** Positions pooled at once, but for a larger bag: their rows stay in the nearest cache. */
  private static final int POSITIONS = 256;

  private final TableConfig config;
  private final InitialRows initial;
  private final RowLoops loops;

  Pooling(TableConfig config, InitialRows initial, RowLoops loops) {
    this.config = config;
    this.initial = initial;
    this.loops = loops;
  }

  /**
   * Pools bags {@code [from, to)}, whose offsets were checked.
   *
   * @param weights of positions, or {@link Bags#UNWEIGHTED}
   * @param single whether each of them is the row of one id as it is
   */
  void pool(
      RowLookup lookup,
      int[] offsets,
      float[] weights,
      int from,
      int to,
      Combiner combiner,
      boolean single,
      RowParts out) {
    for (int begin = from; begin < to; ) {
      int end = begin + 1;
      while (end < to && offsets[end + 1] - offsets[begin] <= POSITIONS) {
        end++;
      }
      lookup.touch(offsets[begin], offsets[end], RowLayout.weightBytes(config));
      for (int p = 0; p < out.count(); p++) {
        if (single) {
          gather(lookup, offsets[begin], begin, end, out, p);
        } else {
          pool(lookup, offsets, weights, begin, end, combiner, out, p);
        }
      }
      begin = end;
    }
    if (!lookup.complete && config.unknown() == UnknownRow.INITIAL) {
      for (int b = from; b < to; b++) {
        addInitial(lookup, offsets[b], offsets[b + 1], weights, combiner, out, b);
      }
    }
  }

  /** Copies the row of every position: {@code out} is the address of {@code N x W} floats. */
  void ragged(RowLookup lookup, long out) {
    int count = lookup.count();
    RowParts whole = RowParts.whole(config.width(), out, config.width());
    gather(lookup, 0, 0, count, whole, 0);
    if (!lookup.complete && config.unknown() == UnknownRow.INITIAL) {
      for (int i = 0; i < count; i++) {
        addInitial(lookup, i, i + 1, Bags.UNWEIGHTED, Combiner.SUM, whole, i);
      }
    }
  }

  /** Part {@code p} of bags {@code [from, to)}, the first of which is that of {@code position}. */
  private void gather(RowLookup lookup, int position, int from, int to, RowParts out, int p) {
    long stride = out.stride(p);
    long first = out.base(p) + from * stride;
    loops.gather(
        lookup.addresses,
        lookup.inverse,
        position,
        to - from,
        out.begin(p),
        out.end(p),
        first,
        stride);
  }

  private void pool(
      RowLookup lookup,
      int[] offsets,
      float[] weights,
      int from,
      int to,
      Combiner combiner,
      RowParts out,
      int p) {
    long[] rows = lookup.addresses;
    int[] inverse = lookup.inverse;
    int begin = out.begin(p);
    int end = out.end(p);
    long base = out.base(p);
    long stride = out.stride(p);
    if (weights.length == 0) {
      loops.pool(rows, inverse, offsets, from, to, combiner, begin, end, base, stride);
    } else {
      loops.poolWeighted(
          rows, inverse, offsets, from, to, combiner, weights, begin, end, base, stride);
    }
  }

  /** Pools bag {@code bag} again if one of its positions holds an id without a row. */
  private void addInitial(
      RowLookup lookup,
      int begin,
      int end,
      float[] weights,
      Combiner combiner,
      RowParts out,
      int bag) {
    boolean known = true;
    for (int i = begin; i < end; i++) {
      known &= lookup.rows[lookup.inverse[i]] != RowLookup.NONE;
    }
    if (known) {
      return;
    }
    boolean weighted = weights.length > 0;
    float scale = weighted ? combiner.scale(weights, begin, end) : combiner.scale(end - begin);
    for (int p = 0; p < out.count(); p++) {
      for (int j = out.begin(p); j < out.end(p); j++) {
        float sum = sumOrInitial(lookup, begin, end, weights, scale, j);
        Memory.setFloat(out.base(p) + bag * out.stride(p) + 4L * j, sum);
      }
    }
  }

  private float sumOrInitial(
      RowLookup lookup, int begin, int end, float[] weights, float scale, int j) {
    float sum = 0;
    for (int i = begin; i < end; i++) {
      int u = lookup.inverse[i];
      float w =
          lookup.rows[u] == RowLookup.NONE
              ? initial.value(lookup.ids[u], j)
              : loops.get(lookup.addresses[u], j);
      sum = Math.fma(weights.length > 0 ? scale * weights[i] : scale, w, sum);
    }
    return sum;
  }
}
