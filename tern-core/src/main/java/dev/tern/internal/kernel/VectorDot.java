package dev.tern.internal.kernel;

import dev.tern.internal.memory.Memory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * {@link DotKernel} by vectors. Lanes never add to each other, so their number does not show.
 *
 * <p>Forward, a lane is a pair: the row is transposed into scratch memory, then element p of vector
 * i, in all lanes, meets elements p of as many other vectors as there are lanes. The results of one
 * i are neighbours, then come those of the next: surplus lanes write over results that are still to
 * come, but never past the row. Backward, a lane is an element.
 */
final class VectorDot implements DotKernel {
  private static final VectorSpecies<Integer> INTS =
      VectorSpecies.of(int.class, Vectors.SPECIES.vectorShape());
  private static final int LENGTH = Vectors.SPECIES.length();
  private static final int BYTES = 4 * LENGTH;

  // With these the compiler proves bounds tests away: see VectorTile. No stride reaches the mask,
  // as the number of pairs is an int.
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
  private static final long REACH = 1L << 52;
  private static final long STRIDE_MASK = (1 << 20) - 1;

  /** Vectors that are multiplied at once: enough sums to hide the latency of one. */
  private static final int BLOCK = 4;

  @Override
  public void forward(long x, long out, long scratch, int rows, int n, int d) {
    int pairs = n * (n - 1) / 2;
    int columns = (n - 1 + LENGTH - 1) / LENGTH * LENGTH;
    long panel = scratch + BLOCK * BYTES;
    clear(panel, n - 1, columns, d);
    for (int b = 0; b < rows; b++) {
      long row = x + 4L * b * n * d;
      transpose(row, panel, 4L * columns, n - 1, d);
      products(row, panel, 4L * columns, out + 4L * b * pairs, scratch, n, d);
    }
  }

  /**
   * Zeroes the columns that belong to no vector: whatever lay there may be slow to compute with.
   */
  private static void clear(long panel, int from, int columns, int d) {
    for (int p = 0; p < d; p++) {
      for (int j = from; j < columns; j++) {
        Memory.setFloat(panel + 4L * (p * (long) columns + j), 0);
      }
    }
  }

  private static void transpose(long row, long panel, long step, int n, int d) {
    long masked = step & STRIDE_MASK;
    for (int j = 0; j < n; j++) {
      MemorySegment from = Memory.ALL.asSlice(row + 4L * j * d, REACH);
      MemorySegment to = Memory.ALL.asSlice(panel + 4L * j, REACH);
      for (int p = 0; p < d; p++) {
        to.set(INT, p * masked, from.get(INT, 4L * p));
      }
    }
  }

  private static void products(
      long row, long panel, long step, long out, long spare, int n, int d) {
    long end = out + 2L * n * (n - 1);
    for (int i = 1; i < n; i += BLOCK) {
      int last = Math.min(i + BLOCK, n) - 1;
      // Downwards, so that what surplus lanes write over comes later.
      for (int j = (last - 1) / LENGTH * LENGTH; j >= 0; j -= LENGTH) {
        block(row, i, last, panel + 4L * j, step, d, spare);
        for (int k = i; k <= last; k++) {
          if (j < k) {
            put(spare + (k - i) * BYTES, out + 2L * k * (k - 1) + 4L * j, end);
          }
        }
      }
    }
  }

  /** Vectors {@code i} to {@code last}, at most {@code BLOCK}, times as many as there are lanes. */
  private static void block(long row, int i, int last, long panel, long step, int d, long target) {
    MemorySegment x0 = Memory.ALL.asSlice(row + 4L * i * d, REACH);
    MemorySegment x1 = Memory.ALL.asSlice(row + 4L * Math.min(i + 1, last) * d, REACH);
    MemorySegment x2 = Memory.ALL.asSlice(row + 4L * Math.min(i + 2, last) * d, REACH);
    MemorySegment x3 = Memory.ALL.asSlice(row + 4L * last * d, REACH);
    MemorySegment right = Memory.ALL.asSlice(panel, REACH);
    long masked = step & STRIDE_MASK;
    FloatVector s0 = FloatVector.zero(Vectors.SPECIES);
    FloatVector s1 = s0;
    FloatVector s2 = s0;
    FloatVector s3 = s0;
    for (int p = 0; p < d; p++) {
      FloatVector v =
          FloatVector.fromMemorySegment(Vectors.SPECIES, right, p * masked, Vectors.ORDER);
      s0 = all(x0, 4L * p).fma(v, s0);
      s1 = all(x1, 4L * p).fma(v, s1);
      s2 = all(x2, 4L * p).fma(v, s2);
      s3 = all(x3, 4L * p).fma(v, s3);
    }
    Vectors.store(s0, target);
    Vectors.store(s1, target + BYTES);
    Vectors.store(s2, target + 2 * BYTES);
    Vectors.store(s3, target + 3 * BYTES);
  }

