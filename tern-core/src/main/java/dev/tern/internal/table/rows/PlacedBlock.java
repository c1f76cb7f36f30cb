package dev.tern.internal.table.rows;

import dev.tern.embedding.config.RowBlock;
import dev.tern.embedding.config.RowFormat;
import dev.tern.embedding.config.TableConfig;
import dev.tern.internal.memory.Memory;
import java.lang.foreign.Arena;

/**
 * A block of rows, and the address of each row in a table: {@link #gather} copies rows from there
 * into the block, {@link #scatter} copies them back.
 */
public final class PlacedBlock implements AutoCloseable {
  private static final int PIECE = 32;
  private static final int LINE = 64;

  /** Rows that the nearest cache holds. */
  private static final int GROUP = 128;

  private final TableConfig config;
  private final RowBlock rows;
  private final long[] places;

  // Of weights, state and metadata: their offset in a row, their bytes, their column in the block.
  private final int[] offsets;
  private final int[] bytes;
  private final long[] columns;
  private final int rowBytes;

  /** Keeps alive the loads that only warm the cache. */
  private int touched;

  /**
   * An empty block.
   *
   * @param metadata {@link TableConfig#metadata}, or 0 to leave it out
   * @param arena as of a {@link RowBlock}
   */
  public PlacedBlock(TableConfig config, int metadata, Arena arena) {
    this.config = config;
    int state = config.stateFloats();
    rows = new RowBlock(config.storage(), config.width(), state, metadata, arena);
    places = new long[rows.room()];
    rowBytes = RowLayout.rowBytes(config);
    offsets = new int[] {0, RowLayout.weightBytes(config), RowLayout.metadataOffset(config)};
    bytes = new int[] {config.storage().bytes() * config.width(), 4 * state, 4 * metadata};
    columns =
        new long[] {rows.weights().address(), rows.state().address(), rows.metadata().address()};
  }

  public RowBlock rows() {
    return rows;
  }

  public int count() {
    return rows.count();
  }

  public long[] ids() {
    return rows.ids();
  }

  /** The address of each row in the table, which the caller sets. */
  public long[] places() {
    return places;
  }

  /** Sets the ids of the rows: {@code from[at .. at + count)}. */
  public void take(long[] from, int at, int count) {
    System.arraycopy(from, at, rows.ids(), 0, count);
    rows.setCount(count);
  }

  public void gather() {
    for (int from = 0; from < count(); from += GROUP) {
      int to = Math.min(count(), from + GROUP);
      touch(from, to);
      for (int c = 0; c < columns.length; c++) {
        gather(c, from, to);
      }
    }
  }

  /** Copies rows {@code which[0 .. some)} again, after their places changed. */
  public void gather(int[] which, int some) {
    int sum = 0;
    for (int at = 0; at < rowBytes; at += LINE) {
      for (int k = 0; k < some; k++) {
        sum += Memory.getByte(places[which[k]] + at);
      }
    }
    touched += sum;
    for (int k = 0; k < some; k++) {
      for (int c = 0; c < columns.length; c++) {
        gather(c, which[k], which[k] + 1);
      }
    }
  }

  /** Copies rows {@code first} to {@code end - 1} into the table, in its {@link RowFormat}. */
  public void scatter(int first, int end) {
    if (config.format() == RowFormat.INT8) {
      for (int i = first; i < end; i++) {
        long from = columns[0] + (long) bytes[0] * i;
        Int8Rows.set(config.storage(), from, config.width(), places[i]);
      }
      return;
    }
    for (int from = first; from < end; from += GROUP) {
      int to = Math.min(end, from + GROUP);
      for (int c = 0; c < columns.length; c++) {
        scatter(c, from, to);
      }
    }
  }

  /** Loads from each line of the rows, so that their cache misses overlap. */
  private void touch(int from, int to) {
    int sum = 0;
    for (int at = 0; at < rowBytes; at += LINE) {
      for (int i = from; i < to; i++) {
        sum += Memory.getByte(places[i] + at);
      }
    }
    touched += sum;
  }

  /** Copies one piece of all rows at a time, in straight-line code: rows are short and many. */
  private void gather(int c, int from, int to) {
    long[] rowsAt = places;
    long offset = offsets[c];
    long column = columns[c];
    long step = bytes[c];
    int done = 0;
    for (; done <= step - PIECE; done += PIECE) {
      for (int i = from; i < to; i++) {
        copyPiece(rowsAt[i] + offset + done, column + step * i + done);
      }
    }
    for (; done < step; done += Short.BYTES) {
      for (int i = from; i < to; i++) {
        Memory.setShort(column + step * i + done, Memory.getShort(rowsAt[i] + offset + done));
      }
    }
  }

  private void scatter(int c, int from, int to) {
    long[] rowsAt = places;
    long offset = offsets[c];
    long column = columns[c];
    long step = bytes[c];
    int done = 0;
    for (; done <= step - PIECE; done += PIECE) {
      for (int i = from; i < to; i++) {
        copyPiece(column + step * i + done, rowsAt[i] + offset + done);
      }
    }
    for (; done < step; done += Short.BYTES) {
      for (int i = from; i < to; i++) {
        Memory.setShort(rowsAt[i] + offset + done, Memory.getShort(column + step * i + done));
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
    rows.close();
  }
}
