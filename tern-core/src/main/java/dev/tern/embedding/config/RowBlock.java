package dev.tern.embedding.config;

import dev.tern.base.DType;
import dev.tern.internal.memory.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.LongPredicate;

/**
 * Rows of a table on their way from or to a file, as they are stored. A column each for ids,
 * weights, optimizer state and metadata, in memory of its own that the next rows use again.
 */
public final class RowBlock implements AutoCloseable {
  private static final int MOST_ROWS = 1 << 12;
  private static final long MOST_BYTES = 1 << 19;

  private final int weightBytes;
  private final int stateBytes;
  private final int metadataBytes;

  private final Arena arena;
  private final MemorySegment weights;
  private final MemorySegment state;
  private final MemorySegment metadata;
  private final long[] ids;
  private int count;

  /**
   * An empty block for rows of {@code width} weights.
   *
   * @param storage type of the weights: F32, F16 or BF16
   * @param state floats of optimizer state of a row
   * @param metadata numbers of 4 bytes that a row keeps about itself
   * @param arena gives the memory and is closed with the block: confined where one thread uses the
   *     block, as the end of a shared one stops all threads for a moment
   */
  public RowBlock(DType storage, int width, int state, int metadata, Arena arena) {
    this.arena = arena;
    weightBytes = storage.bytes() * width;
    stateBytes = 4 * state;
    metadataBytes = 4 * metadata;
    int allBytes = Long.BYTES + weightBytes + stateBytes + metadataBytes;
    ids = new long[(int) Math.clamp(MOST_BYTES / allBytes, 1, MOST_ROWS)];
    weights = column(weightBytes);
    this.state = column(stateBytes);
    this.metadata = column(metadataBytes);
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

  /** The most rows that fit. */
  public int room() {
    return ids.length;
  }

  /** Rows, {@code n}. */
  public int count() {
    return count;
  }

  /** Sets the number of rows; the first rows stay. */
  public void setCount(int rows) {
    count = rows;
  }

  /** Drops the rows of all ids except the {@code wanted} ones. */
  public void keep(LongPredicate wanted) {
    int kept = 0;
    for (int i = 0; i < count; i++) {
      if (wanted.test(ids[i])) {
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

  /** The ids of the rows, in an array of {@link #room} numbers. */
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

  @Override
  public void close() {
    arena.close();
  }
}
