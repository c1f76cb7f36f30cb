package dev.tern.embedding;

import dev.tern.embedding.config.Combiner;
import dev.tern.internal.memory.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;

/** Calls of tables with addresses of floats, which tests of several packages hold. */
public final class ByAddress {
  private static final float[] UNWEIGHTED = {};

  private ByAddress() {}

  private static MemorySegment segment(EmbeddingTable table, int bags, long address, long stride) {
    long floats = bags == 0 ? 0 : (bags - 1) * stride + table.config().width();
    return segment(address, 4 * floats);
  }

  /** Tests of calls that are refused before they touch memory give address 0. */
  private static MemorySegment segment(long address, long bytes) {
    return address == 0
        ? Memory.allocate(Arena.ofAuto(), Math.max(1, bytes), 64, "refused")
        : Memory.segment(address, bytes);
  }

  public static void pool(
      EmbeddingTable table,
      Lookup lookup,
      int[] offsets,
      int from,
      int to,
      Combiner combiner,
      long out,
      long stride) {
    pool(table, lookup, offsets, UNWEIGHTED, from, to, combiner, out, stride);
  }

  static void pool(
      EmbeddingTable table,
      Lookup lookup,
      int[] offsets,
      float[] weights,
      int from,
      int to,
      Combiner combiner,
      long out,
      long stride) {
    Bags bags = new Bags(offsets, weights, offsets.length - 1, combiner);
    table.pool(lookup, bags, from, to, segment(table, to, out, stride), stride);
  }

  public static void findAndPool(
      EmbeddingTable table,
      long[] ids,
      int count,
      Lookup into,
      boolean insert,
      int[] offsets,
      int bags,
      Combiner combiner,
      long out,
      long stride) {
    findAndPool(table, ids, count, into, insert, offsets, UNWEIGHTED, bags, combiner, out, stride);
  }

  static void findAndPool(
      EmbeddingTable table,
      long[] ids,
      int count,
      Lookup into,
      boolean insert,
      int[] offsets,
      float[] weights,
      int bags,
      Combiner combiner,
      long out,
      long stride) {
    MemorySegment target = segment(table, bags, out, stride);
    Bags all = new Bags(offsets, weights, bags, combiner);
    table.findAndPool(ids, count, into, insert, all, target, stride);
  }

  public static void ragged(EmbeddingTable table, Lookup lookup, long out) {
    int width = table.config().width();
    table.ragged(lookup, segment(table, lookup.count(), out, width));
  }

  public static void apply(
      EmbeddingTable table,
      Lookup lookup,
      int[] offsets,
      int bags,
      Combiner combiner,
      long gradients,
      long stride,
      float lr,
      long step) {
    apply(table, lookup, offsets, UNWEIGHTED, bags, combiner, gradients, stride, lr, step);
  }

  static void apply(
      EmbeddingTable table,
      Lookup lookup,
      int[] offsets,
      float[] weights,
      int bags,
      Combiner combiner,
      long gradients,
      long stride,
      float lr,
      long step) {
    MemorySegment source = segment(table, bags, gradients, stride);
    table.apply(lookup, new Bags(offsets, weights, bags, combiner), source, stride, lr, step);
  }

  /** Segments of so many floats each, as a {@link BatchLookup} takes them. */
  static List<MemorySegment> segments(long floats, long... addresses) {
    return Arrays.stream(addresses).mapToObj(at -> segment(at, 4 * floats)).toList();
  }
}
