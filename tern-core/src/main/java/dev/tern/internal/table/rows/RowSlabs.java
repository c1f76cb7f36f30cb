package dev.tern.internal.table.rows;

import dev.tern.embedding.config.RowFormat;
import dev.tern.embedding.config.TableConfig;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import java.util.Arrays;
import java.util.BitSet;

/**
 * The memory of rows, by row number. Slabs are never moved, so the address of a row is valid for
 * the life of the table. Slabs double in size up to {@link #MAX_SLAB} bytes, so small tables stay
 * small. A directory has the address of each unit of equally many rows, so that one load finds a
 * row: with 1024 rows a unit, row 2050 is row 2 of unit 2. Free rows are zeros.
 *
 * <p>A change needs the slabs for itself; {@link #places} gives readers a view that growth leaves
 * alone.
 */
public final class RowSlabs {
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

  /** Released rows. The last one is used again first. */
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

  /** Slabs for the rows of a table. Rows of INT8 lie without gaps. */
  public static RowSlabs of(TableConfig config, int rowBytes, Allocator allocator) {
    boolean packed = config.format() == RowFormat.INT8;
    return new RowSlabs(allocator, config.holder("rows"), packed ? rowBytes : strideOf(rowBytes));
  }

  /** Bytes from row to row: 1, 2, 4, 8, or a multiple of 16. */
  private static int strideOf(int rowBytes) {
    return rowBytes > 8 ? (rowBytes + PIECE - 1) & -PIECE : Integer.highestOneBit(2 * rowBytes - 1);
  }

  /** The most bytes that slabs of {@code rows} rows hold. */
  public static long mostBytes(int rowBytes, int rows) {
    long bytes = (long) strideOf(rowBytes) * rows;
    long units = 2L * Math.max(UNIT_BYTES, rowBytes);
    return bytes + Math.min(bytes, Math.max(MAX_SLAB, rowBytes)) + units;
  }

  /** One more than the largest row number so far. */
  public int size() {
    return size;
  }

  /** Sets the bits of released rows. */
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

  /** Bytes from one row to the next in a unit. */
  public int stride() {
    return stride;
  }

  public long address(int row) {
    return units[row >>> unitShift] + (long) (row & unitMask) * stride;
  }

  /**
   * Writes the addresses of the rows of the first {@code unique} distinct ids of a lookup, and
   * lists the ids without a row as missing; returns how many these are.
   */
  public int locate(RowLookup lookup, int unique) {
    int missing = 0;
    for (int u = 0; u < unique; u++) {
      int row = lookup.rows[u];
      if (row < 0) {
        lookup.missing[missing++] = u;
      } else {
        lookup.addresses[u] = address(row);
      }
    }
    return missing;
  }

  /** Where the present rows lie, for threads that read during growth. */
  public Places places() {
    return new Places(units, unitShift, unitMask, stride);
  }

  /** See {@link #places}. */
  public record Places(long[] units, int unitShift, int unitMask, int stride) {
    public long address(int row) {
      return units[row >>> unitShift] + (long) (row & unitMask) * stride;
    }
  }

  /** Makes the next {@code count} calls of {@link #add} need no memory. */
  public void reserve(int count) {
    while (((long) unitCount << unitShift) - size + freeCount < count) {
      grow();
    }
  }

  /** Returns a row that was free, with undefined content. */
  public int add() {
    if (freeCount > 0) {
      return free[--freeCount];
    }
    if (size >>> unitShift == unitCount) {
      grow();
    }
    return size++;
  }

  /** Frees a row, and fills it with zeros. */
  public void release(int row) {
    if (freeCount == free.length) {
      free = Arrays.copyOf(free, Math.max(64, 2 * freeCount));
    }
    Memory.zero(address(row), stride);
    free[freeCount++] = row;
  }

  private void grow() {
    long unitBytes = (unitMask + 1L) * stride;
    int most = (int) Math.max(1, MAX_SLAB / unitBytes);
    int count = Math.clamp(unitCount, 1, most);
    if ((long) (unitCount + count) << unitShift > Integer.MAX_VALUE) {
      throw new IllegalStateException(
          "%s: got more than %d rows, expected less than 2^31; use several tables"
              .formatted(holder, size));
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
