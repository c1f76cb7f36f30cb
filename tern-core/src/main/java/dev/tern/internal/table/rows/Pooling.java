package dev.tern.internal.table.rows;

import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.internal.memory.Memory;
import java.util.stream.IntStream;

/**
 * Pools the rows of each bag into one vector. Any number of threads may pool at once, each with
 * bags and a target of its own.
 */
public final class Pooling {
  /** Positions pooled at once, so few that their rows stay in the nearest cache. */
  private static final int POSITIONS = 256;

  private final TableConfig config;
  private final InitialRows initial;
  private final RowReads loops;
  private final BagPairs pairs;

  public Pooling(TableConfig config, InitialRows initial, RowReads loops) {
    this.config = config;
    this.initial = initial;
    this.loops = loops;
    pairs = new BagPairs(loops);
  }

  /** Pools bags {@code [from, to)}, after {@link PooledBags#check}. */
  public void pool(RowLookup lookup, PooledBags bags, int from, int to, RowParts out) {
    int[] offsets = bags.offsets;
    for (int begin = from; begin < to; ) {
      int end = begin + 1;
      while (end < to && offsets[end + 1] - offsets[begin] <= POSITIONS) {
        end++;
      }
      lookup.touch(offsets[begin], offsets[end], RowLayout.weightBytes(config));
      for (int p = 0; p < out.count(); p++) {
        MatrixBlock part = out.part(p, begin, end);
        if (bags.areRows()) {
          // The target's rows are numbered by positions instead of bags.
          int ahead = offsets[begin] - begin;
          part.at(part.base - ahead * part.stride, part.stride).rows(begin + ahead, end + ahead);
          loops.gather(lookup.addresses, lookup.inverse, part);
        } else {
          loops.pool(lookup, bags, part);
        }
      }
      if (out.hasPairs()) {
        pairs.pool(lookup, bags, begin, end, out);
      }
      begin = end;
    }
    poolInitial(lookup, bags, from, to, out);
  }

  /** Copies the row of every position: {@code out} is the address of {@code N x W} floats. */
  public void ragged(RowLookup lookup, long out) {
    int count = lookup.count();
    RowParts whole = RowParts.whole(config.width(), out, config.width());
    loops.gather(lookup.addresses, lookup.inverse, whole.part(0, 0, count));
    if (!lookup.complete) {
      int[] offsets = IntStream.rangeClosed(0, count).toArray();
      poolInitial(lookup, PooledBags.of(offsets, count, Combiner.SUM), 0, count, whole);
    }
  }

  /** If ids without a row read as initial rows, pools the bags with such ids again. */
  private void poolInitial(RowLookup lookup, PooledBags bags, int from, int to, RowParts out) {
    if (lookup.complete || config.unknown() != UnknownRow.INITIAL) {
      return;
    }
    for (int b = from; b < to; b++) {
      boolean known = true;
      for (int i = bags.offsets[b]; i < bags.offsets[b + 1]; i++) {
        known &= lookup.rows[lookup.inverse[i]] != RowLookup.NONE;
      }
      if (!known) {
        poolInitial(lookup, bags, b, out);
      }
    }
  }

  /** Pools a bag with initial rows. */
  private void poolInitial(RowLookup lookup, PooledBags bags, int bag, RowParts out) {
    float scale = bags.scale(bag);
    float pairSum = 0;
    for (int p = 0; p < out.count(); p++) {
      MatrixBlock part = out.part(p, bag, bag + 1);
      for (int j = part.begin; j < part.end; j++) {
        float sum = 0;
        float before = 0;
        float product = 0;
        for (int i = bags.offsets[bag]; i < bags.offsets[bag + 1]; i++) {
          float weight = weight(lookup, lookup.inverse[i], j);
          float row = bags.factor(scale, i) * weight;
          sum = Math.fma(bags.factor(scale, i), weight, sum);
          product = Math.fma(before, row, product);
          before += row;
        }
        Memory.setFloat(part.at(bag, j), sum);
        pairSum += p == out.count() - 1 ? product : 0;
      }
    }
    if (out.hasPairs()) {
      Memory.setFloat(out.pairsAt(bag), pairSum);
    }
  }

  /** Column {@code j} of distinct id {@code u}, which may have an initial row. */
  private float weight(RowLookup lookup, int u, int j) {
    return lookup.rows[u] == RowLookup.NONE
        ? initial.value(lookup.ids[u], j)
        : loops.get(lookup.addresses[u], j);
  }
}
