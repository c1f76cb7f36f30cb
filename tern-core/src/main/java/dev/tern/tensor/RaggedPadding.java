package dev.tern.tensor;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import dev.tern.internal.ir.Nodes;
import dev.tern.internal.ir.Op.Index.Rule;
import dev.tern.internal.ir.Sequences;

/** Pads sequences to one length, and multiplies matrices of padded sequences. */
final class RaggedPadding {
  private RaggedPadding() {}

  static Tensor pad(Ragged x, int length, Tensor value) {
    Tensor index = index(x, Rule.ALL, length);
    Tensor rows = Ragged.picked(x.values(), index);
    return RaggedPooling.column(isRow(index), rows.shape().rank()).select(rows, value);
  }

  static Tensor mask(Ragged x, int length) {
    return isRow(index(x, Rule.HEADS, length));
  }

  /** 1 where the index is not -1. */
  private static Tensor isRow(Tensor index) {
    return index.cast(DType.F32).ge(Tensor.scalar(0));
  }

  private static Tensor index(Ragged x, Rule rule, int length) {
    return new Tensor(Sequences.ends(rule, x.lastNode(), x.rows(), length));
  }

  /** The rows of {@code padded} at the places of the rows of {@code x}. */
  static Tensor unpadded(Ragged x, Tensor padded) {
    Shape shape = padded.shape();
    if (shape.rank() < 2 || shape.size(0) != x.sequences()) {
      throw new IllegalArgumentException(
          "unpad: got %s, expected [%d, length, ...]".formatted(shape, x.sequences()));
    }
    Tensor index = index(x, Rule.ALL, shape.size(1));
    return new Tensor(Nodes.scatterAdd(index.node(), padded.node(), x.rows(), true));
  }

  static Ragged unpad(Tensor padded, Tensor lengths, int rows) {
    Tensor offsets = new Tensor(Sequences.offsets(lengths.node()));
    return Ragged.of(Tensor.zeros(Shape.of(rows)), offsets).unpad(padded);
  }

  static Ragged matmul(Ragged x, Tensor dense, int longest) {
    Shape shape = dense.shape();
    boolean fits = shape.rank() == 3 && x.values().shape().rank() == 2;
    if (!fits || shape.size(0) != x.sequences() || shape.size(1) != x.values().shape().size(1)) {
      throw new IllegalArgumentException(
          "matmul: got rows %s and %s, expected [n, d] and [%d, d, e]"
              .formatted(x.values().shape(), shape, x.sequences()));
    }
    return x.unpad(x.pad(longest, 0).matmul(dense));
  }

  static Tensor weightedSum(Ragged x, Tensor factors) {
    Tensor rows = unpadded(x, factors);
    Tensor column = RaggedPooling.column(rows, x.values().shape().rank());
    return x.unweighted().with(x.values().mul(column)).pool(SequencePooling.SUM);
  }

  static Tensor products(Ragged x, Ragged other, int longest) {
    if (x.sequences() != other.sequences()) {
      throw new IllegalArgumentException(
          "products: got %d and %d sequences, expected the same"
              .formatted(x.sequences(), other.sequences()));
    }
    return x.pad(longest, 0).transpose(1, 2).matmul(other.pad(longest, 0));
  }
}
