package dev.tern.embedding;

import dev.tern.base.Workers;
import dev.tern.exchange.Mesh;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.table.rows.PooledBags;
import dev.tern.internal.table.rows.RowLookup;
import dev.tern.internal.table.rows.RowParts;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The rows of tables that ranks hold together, each of them the ids of its {@link
 * TableShard#ofRank}. A rank asks for the distinct ids of its own rows of a batch, once each, and
 * gets their weights; later it gives the sums of their gradients over its own lanes, and who has a
 * row adds up those of all ranks along a tree. As the lanes of ranks follow each other, that is the
 * tree over all lanes, so the rows are those of one rank to the bit.
 *
 * <p>There is one message from each rank to each other for the ids of all tables, one for their
 * rows and one for gradients; a short one before says how many ids come. All ranks must call in
 * step. For one thread at a time; compute threads work on whole tables.
 */
final class ShardedRows implements AutoCloseable {
  private final Mesh mesh;
  private final int ranks;
  private final ShardedTable[] tables;

  /** Per rank and table, the ids that this rank asks for, and those that it is asked for. */
  private final int[] asks;

  private final int[] isAsked;
  private final long[] countStarts;
  private final long[] received;

  // Bytes of what is sent of each table for an id.
  private final int[] idBytes;
  private final int[] rowBytes;
  private final int[] gradientBytes;

  private final RankParts idsOut;
  private final RankParts idsIn;
  private final RankParts rowsOut;
  private final RankParts rowsIn;
  private final RankParts gradientsOut;
  private final RankParts gradientsIn;

  private final NativeRoom countsTo;
  private final NativeRoom countsFrom;
  private final NativeRoom idsTo;
  private final NativeRoom idsFrom;
  private final NativeRoom rowsTo;
  private final NativeRoom rowsFrom;
  private final NativeRoom gradientsTo;
  private final NativeRoom gradientsFrom;
  private final NativeRoom blocks;

  /** Per table, where its block lies. */
  private final long[] blockAt;

  private final Workers.Task sorting = (table, worker) -> sort(table);
  private final Workers.Task asking = (table, worker) -> ask(table);
  private final Workers.Task answering = (table, worker) -> answer(table);
  private final Workers.Task taking = (table, worker) -> take(table);

  // The arguments of the call at hand.
  private TableBatch @Nullable [] parts;
  private boolean inserts;

  ShardedRows(Mesh mesh, List<EmbeddingTable> own) {
    this.mesh = mesh;
    ranks = mesh.ranks();
    int count = own.size();
    ShardOwners owners = new ShardOwners(ranks);
    tables =
        own.stream()
            .map(table -> new ShardedTable(table, owners, ranks))
            .toArray(ShardedTable[]::new);
    asks = new int[ranks * count];
    isAsked = new int[ranks * count];
    countStarts = LongStream.rangeClosed(0, ranks).map(r -> r * count * Integer.BYTES).toArray();
    received = new long[ranks];
    idBytes = new int[count];
    Arrays.fill(idBytes, Long.BYTES);
    rowBytes = Stream.of(tables).mapToInt(ShardedTable::rowBytes).toArray();
    gradientBytes = Stream.of(tables).mapToInt(ShardedTable::gradientBytes).toArray();
    idsOut = new RankParts(ranks, count);
    idsIn = new RankParts(ranks, count);
    rowsOut = new RankParts(ranks, count);
    rowsIn = new RankParts(ranks, count);
    gradientsOut = new RankParts(ranks, count);
    gradientsIn = new RankParts(ranks, count);
    Allocator memory = own.getFirst().allocator();
    countsTo = new NativeRoom(memory, "counts for ranks");
    countsFrom = new NativeRoom(memory, "counts of ranks");
    idsTo = new NativeRoom(memory, "ids for ranks");
    idsFrom = new NativeRoom(memory, "ids of ranks");
    rowsTo = new NativeRoom(memory, "rows for ranks");
    rowsFrom = new NativeRoom(memory, "rows of ranks");
    gradientsTo = new NativeRoom(memory, "gradients for ranks");
    gradientsFrom = new NativeRoom(memory, "gradients of ranks");
    blocks = new NativeRoom(memory, "sums of gradients");
    blockAt = new long[count];
  }

  /**
   * Gets the rows of the ids of all tables, which parts of a batch have taken and filled.
   *
   * @param insert whether ids without a row get one, but those of frozen tables
   */
  void fetch(Workers workers, TableBatch[] of, boolean insert) {
    parts = of;
    inserts = insert;
    workers.run(tables.length, sorting);
    exchangeCounts();
    idsOut.lay(asks, idBytes, false);
    idsIn.lay(isAsked, idBytes, false);
    rowsOut.lay(isAsked, rowBytes, true);
    rowsIn.lay(asks, rowBytes, true);
    idsTo.grow(idsOut.bytes());
    idsFrom.grow(idsIn.bytes());
    rowsTo.grow(rowsOut.bytes());
    rowsFrom.grow(rowsIn.bytes());
    workers.run(tables.length, asking);
    exchange(idsTo, idsOut, idsFrom, idsIn);
    workers.run(tables.length, answering);
    exchange(rowsTo, rowsOut, rowsFrom, rowsIn);
    workers.run(tables.length, taking);
  }

  private TableBatch part(int table) {
    if (parts == null) {
      throw new IllegalStateException("ranks: got an update before a batch; find its rows first");
    }
    return parts[table];
  }

  private void sort(int table) {
    tables[table].sort(part(table).lookup);
    for (int rank = 0; rank < ranks; rank++) {
      asks[rank * tables.length + table] = tables[table].count(rank);
    }
  }

  /** Tells each rank how many ids of each table it will be asked for. */
  private void exchangeCounts() {
    long bytes = (long) Integer.BYTES * asks.length;
    countsTo.grow(bytes);
    countsFrom.grow(bytes);
    for (int i = 0; i < asks.length; i++) {
      Memory.setInt(countsTo.address() + 4L * i, asks[i]);
    }
    mesh.allToAll(countsTo.segment(), countStarts, countsFrom.segment(), countStarts, received)
        .await();
    for (int i = 0; i < asks.length; i++) {
      isAsked[i] = Memory.getInt(countsFrom.address() + 4L * i);
    }
  }

  private void exchange(NativeRoom to, RankParts out, NativeRoom from, RankParts in) {
    mesh.allToAll(to.segment(), out.starts, from.segment(), in.starts, received).await();
    for (int rank = 0; rank < ranks; rank++) {
      long expected = in.starts[rank + 1] - in.starts[rank];
      if (received[rank] != expected) {
        throw new IllegalStateException(
            "ranks: got %,d bytes of rank %d, expected %,d; all ranks must train on one model with the same options"
                .formatted(received[rank], rank, expected));
      }
    }
  }

  private void ask(int table) {
    RowLookup lookup = part(table).lookup;
    for (int rank = 0; rank < ranks; rank++) {
      tables[table].writeIds(lookup, rank, idsTo.address() + idsOut.at(rank, table));
    }
  }

  private void answer(int table) {
    ShardedTable of = tables[table];
    int all = 0;
    for (int rank = 0; rank < ranks; rank++) {
      all = Math.addExact(all, isAsked[rank * tables.length + table]);
    }
    of.beginAsked(all);
    for (int rank = 0; rank < ranks; rank++) {
      int count = isAsked[rank * tables.length + table];
      of.readIds(rank, idsFrom.address() + idsIn.at(rank, table), count);
    }
    of.find(inserts && gradientBytes[table] > 0);
    for (int rank = 0; rank < ranks; rank++) {
      of.writeRows(rank, rowsTo.address() + rowsOut.at(rank, table));
    }
  }

  private void take(int table) {
    RowLookup lookup = part(table).lookup;
    tables[table].beginRows(lookup);
    for (int rank = 0; rank < ranks; rank++) {
      tables[table].readRows(lookup, rank, rowsFrom.address() + rowsIn.at(rank, table));
    }
  }

  /** Pools bags {@code [from, to)} of a table's part of the batch. */
  void pool(int table, PooledBags bags, int from, int to, RowParts out) {
    tables[table].pool(part(table).lookup, bags, from, to, out);
  }

  /** Begins to give gradients; {@link #sum} of each table, then {@link #exchangeGradients}. */
  void beginGradients() {
    gradientsOut.lay(asks, gradientBytes, false);
    gradientsIn.lay(isAsked, gradientBytes, false);
    gradientsTo.grow(gradientsOut.bytes());
    gradientsFrom.grow(gradientsIn.bytes());
    long end = 0;
    for (int table = 0; table < tables.length; table++) {
      blockAt[table] = end;
      end += tables[table].blockBytes();
    }
    blocks.grow(end);
  }

  /** Adds up the gradients of a table's ids over the lanes of this rank. */
  void sum(int table, PooledBags bags, RowParts gradients) {
    if (gradientBytes[table] == 0) {
      return;
    }
    ShardedTable of = tables[table];
    for (int rank = 0; rank < ranks; rank++) {
      of.target(rank, gradientsTo.address() + gradientsOut.at(rank, table));
    }
    of.sum(part(table).lookup, bags, gradients, blocks.address() + blockAt[table]);
  }

  /** Gives the sums to who has the rows. */
  void exchangeGradients() {
    exchange(gradientsTo, gradientsOut, gradientsFrom, gradientsIn);
  }

  /** Updates the rows of a table that this rank has. */
  void apply(int table, float rate, long step) {
    for (int rank = 0; rank < ranks; rank++) {
      tables[table].place(rank, gradientsIn.at(rank, table) / Float.BYTES);
    }
    tables[table].apply(gradientsFrom.address(), rate, step);
  }

  @Override
  public void close() {
    Stream.of(
            countsTo,
            countsFrom,
            idsTo,
            idsFrom,
            rowsTo,
            rowsFrom,
            gradientsTo,
            gradientsFrom,
            blocks)
        .forEach(NativeRoom::close);
  }
}
