package dev.tern.internal.kernel;

import dev.tern.internal.memory.Memory;
import java.util.Objects;
import jdk.incubator.vector.FloatVector;

/**
 * {@link PairKernel} by vectors: a lane is an element. See {@link VectorTile} for what {@code
 * checkIndex} is for.
 *
 * <p>{@code elements} and {@code gradients} must have more bytecode than C2 inlines, 325 bytes:
 * inside the loop over rows it would box what their own loops hold.
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
    FloatVector s0 = Vectors.broadcast(0);
    FloatVector s1 = s0;
    FloatVector s2 = s0;
    FloatVector s3 = s0;
    FloatVector q0 = s0;
    FloatVector q1 = s0;
    FloatVector q2 = s0;
    FloatVector q3 = s0;
    int j = 0;
    // By turns: each addition waits for the one before the last three.
    for (; j + 4 <= n; j += 4) {
      FloatVector v = Vectors.load(at);
      s0 = s0.add(v);
      q0 = v.fma(v, q0);
      at = Objects.checkIndex(at + stride, LIMIT);
      v = Vectors.load(at);
      s1 = s1.add(v);
      q1 = v.fma(v, q1);
      at = Objects.checkIndex(at + stride, LIMIT);
      v = Vectors.load(at);
      s2 = s2.add(v);
      q2 = v.fma(v, q2);
      at = Objects.checkIndex(at + stride, LIMIT);
      v = Vectors.load(at);
      s3 = s3.add(v);
      q3 = v.fma(v, q3);
      at = Objects.checkIndex(at + stride, LIMIT);
    }
    if (j < n) {
      FloatVector v = Vectors.load(at);
      s0 = s0.add(v);
      q0 = v.fma(v, q0);
    }
    if (j + 1 < n) {
      FloatVector v = Vectors.load(Objects.checkIndex(at + stride, LIMIT));
      s1 = s1.add(v);
      q1 = v.fma(v, q1);
    }
    if (j + 2 < n) {
      FloatVector v = Vectors.load(Objects.checkIndex(at + 2 * stride, LIMIT));
      s2 = s2.add(v);
      q2 = v.fma(v, q2);
    }
    FloatVector whole = s0.add(s1).add(s2.add(s3));
    FloatVector result = whole.fma(whole, q0.add(q1).add(q2.add(q3)).neg());
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
    FloatVector s0 = Vectors.broadcast(0);
    FloatVector s1 = s0;
    FloatVector s2 = s0;
    FloatVector s3 = s0;
    int j = 0;
    for (; j + 4 <= n; j += 4) {
      s0 = s0.add(Vectors.load(at));
      at = Objects.checkIndex(at + stride, LIMIT);
      s1 = s1.add(Vectors.load(at));
      at = Objects.checkIndex(at + stride, LIMIT);
      s2 = s2.add(Vectors.load(at));
      at = Objects.checkIndex(at + stride, LIMIT);
      s3 = s3.add(Vectors.load(at));
      at = Objects.checkIndex(at + stride, LIMIT);
    }
    if (j < n) {
      s0 = s0.add(Vectors.load(at));
    }
    if (j + 1 < n) {
      s1 = s1.add(Vectors.load(Objects.checkIndex(at + stride, LIMIT)));
    }
    if (j + 2 < n) {
      s2 = s2.add(Vectors.load(Objects.checkIndex(at + 2 * stride, LIMIT)));
    }
    FloatVector whole = s0.add(s1).add(s2.add(s3));
    FloatVector g = Vectors.broadcast(gradient);
    long from = Objects.checkIndex(row, LIMIT);
    long to = Objects.checkIndex(target, LIMIT);
    for (j = 0; j + 2 <= n; j += 2) {
      Vectors.store(g.mul(whole.sub(Vectors.load(from))), to);
      from = Objects.checkIndex(from + stride, LIMIT);
      to = Objects.checkIndex(to + stride, LIMIT);
      Vectors.store(g.mul(whole.sub(Vectors.load(from))), to);
      from = Objects.checkIndex(from + stride, LIMIT);
      to = Objects.checkIndex(to + stride, LIMIT);
    }
    if (j < n) {
      Vectors.store(g.mul(whole.sub(Vectors.load(from))), to);
    }
  }
}
