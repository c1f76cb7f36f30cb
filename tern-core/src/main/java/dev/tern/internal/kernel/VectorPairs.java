package dev.tern.internal.kernel;

import dev.tern.internal.memory.Memory;
import java.util.Objects;
import jdk.incubator.vector.FloatVector;

/**
 * {@link PairKernel} by vectors: a lane is an element. See {@link VectorTile} for what {@code
 * checkIndex} is for.
 */
final class VectorPairs implements PairKernel {
  private static final int LENGTH = Vectors.SPECIES.length();
  private static final long LIMIT = 1L << 60;

  /** Rows whose lanes are added up together. */
  static final int BLOCK = 8;

  @Override
  public void forward(long x, long out, long scratch, int rows, int n, int d) {
    for (int b = 0; b < rows; b += BLOCK) {
      int count = Math.min(BLOCK, rows - b);
      for (int r = 0; r < count; r++) {
        lanes(x + 4L * (b + r) * n * d, scratch + r * Lanes.BYTES, n, d);
      }
      // Together, as each addition waits for the one before.
      for (int r = 0; r < count; r++) {
        Memory.setFloat(out + 4L * (b + r), 0.5f * total(scratch + r * Lanes.BYTES));
      }
    }
  }

  private static void lanes(long row, long scratch, int n, int d) {
    for (int lane = 0; lane < Lanes.COUNT; lane += LENGTH) {
      Vectors.store(Vectors.broadcast(0), scratch + 4L * lane);
    }
    int p = 0;
    for (; p + LENGTH <= d && n > 0; p += LENGTH) {
      elements(row + 4L * p, 4L * d, n, scratch + 4L * (p % Lanes.COUNT));
    }
    if (p < d) {
      ScalarPairs.elements(row, scratch, p, n, d);
    }
  }

  private static float total(long lanes) {
    return switch (LENGTH) {
      case 16 -> Vectors.total16(lanes);
      case 8 -> Vectors.total8(lanes);
      case 4 -> Vectors.total4(lanes);
      default -> Lanes.total(lanes);
    };
  }

  private static void elements(long row, long stride, int n, long lanes) {
    long at = Objects.checkIndex(row, LIMIT);
    FloatVector even = Vectors.broadcast(0);
    FloatVector odd = even;
    FloatVector evenSquares = even;
    FloatVector oddSquares = even;
    int j = 0;
    // By turns: each addition waits for the one before the last.
    for (; j + 2 <= n; j += 2) {
      FloatVector v = Vectors.load(at);
      even = even.add(v);
      evenSquares = v.fma(v, evenSquares);
      at = Objects.checkIndex(at + stride, LIMIT);
      FloatVector w = Vectors.load(at);
      odd = odd.add(w);
      oddSquares = w.fma(w, oddSquares);
      at = Objects.checkIndex(at + stride, LIMIT);
    }
    if (j < n) {
      FloatVector v = Vectors.load(at);
      even = even.add(v);
      evenSquares = v.fma(v, evenSquares);
    }
    FloatVector whole = even.add(odd);
    FloatVector result = whole.fma(whole, evenSquares.add(oddSquares).neg());
    Vectors.store(Vectors.load(lanes).add(result), lanes);
  }

  @Override
  public void backward(long x, long gradient, long out, int rows, int n, int d) {
    for (int b = 0; b < rows; b++) {
      long skip = 4L * b * n * d;
      float g = Memory.getFloat(gradient + 4L * b);
      int p = 0;
      for (; p + LENGTH <= d && n > 0; p += LENGTH) {
        gradients(x + skip + 4L * p, 4L * d, n, g, out + skip + 4L * p);
      }
      if (p < d) {
        ScalarPairs.gradients(x + skip, g, out + skip, p, n, d);
      }
    }
  }

  private static void gradients(long row, long stride, int n, float gradient, long target) {
    long at = Objects.checkIndex(row, LIMIT);
    FloatVector sum = Vectors.broadcast(0);
    FloatVector otherSum = sum;
    for (int j = 0; j < n; j++) {
      FloatVector nextSum = sum.add(Vectors.load(at));
      sum = otherSum;
      otherSum = nextSum;
      at = Objects.checkIndex(at + stride, LIMIT);
    }
    FloatVector whole = sum.add(otherSum);
    FloatVector g = Vectors.broadcast(gradient);
    long from = Objects.checkIndex(row, LIMIT);
    long to = Objects.checkIndex(target, LIMIT);
    for (int j = 0; j < n; j++) {
      Vectors.store(g.mul(whole.sub(Vectors.load(from))), to);
      from = Objects.checkIndex(from + stride, LIMIT);
      to = Objects.checkIndex(to + stride, LIMIT);
    }
  }
}
