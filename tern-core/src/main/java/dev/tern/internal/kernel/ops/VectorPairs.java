package dev.tern.internal.kernel.ops;

import static dev.tern.internal.memory.Memory.ALL;

import dev.tern.internal.kernel.ReductionLanes;
import dev.tern.internal.kernel.emit.VectorOps;
import dev.tern.internal.memory.Memory;
import java.lang.foreign.Arena;
import java.nio.ByteOrder;
import java.util.Objects;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * {@link PairKernel} by vectors: a lane is an element. {@code VectorTile} says what {@code
 * checkIndex} is for.
 *
 * <p>{@code elements} and {@code gradients} must have more than 325 bytes of bytecode, so that C2
 * does not inline them: in the loop over rows it would box the vectors of their own loops. C2 also
 * boxes sums that start as the same vector or depend on a condition, so both cases load zeros.
 */
final class VectorPairs implements PairKernel {
  private static final VectorSpecies<Float> FLOATS = VectorOps.SPECIES;
  private static final int LENGTH = FLOATS.length();
  private static final ByteOrder ORDER = ByteOrder.nativeOrder();
  private static final long LIMIT = 1L << 60;

  /** Zeros, which sums start from. */
  private static final long ZEROS = Memory.allocate(Arena.global(), 64, 64, "zeros").address();

  /** Rows whose lanes are added up together. */
  static final int BLOCK = 8;

  @Override
  public void forward(Row row, long x, long out, long scratch, int rows) {
    for (int b = 0; b < rows; b += BLOCK) {
      int count = Math.min(BLOCK, rows - b);
      for (int r = 0; r < count; r++) {
        lanes(row, x + (b + r) * row.bytes(), scratch + r * ReductionLanes.BYTES);
      }
      if (row.n() < 0) {
        continue;
      }
      // Rows together, as each addition waits for the one before.
      for (int r = 0; r < count; r++) {
        Memory.setFloat(out + 4L * (b + r), 0.5f * total(scratch + r * ReductionLanes.BYTES));
      }
    }
  }

  private static void lanes(Row row, long x, long scratch) {
    if (row.n() < 0) {
      elements(x, 0, row.n(), scratch);
      return;
    }
    for (int lane = 0; lane < ReductionLanes.COUNT; lane += LENGTH) {
      VectorOps.store(VectorOps.broadcast(0), scratch + 4L * lane);
    }
    int n = row.n();
    int d = row.d();
    int p = 0;
    for (; p + LENGTH <= d && n > 0; p += LENGTH) {
      elements(x + 4L * p, 4L * d, n, scratch + 4L * (p % ReductionLanes.COUNT));
    }
    if (p < d) {
      ScalarPairs.elements(row, x, scratch, p);
    }
  }

  private static float total(long lanes) {
    return switch (LENGTH) {
      case 16 -> VectorOps.total16(lanes);
      case 8 -> VectorOps.total8(lanes);
      case 4 -> VectorOps.total4(lanes);
      default -> ReductionLanes.total(lanes);
    };
  }

  private static void elements(long row, long stride, int n, long lanes) {
    if (n < 0) {
      return;
    }
    long zeros = Objects.checkIndex(ZEROS, LIMIT);
    long at = Objects.checkIndex(row, LIMIT);
    FloatVector s0 = FloatVector.fromMemorySegment(FLOATS, ALL, zeros, ORDER);
    FloatVector s1 = FloatVector.fromMemorySegment(FLOATS, ALL, zeros, ORDER);
    FloatVector s2 = FloatVector.fromMemorySegment(FLOATS, ALL, zeros, ORDER);
    FloatVector s3 = FloatVector.fromMemorySegment(FLOATS, ALL, zeros, ORDER);
    FloatVector q0 = FloatVector.fromMemorySegment(FLOATS, ALL, zeros, ORDER);
    FloatVector q1 = FloatVector.fromMemorySegment(FLOATS, ALL, zeros, ORDER);
    FloatVector q2 = FloatVector.fromMemorySegment(FLOATS, ALL, zeros, ORDER);
    FloatVector q3 = FloatVector.fromMemorySegment(FLOATS, ALL, zeros, ORDER);
    // Four sums in turn, as each addition waits for the one before in its sum.
    int j = 4;
    for (; j < n; j += 4) {
      FloatVector v = FloatVector.fromMemorySegment(FLOATS, ALL, at, ORDER);
      s0 = s0.add(v);
      q0 = v.fma(v, q0);
      v = FloatVector.fromMemorySegment(FLOATS, ALL, Objects.checkIndex(at + stride, LIMIT), ORDER);
      s1 = s1.add(v);
      q1 = v.fma(v, q1);
      v =
          FloatVector.fromMemorySegment(
              FLOATS, ALL, Objects.checkIndex(at + 2 * stride, LIMIT), ORDER);
      s2 = s2.add(v);
      q2 = v.fma(v, q2);
      v =
          FloatVector.fromMemorySegment(
              FLOATS, ALL, Objects.checkIndex(at + 3 * stride, LIMIT), ORDER);
      s3 = s3.add(v);
      q3 = v.fma(v, q3);
      at = Objects.checkIndex(at + 4 * stride, LIMIT);
    }
    // The last one to four.
    FloatVector v = FloatVector.fromMemorySegment(FLOATS, ALL, at, ORDER);
    s0 = s0.add(v);
    q0 = v.fma(v, q0);
    v =
        FloatVector.fromMemorySegment(
            FLOATS, ALL, Objects.checkIndex(j - 3 < n ? at + stride : zeros, LIMIT), ORDER);
    s1 = s1.add(v);
    q1 = v.fma(v, q1);
    v =
        FloatVector.fromMemorySegment(
            FLOATS, ALL, Objects.checkIndex(j - 2 < n ? at + 2 * stride : zeros, LIMIT), ORDER);
    s2 = s2.add(v);
    q2 = v.fma(v, q2);
    v =
        FloatVector.fromMemorySegment(
            FLOATS, ALL, Objects.checkIndex(j - 1 < n ? at + 3 * stride : zeros, LIMIT), ORDER);
    s3 = s3.add(v);
    q3 = v.fma(v, q3);
    FloatVector whole = s0.add(s1).add(s2.add(s3));
    FloatVector squares = q0.add(q1).add(q2.add(q3));
    long to = Objects.checkIndex(lanes, LIMIT);
    FloatVector.fromMemorySegment(FLOATS, ALL, to, ORDER)
        .add(
            whole.fma(whole, FloatVector.fromMemorySegment(FLOATS, ALL, zeros, ORDER).sub(squares)))
        .intoMemorySegment(ALL, to, ORDER);
  }

