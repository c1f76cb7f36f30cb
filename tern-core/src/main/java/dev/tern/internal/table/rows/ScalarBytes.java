package dev.tern.internal.table.rows;

import static dev.tern.internal.memory.Memory.getByte;
import static dev.tern.internal.memory.Memory.getFloat;
import static dev.tern.internal.memory.Memory.setByte;
import static dev.tern.internal.memory.Memory.setFloat;

import dev.tern.base.DType;
import dev.tern.embedding.config.RowFormat;

/**
 * Rows of {@link RowFormat#INT8}: {@code W} bytes, then at a multiple of 4 the scale. One of them,
 * or {@link ByteLoops} on one column, {@code j}.
 */
public final class ScalarBytes {
  private static final int LARGEST = 127;

  /** Of finite weights: {@link #LARGEST} times more would not be finite. */
  private static final float LARGEST_SCALE = Math.nextDown(Float.MAX_VALUE / LARGEST);

  private ScalarBytes() {}

  /** Where the scale lies in a row of {@code width} weights. */
  public static int scaleAt(int width) {
    return (width + Float.BYTES - 1) & -Float.BYTES;
  }

  /** Bytes of a row of {@code width} weights. */
  public static int rowBytes(int width) {
    return scaleAt(width) + Float.BYTES;
  }

  /** Weight {@code j} of the row at an address. */
  public static float get(long row, int scaleAt, int j) {
    return getByte(row + j) * getFloat(row + scaleAt);
  }

  /** Rounds the {@code width} weights at {@code from}, stored as {@code storage}, to a row. */
  public static void set(DType storage, long from, int width, long row) {
    float largest = 0;
    for (int j = 0; j < width; j++) {
      largest = Math.max(largest, Math.abs(ScalarHalves.get(storage, from, j)));
    }
    float scale = scale(largest);
    for (int j = 0; j < width; j++) {
      float weight = ScalarHalves.get(storage, from, j);
      setByte(row + j, scale == 0 ? 0 : (byte) Math.rint(weight / scale));
    }
    setFloat(row + scaleAt(width), scale);
  }

  private static float scale(float largest) {
    float scale = largest / LARGEST;
    if (!Float.isFinite(scale)) {
      return scale;
    }
    // A subnormal scale would be too far from that quotient.
    return scale < Float.MIN_NORMAL ? 0 : Math.min(scale, LARGEST_SCALE);
  }
}
