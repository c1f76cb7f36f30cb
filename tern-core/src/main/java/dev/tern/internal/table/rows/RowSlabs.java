package dev.tern.internal.table.rows;

import dev.tern.embedding.config.RowFormat;
import dev.tern.embedding.config.TableConfig;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import java.util.Arrays;
import java.util.BitSet;

/**
 * Rows by number, in slabs that are added and never moved: the address of a row holds for the life
 * of the table. Slabs double up to {@link #MAX_SLAB} bytes; a directory maps units of equal size to
 * addresses, so small tables stay small and large ones need one load to find a row. Rows given back
 * are zeros until they are used again.
 */
public final class RowSlabs {
  /** Whole pieces of this many bytes make most rows. */
  private static final int PIECE = 16;

  private static final int UNIT_BYTES = 1 << 16;
  private static final int MAX_SLAB = 1 << 22;

  private final Allocator allocator;
  private final String holder;
  private final int stride;
  private final int unitShift;
  private final int unitMask;
  private long[] units = new long[4];
  private int unitCount;
  private long[] slabs = new long[4];
  private int slabCount;
  private int size;
  private long bytes;

  /** Rows given back, used again last first. */
  private int[] free = new int[0];

  private int freeCount;

  public RowSlabs(int rowBytes, Allocator allocator, String holder) {
    this(allocator, holder, strideOf(rowBytes));
  }

  private RowSlabs(Allocator allocator, String holder, int stride) {
    this.allocator = allocator;
    this.holder = holder;
    this.stride = stride;
    int unitRows = Math.max(1, Integer.highestOneBit(UNIT_BYTES / stride));
    unitShift = Integer.numberOfTrailingZeros(unitRows);
    unitMask = unitRows - 1;
  }

  /**
   * For the rows of a table, of so many bytes; those of 8 bits a weight right behind each other.
   */
  public static RowSlabs of(TableConfig config, int rowBytes, Allocator allocator) {
    boolean packed = config.format() == RowFormat.INT8;
    return new RowSlabs(allocator, config.holder("rows"), packed ? rowBytes : strideOf(rowBytes));
  }

  /** Bytes from row to row: whole 16-byte pieces, or a power of two below that. */
  private static int strideOf(int rowBytes) {
    return rowBytes > 8 ? (rowBytes + PIECE - 1) & -PIECE : Integer.highestOneBit(2 * rowBytes - 1);
  }

  /** Bytes that slabs of so many rows hold at most. */
  public static long mostBytes(int rowBytes, int rows) {
    long bytes = (long) strideOf(rowBytes) * rows;
    return bytes
        + Math.min(bytes, Math.max(MAX_SLAB, rowBytes))
        + 2L * Math.max(UNIT_BYTES, rowBytes);
  }

  /** Rows ever in use: numbers are below it. */
  public int size() {
    return size;
  }

  /** Sets the bits of rows given back. */
  void markFree(BitSet marks) {
    for (int i = 0; i < freeCount; i++) {
      marks.set(free[i]);
    }
  }

  /** Rows in use. */
  public int inUse() {
    return size - freeCount;
  }

  public long bytes() {
    return bytes;
  }

  /** Bytes from one row to the next of the same unit. */
  public int stride() {
    return stride;
  }

  /** Rows {@code k * unitRows()} to {@code (k + 1) * unitRows() - 1} lie one after the other. */
  int unitRows() {
    return unitMask + 1;
  }

  public long address(int row) {
    return units[row >>> unitShift] + (long) (row & unitMask) * stride;
  }

  /**
   * Addresses of the rows that a lookup's distinct ids {@code [from, to)} have. Those without one
   * are listed as missing, behind the first {@code before}; returns the end of that list.
   */
  public int locate(RowLookup lookup, int from, int to, int before) {
    int missing = before;
    for (int u = from; u < to; u++) {
      int row = lookup.rows[u];
      if (row < 0) {
        lookup.missing[missing++] = u;
      } else {
        lookup.addresses[u] = address(row);
      }
    }
    return missing;
  }

  /** Where the rows in use now lie, for whoever may not see these slabs grow. */
  public Places places() {
    return new Places(units, unitShift, unitMask, stride);
  }

  /**
   * Where rows lie.
   *
   * @param units addresses of their units, which stay
   */
  public record Places(long[] units, int unitShift, int unitMask, int stride) {
    public long address(int row) {
      return units[row >>> unitShift] + (long) (row & unitMask) * stride;
    }
  }

  /** Makes sure that {@link #add} will not need memory for so many rows. */
  public void reserve(int count) {
    while (((long) unitCount << unitShift) - size + freeCount < count) {
      grow();
    }
  }

  /** The number of a row not in use; what it holds is undefined. */
  public int add() {
    if (freeCount > 0) {
      return free[--freeCount];
    }
    if (size >>> unitShift == unitCount) {
      grow();
    }
    return size++;
  }

  /** Takes a row back and fills it with zeros. */
  public void release(int row) {
    if (freeCount == free.length) {
      free = Arrays.copyOf(free, Math.max(64, 2 * freeCount));
    }
    Memory.zero(address(row), stride);
    free[freeCount++] = row;
  }

  private void grow() {
    long unitBytes = (long) unitRows() * stride;
    int most = (int) Math.max(1, MAX_SLAB / unitBytes);
    int count = Math.clamp(unitCount, 1, most);
    if ((long) (unitCount + count) << unitShift > Integer.MAX_VALUE) {
      throw new IllegalStateException(
          holder
              + ": got more than "
              + size
              + " rows, expected less than 2^31; use several tables");
    }
    if (slabCount == slabs.length) {
      slabs = Arrays.copyOf(slabs, 2 * slabCount);
    }
    if (unitCount + count > units.length) {
      units = Arrays.copyOf(units, Math.max(2 * units.length, unitCount + count));
    }
    long slab = allocator.allocate(count * unitBytes, holder);
    slabs[slabCount++] = slab;
    for (int i = 0; i < count; i++) {
      units[unitCount++] = slab + i * unitBytes;
    }
    bytes += count * unitBytes;
  }

  public void free() {
    for (int i = 0; i < slabCount; i++) {
      allocator.free(slabs[i]);
    }
    slabCount = 0;
    unitCount = 0;
    freeCount = 0;
    size = 0;
    bytes = 0;
  }
}
