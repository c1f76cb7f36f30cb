package dev.tern.embedding;

import dev.tern.base.DType;
import dev.tern.internal.memory.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Rows of a table on their way from or to a file, by columns and as they are stored: of each row
 * its id, its weights, its optimizer state and what it keeps about itself. Memory of its own, used
 * again for the next rows.
 */
public final class RowBlock implements AutoCloseable {
  private static final int MOST_ROWS = 1 << 12;
  private static final long MOST_BYTES = 1 << 19;

  /** Bytes of {@link #copyPiece}. */
  private static final int PIECE = 32;

  private static final int LINE = 64;

  /** Rows that the nearest cache holds. */
  private static final int GROUP = 128;

  private final DType storage;
  private final int weightBytes;
  private final int stateBytes;
  private final int metadataBytes;

  /** Of a table's row in memory: its bytes, and where state and metadata lie in it. */
  private final int rowBytes;

  private final int stateAt;
  private final int metadataAt;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment weights;
  private final MemorySegment state;
  private final MemorySegment metadata;
  private final long[] ids;
  private final long[] places;
  private int count;

  /** Keeps alive the loads that only warm the cache. */
  private int touched;

  /**
   * An empty block.
   *
   * @param storage what weights are stored as: F32, F16 or BF16
   * @param width weights of a row
   * @param state floats of optimizer state of a row
   * @param metadata numbers of 4 bytes that a row keeps about itself
   */
  public RowBlock(DType storage, int width, int state, int metadata) {
    this(storage, width, state, metadata, 0, 0, 0);
  }

  private RowBlock(
      DType storage,
      int width,
      int state,
      int metadata,
      int stateAt,
      int metadataAt,
      int rowBytes) {
    this.storage = storage;
    this.rowBytes = rowBytes;
    this.stateAt = stateAt;
    this.metadataAt = metadataAt;
    weightBytes = storage.bytes() * width;
    stateBytes = 4 * state;
    metadataBytes = 4 * metadata;
    int allBytes = Long.BYTES + weightBytes + stateBytes + metadataBytes;
    ids = new long[(int) Math.clamp(MOST_BYTES / allBytes, 1, MOST_ROWS)];
    places = new long[ids.length];
    weights = column(weightBytes);
    this.state = column(stateBytes);
    this.metadata = column(metadataBytes);
  }

  /** For the rows of a table. */
  static RowBlock of(TableConfig config) {
    return of(config, config.metadata());
  }

  /** Likewise, of {@code metadata} numbers that rows keep about themselves: all or none. */
  static RowBlock of(TableConfig config, int metadata) {
    return new RowBlock(
        config.storage(),
        config.width(),
        config.stateFloats(),
        metadata,
        config.weightBytes(),
        config.metadataOffset(),
        config.rowBytes());
  }

  /** Gives rows, block after block. */
  @FunctionalInterface
  public interface Source {
    /**
     * Puts the next rows, one or more, into {@code block}: ids ascend (signed), within and across
     * blocks.
     *
     * @return whether there were any
     */
    boolean next(RowBlock block);
  }

  private MemorySegment column(int bytes) {
    return Memory.allocate(arena, Math.max(1, (long) bytes * ids.length), 64, "row block");
  }

  /** Rows that it has room for. */
  public int room() {
    return ids.length;
  }

  /** Rows in it, {@code n}. */
  public int count() {
    return count;
  }

  /** Says how many rows are in it, from its beginning on. */
  public void setCount(int rows) {
    count = rows;
  }

  /** Drops the rows that are not of {@code shard}. */
  public void keep(TableShard shard) {
    int kept = 0;
    for (int i = 0; i < count; i++) {
      if (shard.has(ids[i])) {
        ids[kept] = ids[i];
        move(weights, weightBytes, i, kept);
        move(state, stateBytes, i, kept);
        move(metadata, metadataBytes, i, kept);
        kept++;
      }
    }
    count = kept;
  }

  private static void move(MemorySegment column, int bytes, int from, int to) {
    MemorySegment.copy(column, (long) bytes * from, column, (long) bytes * to, bytes);
  }

  /** The ids of its rows, room for as many as there may be. */
  public long[] ids() {
    return ids;
  }

  /** {@code [n, W]}, as they are stored. */
  public MemorySegment weights() {
    return weights.asSlice(0, (long) weightBytes * count);
  }