  /** Copies a vector, but nothing beyond {@code end}. */
  private static void put(long from, long to, long end) {
    if (to + BYTES <= end) {
      Vectors.store(Vectors.load(from), to);
      return;
    }
    long source = from;
    for (long target = to; target < end; target += 4, source += 4) {
      Memory.setInt(target, Memory.getInt(source));
    }
  }

  @Override
  public void backward(long x, long gradient, long out, int rows, int n, int d) {
    long stride = 4L * d;
    long target = out;
    for (int b = 0; b < rows; b++) {
      long row = x + b * n * stride;
      long weights = gradient + 2L * b * n * (n - 1);
      for (int i = 0; i < n; i++, target += stride) {
        combine(row, weights, i, n, d, target);
      }
    }
  }

  private static void combine(long row, long weights, int i, int n, int d, long target) {
    long stride = 4L * d;
    int p = 0;
    for (; p + 2 * LENGTH <= d; p += 2 * LENGTH) {
      combineTwo(row + 4L * p, weights, i, n, stride, target + 4L * p);
    }
    if (p + LENGTH <= d) {
      combineOne(row + 4L * p, weights, i, n, stride, target + 4L * p);
      p += LENGTH;
    }
    for (; p < d; p++) {
      float sum = ScalarDot.combination(row + 4L * p, weights, i, n, stride);
      Memory.setFloat(target + 4L * p, sum);
    }
  }

  private static void combineTwo(long row, long weights, int i, int n, long stride, long target) {
    FloatVector s0 = FloatVector.zero(Vectors.SPECIES);
    FloatVector s1 = s0;
    long weight = weights + 2L * i * (i - 1);
    long other = row;
    for (int j = 0; j < i; j++, weight += 4, other += stride) {
      FloatVector v = all(weight);
      s0 = v.fma(Vectors.load(other), s0);
      s1 = v.fma(Vectors.load(other + BYTES), s1);
    }
    weight += 4L * i;
    other += stride;
    for (int j = i + 1; j < n; j++, other += stride) {
      FloatVector v = all(weight);
      s0 = v.fma(Vectors.load(other), s0);
      s1 = v.fma(Vectors.load(other + BYTES), s1);
      weight += 4L * j;
    }
    Vectors.store(s0, target);
    Vectors.store(s1, target + BYTES);
  }

  private static void combineOne(long row, long weights, int i, int n, long stride, long target) {
    FloatVector sum = FloatVector.zero(Vectors.SPECIES);
    long weight = weights + 2L * i * (i - 1);
    long other = row;
    for (int j = 0; j < i; j++, weight += 4, other += stride) {
      sum = all(weight).fma(Vectors.load(other), sum);
    }
    weight += 4L * i;
    other += stride;
    for (int j = i + 1; j < n; j++, other += stride) {
      sum = all(weight).fma(Vectors.load(other), sum);
      weight += 4L * j;
    }
    Vectors.store(sum, target);
  }

  private static FloatVector all(MemorySegment x, long offset) {
    return IntVector.broadcast(INTS, x.get(INT, offset)).reinterpretAsFloats();
  }

  /** The float at {@code address} in all lanes; as an int that is one instruction from memory. */
  private static FloatVector all(long address) {
    return IntVector.broadcast(INTS, Memory.getInt(address)).reinterpretAsFloats();
  }
}
