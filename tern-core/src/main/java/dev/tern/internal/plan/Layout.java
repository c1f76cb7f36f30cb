package dev.tern.internal.plan;

import dev.tern.base.Shape;
import dev.tern.internal.ir.Op;
import java.util.Arrays;
import java.util.Optional;

/**
 * Where the elements of a value lie in a storage: element {@code (i, j, ...)} is at {@code offset +
 * i * strides[0] + j * strides[1] + ...}, counted in elements. Example: a transposed 4 by 8 matrix
 * has the strides 1 and 8.
 */
record Layout(int storage, int offset, int[] strides) {
  /** Dense row-major from the start of {@code storage}. */
  static Layout dense(int storage, Shape shape) {
    return new Layout(storage, 0, shape.rowMajorStrides());
  }

  boolean isDense(Shape shape) {
    int[] dense = shape.rowMajorStrides();
    for (int i = 0; i < strides.length; i++) {
      if (shape.size(i) > 1 && strides[i] != dense[i]) {
        return false;
      }
    }
    return true;
  }

  Layout permute(Op.Permute permute) {
    return new Layout(
        storage, offset, permute.axes().stream().mapToInt(axis -> strides[axis]).toArray());
  }

  Layout broadcast(Shape from, Shape to) {
    int[] spread = strides.clone();
    for (int i = 0; i < spread.length; i++) {
      spread[i] = from.size(i) == 1 && to.size(i) != 1 ? 0 : spread[i];
    }
    return new Layout(storage, offset, spread);
  }

  Layout slice(int axis, int from) {
    return new Layout(storage, offset + from * strides[axis], strides);
  }

  /** The same elements in shape {@code to}; empty where no strides describe these. */
  Optional<Layout> reshape(Shape from, Shape to) {
    if (to.elements() == 0) {
      return Optional.of(new Layout(storage, offset, to.rowMajorStrides()));
    }
    int[] result = new int[to.rank()];
    int source = 0;
    int target = 0;
    while (source < from.rank() || target < to.rank()) {
      // Take the shortest runs of dimensions with equal products.
      int sourceEnd = source;
      int targetEnd = target;
      long sourceSize = 1;
      long targetSize = 1;
      do {
        if (sourceSize <= targetSize && sourceEnd < from.rank()) {
          sourceSize *= from.size(sourceEnd++);
        } else if (targetEnd < to.rank()) {
          targetSize *= to.size(targetEnd++);
        } else {
          sourceSize *= from.size(sourceEnd++);
        }
      } while (sourceSize != targetSize);
      if (!fill(from, source, sourceEnd, to, target, targetEnd, result)) {
        return Optional.empty();
      }
      source = sourceEnd;
      target = targetEnd;
    }
    return Optional.of(new Layout(storage, offset, result));
  }

  /** Sets the strides of one run; false if the source run is not evenly spaced. */
  private boolean fill(
      Shape from, int source, int sourceEnd, Shape to, int target, int targetEnd, int[] result) {
    int step = 1;
    int expected = -1;
    for (int i = sourceEnd - 1; i >= source; i--) {
      if (from.size(i) == 1) {
        continue;
      }
      if (expected < 0) {
        step = strides[i];
      } else if (strides[i] != expected) {
        return false;
      }
      expected = strides[i] * from.size(i);
    }
    for (int i = targetEnd - 1; i >= target; i--) {
      result[i] = step;
      step *= to.size(i);
    }
    return true;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Layout layout
        && storage == layout.storage
        && offset == layout.offset
        && Arrays.equals(strides, layout.strides);
  }

  @Override
  public int hashCode() {
    return 31 * (31 * storage + offset) + Arrays.hashCode(strides);
  }
}
