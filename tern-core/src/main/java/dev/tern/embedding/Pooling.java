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
   * @param single whether each of them holds exactly one id
   */
  void pool(
      Lookup lookup,
      int[] offsets,
      int from,
      int to,
      Combiner combiner,
      boolean single,
      RowParts out) {
    boolean mean = combiner == Combiner.MEAN;
    for (int begin = from; begin < to; ) {
      int end = begin + 1;
      while (end < to && offsets[end + 1] - offsets[begin] <= POSITIONS) {
        end++;
      }
      lookup.touch(offsets[begin], offsets[end], config.storage().bytes() * config.width());
      for (int p = 0; p < out.count(); p++) {
        if (single) {
          gather(lookup, offsets[begin], begin, end, out, p);
        } else {
          pool(lookup, offsets, begin, end, mean, out, p);
        }
      }
      begin = end;
    }
    if (!lookup.complete && config.unknown() == UnknownRow.INITIAL) {
      for (int b = from; b < to; b++) {
        float scale = mean ? 1f / (offsets[b + 1] - offsets[b]) : 1;
        addInitial(lookup, offsets[b], offsets[b + 1], scale, out, b);
      }
    }
  }

  /** Copies the row of every position: {@code out} is the address of {@code N x W} floats. */
  void ragged(Lookup lookup, long out) {
    int count = lookup.count();
    RowParts whole = RowParts.whole(config.width(), out, config.width());
    gather(lookup, 0, 0, count, whole, 0);
    if (!lookup.complete && config.unknown() == UnknownRow.INITIAL) {
      for (int i = 0; i < count; i++) {
        addInitial(lookup, i, i + 1, 1, whole, i);
      }
    }
  }

  /** Part {@code p} of bags {@code [from, to)}, the first of which is that of {@code position}. */
  private void gather(Lookup lookup, int position, int from, int to, RowParts out, int p) {
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
      Lookup lookup, int[] offsets, int from, int to, boolean mean, RowParts out, int p) {
    loops.pool(
        lookup.addresses,
        lookup.inverse,
        offsets,
        from,
        to,
        mean,
        out.begin(p),
        out.end(p),
        out.base(p),
        out.stride(p));
  }

  /** Pools bag {@code bag} again if one of its positions holds an id without a row. */
  private void addInitial(Lookup lookup, int begin, int end, float scale, RowParts out, int bag) {
    boolean known = true;
    for (int i = begin; i < end; i++) {
      known &= lookup.rows[lookup.inverse[i]] != Lookup.NONE;
    }
    for (int p = 0; p < out.count() && !known; p++) {
      for (int j = out.begin(p); j < out.end(p); j++) {
        float sum = sumOrInitial(lookup, begin, end, scale, j);
        Memory.setFloat(out.base(p) + bag * out.stride(p) + 4L * j, sum);
      }
    }
  }

  private float sumOrInitial(Lookup lookup, int begin, int end, float scale, int j) {
    float sum = 0;
    for (int i = begin; i < end; i++) {
      int u = lookup.inverse[i];
      float w =
          lookup.rows[u] == Lookup.NONE
              ? initial.value(lookup.ids[u], j)
              : ScalarHalves.get(config.storage(), lookup.addresses[u], j);
      sum = Math.fma(scale, w, sum);
    }
    return sum;
  }
}
