package dev.tern.internal.table.rows;

import static dev.tern.internal.memory.Memory.getByte;
import static dev.tern.internal.memory.Memory.getFloat;
import static dev.tern.internal.memory.Memory.setByte;
import static dev.tern.internal.memory.Memory.setFloat;

import dev.tern.base.DType;

/**
 * Reads and writes rows of {@code RowFormat.INT8}: {@code W} bytes, then, at the next multiple of
 * 4, the scale as a float. Weight {@code j} is byte {@code j} times the scale. Example: for weights
 * 1 and -0.5 the scale is 1/127, and the bytes are 127 and -64 (-63.5 rounded to even).
 */
public final class Int8Rows {
  private static final int LARGEST = 127;

  /** The largest scale for which {@link #LARGEST} times the scale is finite. */
  private static final float LARGEST_SCALE = Math.nextDown(Float.MAX_VALUE / LARGEST);

  private Int8Rows() {}

  /** Bytes from a row of {@code width} weights to its scale. */
  public static int scaleAt(int width) {
    return (width + Float.BYTES - 1) & -Float.BYTES;
  }

  public static int rowBytes(int width) {
    return scaleAt(width) + Float.BYTES;
  }

  /** Weight {@code j} of the row at an address. */
  public static float get(long row, int scaleAt, int j) {
    return getByte(row + j) * getFloat(row + scaleAt);
  }

  /** Writes a row from {@code width} weights of type {@code storage} at address {@code from}. */
  public static void set(DType storage, long from, int width, long row) {
    float largest = 0;
    for (int j = 0; j < width; j++) {
      largest = Math.max(largest, Math.abs(StoredWeights.get(storage, from, j)));
    }
    float scale = scale(largest);
    for (int j = 0; j < width; j++) {
      float weight = StoredWeights.get(storage, from, j);
      setByte(row + j, scale == 0 ? 0 : (byte) Math.rint(weight / scale));
    }
    setFloat(row + scaleAt(width), scale);
  }

  private static float scale(float largest) {
    float scale = largest / LARGEST;
    if (!Float.isFinite(scale)) {
      return scale;
    }
    // With the few digits of a subnormal scale, weights would be off by more than half of it.
    return scale < Float.MIN_NORMAL ? 0 : Math.min(scale, LARGEST_SCALE);
  }
}
