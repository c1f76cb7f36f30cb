package dev.tern.embedding;

import java.util.List;

/**
 * Where the vectors of a slot's bags lie, or their gradients: the {@code W} columns of a row in one
 * tensor or, by ranges of columns, in several.
 */
final class RowParts {
  private final int[] ends;
  private final long[] bases;
  private final long[] strides;

  /** Where bags stand in another order: see {@link #interleave}. */
  private int[] slots = new int[0];

  private int rows;
  private int stride;

  /** In parts of {@code widths} columns. */
  RowParts(List<Integer> widths) {
    ends = new int[widths.size()];
    bases = new long[ends.length];
    strides = new long[ends.length];
    int end = 0;
    for (int p = 0; p < ends.length; p++) {
      end += widths.get(p);
      ends[p] = end;
    }
  }

  /** All of {@code width} columns in one tensor, as {@link #set} takes it. */
  static RowParts whole(int width, long first, long stride) {
    RowParts parts = new RowParts(List.of(width));
    parts.set(0, first, stride);
    return parts;
  }

  /**
   * Says where part {@code p} lies.
   *
   * @param first address of what bag 0 has of it
   * @param stride floats from one bag to the next
   */
  void set(int p, long first, long stride) {
    bases[p] = first - 4L * begin(p);
    strides[p] = 4 * stride;
  }

  /**
   * Says that bags are those of several slots, one after another, and lie with those of all slots:
   * what {@link #set} takes for bag {@code b * stride + slots[k]} is that of bag {@code k * rows +
   * b}.
   */
  void interleave(int[] slots, int rows, int stride) {
    this.slots = slots;
    this.rows = rows;
    this.stride = stride;
  }

  /** Whether bags lie in another order. */
  boolean isInterleaved() {
    return slots.length > 0;
  }

  /** As which bag {@code bag} lies, where bags are interleaved. */
  int place(int bag) {
    int slot = bag / rows;
    return (bag - slot * rows) * stride + slots[slot];
  }

  /** Parts. */
  int count() {
    return ends.length;
  }

  /** First column of part {@code p}. */
  int begin(int p) {
    return p == 0 ? 0 : ends[p - 1];
  }

  /** Column behind the last of part {@code p}. */
  int end(int p) {
    return ends[p];
  }

  /**
   * Address from which column {@code j} of bag 0 lies {@code 4 * j} bytes, for columns of part
   * {@code p}.
   */
  long base(int p) {
    return bases[p];
  }

  /** Bytes from one bag to the next in part {@code p}. */
  long stride(int p) {
    return strides[p];
  }
}