  @Override
  public void backward(Row row, long x, long gradient, long out, int rows) {
    int n = row.n();
    int d = row.d();
    for (int b = 0; b < rows; b++) {
      long skip = b * row.bytes();
      float g = Memory.getFloat(gradient + 4L * b);
      int p = 0;
      for (; p + LENGTH <= d && n != 0; p += LENGTH) {
        gradients(x + skip + 4L * p, 4L * d, n, g, out + skip + 4L * p);
      }
      if (p < d) {
        ScalarPairs.gradients(row, x + skip, g, out + skip, p);
      }
    }
  }

  private static void gradients(long row, long stride, int n, float gradient, long target) {
    if (n < 0) {
      return;
    }
    long zeros = Objects.checkIndex(ZEROS, LIMIT);
    long at = Objects.checkIndex(row, LIMIT);
    FloatVector s0 = FloatVector.fromMemorySegment(FLOATS, ALL, zeros, ORDER);
    FloatVector s1 = FloatVector.fromMemorySegment(FLOATS, ALL, zeros, ORDER);
    FloatVector s2 = FloatVector.fromMemorySegment(FLOATS, ALL, zeros, ORDER);
    FloatVector s3 = FloatVector.fromMemorySegment(FLOATS, ALL, zeros, ORDER);
    for (int j = 0; j < n; j += 4) {
      s0 = s0.add(FloatVector.fromMemorySegment(FLOATS, ALL, at, ORDER));
      s1 =
          s1.add(
              FloatVector.fromMemorySegment(
                  FLOATS, ALL, Objects.checkIndex(j + 1 < n ? at + stride : zeros, LIMIT), ORDER));
      s2 =
          s2.add(
              FloatVector.fromMemorySegment(
                  FLOATS,
                  ALL,
                  Objects.checkIndex(j + 2 < n ? at + 2 * stride : zeros, LIMIT),
                  ORDER));
      s3 =
          s3.add(
              FloatVector.fromMemorySegment(
                  FLOATS,
                  ALL,
                  Objects.checkIndex(j + 3 < n ? at + 3 * stride : zeros, LIMIT),
                  ORDER));
      at = Objects.checkIndex(at + 4 * stride, LIMIT);
    }
    FloatVector whole = s0.add(s1).add(s2.add(s3));
    FloatVector g = FloatVector.broadcast(FLOATS, gradient);
    long from = Objects.checkIndex(row, LIMIT);
    long to = Objects.checkIndex(target, LIMIT);
    for (int j = 0; j < n; j += 2) {
      // Without a second vector, the first is computed twice.
      long next = j + 1 < n ? stride : 0;
      FloatVector first = FloatVector.fromMemorySegment(FLOATS, ALL, from, ORDER);
      FloatVector second =
          FloatVector.fromMemorySegment(FLOATS, ALL, Objects.checkIndex(from + next, LIMIT), ORDER);
      g.mul(whole.sub(first)).intoMemorySegment(ALL, to, ORDER);
      g.mul(whole.sub(second)).intoMemorySegment(ALL, Objects.checkIndex(to + next, LIMIT), ORDER);
      from = Objects.checkIndex(from + 2 * stride, LIMIT);
      to = Objects.checkIndex(to + 2 * stride, LIMIT);
    }
  }
}