  /** {@code [n, S]} floats. */
  public MemorySegment state() {
    return state.asSlice(0, (long) stateBytes * count);
  }

  /** {@code [n, M]} whole numbers of 4 bytes: {@link TableConfig#metadata}. */
  public MemorySegment metadata() {
    return metadata.asSlice(0, (long) metadataBytes * count);
  }

  /** Takes ids of rows that are to come. */
  void take(long[] from, int at, int rows) {
    System.arraycopy(from, at, ids, 0, rows);
    count = rows;
  }

  /** Where its rows lie in a table, or are to lie: an address of each. */
  long[] places() {
    return places;
  }

  /** Takes the rows at {@link #places}. */
  void gather() {
    for (int from = 0; from < count; from += GROUP) {
      int to = Math.min(count, from + GROUP);
      touched += touch(places, from, to, rowBytes);
      gather(places, from, to, 0, weightBytes, weights.address());
      gather(places, from, to, stateAt, stateBytes, state.address());
      gather(places, from, to, metadataAt, metadataBytes, metadata.address());
    }
  }

  /** Takes rows {@code which[0 .. some)} at {@link #places} once more. */
  void gather(int[] which, int some) {
    int sum = 0;
    for (int at = 0; at < rowBytes; at += LINE) {
      for (int k = 0; k < some; k++) {
        sum += Memory.getByte(places[which[k]] + at);
      }
    }
    touched += sum;
    for (int k = 0; k < some; k++) {
      int i = which[k];
      gather(places, i, i + 1, 0, weightBytes, weights.address());
      gather(places, i, i + 1, stateAt, stateBytes, state.address());
      gather(places, i, i + 1, metadataAt, metadataBytes, metadata.address());
    }
  }

  /** Puts rows {@code first} to {@code end - 1} to {@link #places}. */
  void scatter(TableConfig config, int first, int end) {
    if (config.format() == RowFormat.INT8) {
      for (int i = first; i < end; i++) {
        long from = weights.address() + (long) weightBytes * i;
        ScalarBytes.set(storage, from, config.width(), places[i]);
      }
      return;
    }
    for (int from = first; from < end; from += GROUP) {
      int to = Math.min(end, from + GROUP);
      scatter(places, from, to, 0, weightBytes, weights.address());
      scatter(places, from, to, stateAt, stateBytes, state.address());
      scatter(places, from, to, metadataAt, metadataBytes, metadata.address());
    }
  }

  /** Loads from each line of the rows, so that their cache misses overlap. */
  private static int touch(long[] rows, int from, int to, int bytes) {
    int sum = 0;
    for (int at = 0; at < bytes; at += LINE) {
      for (int i = from; i < to; i++) {
        sum += Memory.getByte(rows[i] + at);
      }
    }
    return sum;
  }

  /** A few columns of all rows at a time, in straight-line code: rows are short and many. */
  private static void gather(long[] rows, int from, int to, long offset, int bytes, long column) {
    int done = 0;
    for (; done <= bytes - PIECE; done += PIECE) {
      for (int i = from; i < to; i++) {
        copyPiece(rows[i] + offset + done, column + (long) bytes * i + done);
      }
    }
    for (; done < bytes; done += Short.BYTES) {
      for (int i = from; i < to; i++) {
        Memory.setShort(column + (long) bytes * i + done, Memory.getShort(rows[i] + offset + done));
      }
    }
  }

  private static void scatter(long[] rows, int from, int to, long offset, int bytes, long column) {
    int done = 0;
    for (; done <= bytes - PIECE; done += PIECE) {
      for (int i = from; i < to; i++) {
        copyPiece(column + (long) bytes * i + done, rows[i] + offset + done);
      }
    }
    for (; done < bytes; done += Short.BYTES) {
      for (int i = from; i < to; i++) {
        Memory.setShort(rows[i] + offset + done, Memory.getShort(column + (long) bytes * i + done));
      }
    }
  }

  private static void copyPiece(long source, long target) {
    long a = Memory.getLong(source);
    long b = Memory.getLong(source + 8);
    long c = Memory.getLong(source + 16);
    long d = Memory.getLong(source + 24);
    Memory.setLong(target, a);
    Memory.setLong(target + 8, b);
    Memory.setLong(target + 16, c);
    Memory.setLong(target + 24, d);
  }

  @Override
  public void close() {
    arena.close();
  }
}
