package dev.tern.embedding;

import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.table.rows.GradientSums;
import dev.tern.internal.table.rows.InitialRows;
import dev.tern.internal.table.rows.LaneBags;
import dev.tern.internal.table.rows.PooledBags;
import dev.tern.internal.table.rows.Pooling;
import dev.tern.internal.table.rows.RowLayout;
import dev.tern.internal.table.rows.RowLookup;
import dev.tern.internal.table.rows.RowParts;
import dev.tern.internal.table.rows.RowReads;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;

/**
 * One table that ranks hold together, seen from one of them. What it asks of others are the
 * distinct ids of its own lookup, sorted by the rank that has their rows; what it answers are the
 * ids of all ranks in its own shard, rank after rank. For one thread at a time.
 */
final class ShardedTable {
  private final EmbeddingTable own;
  private final TableConfig config;
  private final ShardOwners owners;
  private final int ranks;
  private final int rowBytes;
  private final Pooling pooling;
  private final GradientSums sums;

  /** The distinct ids of the lookup by the ranks that have them, and the first of each rank. */
  private int[] order = new int[0];

  private final int[] begins;
  private long[] targets = new long[0];

  /**
   * The ids that all ranks ask this one for; those of rank {@code r} begin at {@code firsts[r]}.
   */
  private long[] asked = new long[0];

  private final int[] firsts;
  private final RowLookup found = new RowLookup();

  // Each id that a rank asks for is a bag of one in the lane of that rank.
  private int[] singles = {0};
  private final LaneBags lanes = new LaneBags(1);
  private final PooledBags bags = new PooledBags(Combiner.SUM);
  private final RowParts gradients;
  private final int[] places;
  private final int[] steps;

  ShardedTable(EmbeddingTable own, ShardOwners owners, int ranks) {
    this.own = own;
    this.owners = owners;
    this.ranks = ranks;
    config = own.config();
    require(config);
    rowBytes = (RowLayout.weightBytes(config) + 3) & -4;
    pooling = new Pooling(config, new InitialRows(config), RowReads.fastest(config));
    sums = new GradientSums(config);
    begins = new int[ranks + 1];
    firsts = new int[ranks + 1];
    gradients = new RowParts(List.of(config.width()));
    places = new int[ranks];
    steps = new int[ranks];
    Arrays.fill(steps, config.width());
  }

  /** What a table does with the rows of all ids must not depend on how many ranks there are. */
  private static void require(TableConfig config) {
    boolean readsOthers = config.unknown() == UnknownRow.MEAN || config.unknown().buckets() > 0;
    if (!config.rows().isAll() || readsOthers) {
      throw new IllegalArgumentException(
          "table %s: got %s on several ranks, expected a row for each id for good, and ids without a row that read as zeros or as initial rows; leave the row policy and unknown out, or train on one rank"
              .formatted(
                  config.name(),
                  readsOthers ? "unknown ids that read as " + config.unknown() : config.rows()));
    }
  }

  /** Bytes of a row's weights on their way. */
  int rowBytes() {
    return rowBytes;
  }

  /** Bytes of a row's gradient on its way; 0 of a table that does not learn. */
  int gradientBytes() {
    return config.isFrozen() ? 0 : Float.BYTES * config.width();
  }

  /** Bytes that {@link #sum} needs beside the sums. */
  long blockBytes() {
    return config.isFrozen() ? 0 : sums.blockBytes();
  }

  /** Sorts the distinct ids of a lookup by rank. */
  void sort(RowLookup lookup) {
    int unique = lookup.unique();
    if (order.length < unique) {
      order = new int[lookup.ids.length];
      targets = new long[lookup.ids.length];
    }
    Arrays.fill(begins, 0);
    for (int u = 0; u < unique; u++) {
      begins[owners.rank(lookup.hashes[u])]++;
    }
    int end = 0;
    for (int rank = 0; rank < ranks; rank++) {
      end += begins[rank];
      begins[rank] = end;
    }
    begins[ranks] = end;
    for (int u = unique - 1; u >= 0; u--) {
      order[--begins[owners.rank(lookup.hashes[u])]] = u;
    }
  }

  /** Ids that this rank asks another for. */
  int count(int rank) {
    return begins[rank + 1] - begins[rank];
  }

