package dev.tern.embedding;

import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.TableConfig;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import java.lang.foreign.MemorySegment;

/**
 * Tables in the memory of an allocator, called with the addresses of floats, for the benchmarks,
 * which are on the same class path.
 */
public final class BenchTables {
  private BenchTables() {}

  public static EmbeddingTable create(TableConfig config, Allocator allocator) {
    return EmbeddingTable.create(config, allocator);
  }

  public static EmbeddingTable create(TableConfig config, FileTier tier, Allocator allocator) {
    return EmbeddingTable.create(config, tier, allocator);
  }

  private static MemorySegment segment(EmbeddingTable table, int bags, long address, long stride) {
    long floats = bags == 0 ? 0 : (bags - 1) * stride + table.config().width();
    return Memory.segment(address, 4 * floats);
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
    Bags bags = Bags.of(offsets, to, combiner);
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
    MemorySegment target = segment(table, bags, out, stride);
    table.findAndPool(ids, count, into, insert, Bags.of(offsets, bags, combiner), target, stride);
  }

  public static void ragged(EmbeddingTable table, Lookup lookup, long out) {
    table.ragged(lookup, segment(table, lookup.count(), out, table.config().width()));
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
    MemorySegment source = segment(table, bags, gradients, stride);
    table.apply(lookup, Bags.of(offsets, bags, combiner), source, stride, lr, step);
  }
}
