package dev.tern.exchange;

import dev.tern.internal.memory.Memory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Combines the numbers of all ranks along a balanced binary tree. It goes through arrays on the
 * heap, a block at a time: the JIT vectorises loops over arrays, but not those over off-heap
 * memory, of which it cannot know whether it overlaps. Blocks fit the first-level cache, so copying
 * costs little; there are no objects of vectors that could become garbage, and the incubating
 * module is not needed.
 */
final class TreeReduction {
  private static final int BLOCK_BYTES = 4096;

  /** Partial results that wait for their sibling: one a level of the tree, and two at hand. */
  private static final int LEVELS = 34;

  private final float[][] floats = new float[LEVELS][];
  private final double[][] doubles = new double[LEVELS][];
  private final long[][] longs = new long[LEVELS][];

  /**
   * Combines {@code bytes} bytes at each of the first {@code count} addresses into those at {@code
   * target}, which may be one of the sources.
   */
  void run(Reduction reduction, long[] sources, int count, long target, long bytes) {
    for (long done = 0; done < bytes; done += BLOCK_BYTES) {
      int elements = (int) Math.min(BLOCK_BYTES, bytes - done) / reduction.elementBytes();
      int top = 0;
      for (int i = 0; i < count; i++) {
        load(reduction, top++, sources[i] + done, elements);
        for (int full = Integer.numberOfTrailingZeros(i + 1); full > 0; full--) {
          top--;
          combine(reduction, top - 1, top, elements);
        }
      }
      for (; top > 1; top--) {
        combine(reduction, top - 2, top - 1, elements);
      }
      store(reduction, target + done, elements);
    }
  }

  private void load(Reduction reduction, int level, long source, int elements) {
    switch (reduction) {
      case FLOAT_SUM, FLOAT_MIN, FLOAT_MAX -> {
        if (floats[level] == null) {
          floats[level] = new float[BLOCK_BYTES / Float.BYTES];
        }
        Memory.copyOut(source, floats[level], 0, elements);
      }
      case DOUBLE_SUM, DOUBLE_MIN, DOUBLE_MAX -> {
        if (doubles[level] == null) {
          doubles[level] = new double[BLOCK_BYTES / Double.BYTES];
        }
        MemorySegment.copy(
            Memory.ALL, ValueLayout.JAVA_DOUBLE_UNALIGNED, source, doubles[level], 0, elements);
      }
      case LONG_SUM, LONG_MIN, LONG_MAX -> {
        if (longs[level] == null) {
          longs[level] = new long[BLOCK_BYTES / Long.BYTES];
        }
        MemorySegment.copy(
            Memory.ALL, ValueLayout.JAVA_LONG_UNALIGNED, source, longs[level], 0, elements);
      }
    }
  }

  private void store(Reduction reduction, long target, int elements) {
    switch (reduction) {
      case FLOAT_SUM, FLOAT_MIN, FLOAT_MAX -> Memory.copyIn(floats[0], 0, target, elements);
      case DOUBLE_SUM, DOUBLE_MIN, DOUBLE_MAX ->
          MemorySegment.copy(
              doubles[0], 0, Memory.ALL, ValueLayout.JAVA_DOUBLE_UNALIGNED, target, elements);
      case LONG_SUM, LONG_MIN, LONG_MAX ->
          MemorySegment.copy(
              longs[0], 0, Memory.ALL, ValueLayout.JAVA_LONG_UNALIGNED, target, elements);
    }
  }

  private void combine(Reduction reduction, int left, int right, int elements) {
    switch (reduction) {
      case FLOAT_SUM -> add(floats[left], floats[right], elements);
      case FLOAT_MIN -> least(floats[left], floats[right], elements);
      case FLOAT_MAX -> greatest(floats[left], floats[right], elements);
      case DOUBLE_SUM -> add(doubles[left], doubles[right], elements);
      case DOUBLE_MIN -> least(doubles[left], doubles[right], elements);
      case DOUBLE_MAX -> greatest(doubles[left], doubles[right], elements);
      case LONG_SUM -> add(longs[left], longs[right], elements);
      case LONG_MIN -> least(longs[left], longs[right], elements);
      case LONG_MAX -> greatest(longs[left], longs[right], elements);
    }
  }

  private static void add(float[] a, float[] b, int elements) {
    for (int i = 0; i < elements; i++) {
      a[i] += b[i];
    }
  }

  private static void least(float[] a, float[] b, int elements) {
    for (int i = 0; i < elements; i++) {
      a[i] = Math.min(a[i], b[i]);
    }
  }

  private static void greatest(float[] a, float[] b, int elements) {
    for (int i = 0; i < elements; i++) {
      a[i] = Math.max(a[i], b[i]);
    }
  }

  private static void add(double[] a, double[] b, int elements) {
    for (int i = 0; i < elements; i++) {
      a[i] += b[i];
    }
  }

  private static void least(double[] a, double[] b, int elements) {
    for (int i = 0; i < elements; i++) {
      a[i] = Math.min(a[i], b[i]);
    }
  }

  private static void greatest(double[] a, double[] b, int elements) {
    for (int i = 0; i < elements; i++) {
      a[i] = Math.max(a[i], b[i]);
    }
  }

  private static void add(long[] a, long[] b, int elements) {
    for (int i = 0; i < elements; i++) {
      a[i] += b[i];
    }
  }

  private static void least(long[] a, long[] b, int elements) {
    for (int i = 0; i < elements; i++) {
      a[i] = Math.min(a[i], b[i]);
    }
  }

  private static void greatest(long[] a, long[] b, int elements) {
    for (int i = 0; i < elements; i++) {
      a[i] = Math.max(a[i], b[i]);
    }
  }
}