  /** Writes the ids for a rank. */
  void writeIds(RowLookup lookup, int rank, long address) {
    int begin = begins[rank];
    for (int k = begin; k < begins[rank + 1]; k++) {
      Memory.setLong(address + 8L * (k - begin), lookup.ids[order[k]]);
    }
  }

  /** Begins to take what ranks ask for, {@code count} ids in all. */
  void beginAsked(int count) {
    if (asked.length < count) {
      asked = new long[count + count / 4];
      singles = new int[asked.length + 1];
      Arrays.setAll(singles, i -> i);
    }
    firsts[0] = 0;
  }

  /** Takes the ids that rank {@code rank} asks for, the next one. */
  void readIds(int rank, long address, int count) {
    MemorySegment.copy(
        Memory.ALL, ValueLayout.JAVA_LONG_UNALIGNED, address, asked, firsts[rank], count);
    firsts[rank + 1] = firsts[rank] + count;
  }

  /** Finds the rows of all that was asked for. */
  void find(boolean inserts) {
    own.fill(asked, firsts[ranks], found, inserts);
    own.find(found, inserts);
  }

  /** Writes the rows that a rank asked for, then a bit for each that is there. */
  void writeRows(int rank, long address) {
    int begin = firsts[rank];
    int count = firsts[rank + 1] - begin;
    long flags = address + (long) count * rowBytes;
    int bytes = RowLayout.weightBytes(config);
    for (int from = 0; from < count; from += Byte.SIZE) {
      int bits = 0;
      for (int i = from; i < Math.min(count, from + Byte.SIZE); i++) {
        int u = found.inverse[begin + i];
        Memory.copy(found.addresses[u], address + (long) i * rowBytes, bytes);
        bits |= found.rows[u] == RowLookup.NONE ? 0 : 1 << (i - from);
      }
      Memory.setByte(flags + from / Byte.SIZE, (byte) bits);
    }
  }

  /** Begins to take the rows of a lookup's ids. */
  void beginRows(RowLookup lookup) {
    lookup.complete = true;
  }

  /** Has a lookup read the rows that a rank has sent, where they lie. */
  void readRows(RowLookup lookup, int rank, long address) {
    int count = count(rank);
    long flags = address + (long) count * rowBytes;
    boolean all = true;
    for (int i = 0; i < count; i++) {
      int u = order[begins[rank] + i];
      boolean isThere = (Memory.getByte(flags + i / Byte.SIZE) >> i % Byte.SIZE & 1) != 0;
      lookup.addresses[u] = address + (long) i * rowBytes;
      lookup.rows[u] = isThere ? 0 : RowLookup.NONE;
      all &= isThere;
    }
    lookup.complete &= all;
  }

  /** Pools bags {@code [from, to)} of a lookup whose rows were read. */
  void pool(RowLookup lookup, PooledBags all, int from, int to, RowParts out) {
    all.check(config.name(), from, to, lookup.count());
    pooling.pool(lookup, all, from, to, out);
  }

  /** Says where the gradients for a rank go. */
  void target(int rank, long address) {
    for (int k = begins[rank]; k < begins[rank + 1]; k++) {
      targets[order[k]] = address + 4L * config.width() * (k - begins[rank]);
    }
  }

  /** Writes the sums of the gradients of a lookup's ids where {@link #target} has said. */
  void sum(RowLookup lookup, PooledBags all, RowParts of, long room) {
    all.check(config.name(), 0, all.count, lookup.count());
    sums.sumAll(lookup, all, of, targets, room);
  }

  /** Says where the gradients of a rank lie, in floats behind the first of all. */
  void place(int rank, long floats) {
    if (floats > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          "table %s: got gradients that lie %,d floats apart in the messages of a step, expected fewer than 2^31; make batches smaller"
              .formatted(config.name(), floats));
    }
    places[rank] = (int) floats;
  }

  /** Adds up the gradients of all ranks, as lanes are, and updates the rows. */
  void apply(long address, float rate, long step) {
    int count = firsts[ranks];
    lanes.begin(ranks);
    for (int rank = 0; rank <= ranks; rank++) {
      lanes.set(rank, 0, firsts[rank]);
    }
    gradients.set(0, address, 1);
    gradients.interleave(firsts, places, steps);
    bags.set(singles, PooledBags.UNWEIGHTED, count).inLanes(lanes);
    own.apply(found, bags, gradients, rate, step);
  }
}
