package dev.tern.base;

import java.util.Arrays;

/** Sizes of a tensor's dimensions, outermost first; rank 0 is a scalar. Immutable. */
public final class Shape {
  /** The shape of a scalar. */
  public static final Shape SCALAR = new Shape(new int[0]);

  private final int[] sizes;

  private Shape(int[] sizes) {
    this.sizes = sizes;
  }

  /** A shape of the given sizes, each 0 or more. */
  public static Shape of(int... sizes) {
    long elements = 1;
    for (int size : sizes) {
      if (size < 0) {
        throw new IllegalArgumentException(
            "shape: got " + Arrays.toString(sizes) + ", expected sizes of 0 or more");
      }
      elements = Math.multiplyExact(elements, (long) size);
    }
    if (elements > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          "shape: got %s with %s elements, expected at most 2^31 - 1; split the tensor"
              .formatted(Arrays.toString(sizes), elements));
    }
    return sizes.length == 0 ? SCALAR : new Shape(sizes.clone());
  }

  /** Number of dimensions. */
  public int rank() {
    return sizes.length;
  }

  /** Size of dimension {@code axis}; a negative axis counts from the end. */
  public int size(int axis) {
    return sizes[axis(axis)];
  }

  /** {@code axis} counted from the start, checked. */
  public int axis(int axis) {
    int counted = axis < 0 ? axis + sizes.length : axis;
    if (counted < 0 || counted >= sizes.length) {
      throw new IllegalArgumentException(
          "axis: got " + axis + " for shape " + this + ", expected -rank to rank - 1");
    }
    return counted;
  }

  /** Product of all sizes; 1 for a scalar. */
  public int elements() {
    int elements = 1;
    for (int size : sizes) {
      elements *= size;
    }
    return elements;
  }

  /** A copy of the sizes. */
  public int[] toArray() {
    return sizes.clone();
  }

  /** This shape with dimension {@code axis} of another size. */
  public Shape withSize(int axis, int size) {
    int[] changed = sizes.clone();
    changed[axis(axis)] = size;
    return of(changed);
  }

  /** Elements between neighbours along each dimension of a dense row-major tensor. */
  public int[] rowMajorStrides() {
    int[] strides = new int[sizes.length];
    int step = 1;
    for (int i = sizes.length - 1; i >= 0; i--) {
      strides[i] = step;
      step *= Math.max(1, sizes[i]);
    }
    return strides;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Shape shape && Arrays.equals(sizes, shape.sizes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(sizes);
  }

  @Override
  public String toString() {
    return Arrays.toString(sizes);
  }
}
