package dev.tern.tensor;

import dev.tern.base.DType;
import dev.tern.internal.ir.Op;
import dev.tern.internal.ir.Op.Index.Rule;
import dev.tern.internal.ir.Sequences;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.UnaryOperator;

/** Computes one row, or weights that add up to 1, from all rows of each sequence. */
final class RaggedPooling {
  private RaggedPooling() {}

  static Tensor pool(Ragged x, SequencePooling kind, float empty) {
    boolean isWeighted =
        kind == SequencePooling.SUM || kind == SequencePooling.MEAN || kind == SequencePooling.SQRT;
    if (x.weights().isPresent() && !isWeighted) {
      throw new IllegalArgumentException(
          "pool: got weights with " + kind + ", expected SUM, MEAN or SQRT; call unweighted first");
    }
    Tensor pooled =
        switch (kind) {
          case SUM -> sums(x);
          case MEAN -> sums(x).div(divisor(x, w -> w));
          case SQRT -> sums(x).div(divisor(x, Tensor::square).sqrt());
          case MAX -> reduce(Op.Reduce.Kind.MAX, x, x.values());
          case FIRST -> end(x, Rule.HEADS);
          case LAST -> end(x, Rule.TAILS);
        };
    if (empty == 0 && kind != SequencePooling.MAX) {
      return pooled;
    }
    Tensor lengths = column(x.lengths().cast(DType.F32), pooled.shape().rank());
    return lengths.select(pooled, Tensor.scalar(empty));
  }

  private static Tensor sums(Ragged x) {
    int rank = x.values().shape().rank();
    Tensor rows = x.weights().map(w -> x.values().mul(column(w, rank))).orElse(x.values());
    return reduce(Op.Reduce.Kind.SUM, x, rows);
  }

  /**
   * The sum of {@code of} the weights of each sequence, or its length; 1 in place of 0. A column.
   */
  private static Tensor divisor(Ragged x, UnaryOperator<Tensor> of) {
    Tensor sums =
        x.weights()
            .map(w -> reduce(Op.Reduce.Kind.SUM, x, of.apply(w)))
            .orElseGet(() -> x.lengths().cast(DType.F32));
    return column(sums.select(sums, Tensor.scalar(1)), x.values().shape().rank());
  }

  private static Tensor end(Ragged x, Rule rule) {
    Tensor index =
        new Tensor(Sequences.ends(rule, x.lastNode(), x.rows(), 1)).reshape(x.sequences());
    return Ragged.picked(x.values(), index);
  }

  private static Tensor reduce(Op.Reduce.Kind kind, Ragged x, Tensor rows) {
    return new Tensor(Sequences.reduce(kind, rows.node(), x.lastNode()));
  }

  /** {@code x} with sizes of 1 at the end, {@code rank} in all, to be broadcast over rows. */
  static Tensor column(Tensor x, int rank) {
    int[] sizes = Arrays.copyOf(x.shape().toArray(), rank);
    Arrays.fill(sizes, x.shape().rank(), rank, 1);
    return x.reshape(sizes);
  }

  static Tensor topMeans(Ragged x, int... ks) {
    int most = Arrays.stream(ks).max().orElse(0);
    if (x.values().shape().rank() != 2 || Arrays.stream(ks).anyMatch(k -> k < 1) || most == 0) {
      throw new IllegalArgumentException(
          "topMeans: got values %s and counts %s, expected [n, w] and 1 or more"
              .formatted(x.values().shape(), Arrays.toString(ks)));
    }
    Tensor index = new Tensor(Sequences.largest(x.values().node(), x.lastNode(), most));
    Tensor largest = Ragged.picked(x.values().reshape(-1), index);
    List<Tensor> means = new ArrayList<>();
    for (int k : ks) {
      means.add(largest.slice(1, 0, k).sumKeep(1).mul(1f / k));
    }
    return Tensor.concat(1, means);
  }

  /** Leaves unused rows out before the power, which could overflow there. */
  static Ragged softmax(Ragged x) {
    int rank = x.values().shape().rank();
    Tensor most = reduce(Op.Reduce.Kind.MAX, x, x.values()).detach();
    Tensor shifted = x.values().sub(x.spread(most));
    Tensor none = Tensor.scalar(Float.NEGATIVE_INFINITY);
    Tensor powers = column(x.present(), rank).select(shifted, none).exp();
    Tensor sums = reduce(Op.Reduce.Kind.SUM, x, powers);
    return x.with(powers.mul(x.spread(sums.reciprocal())));
  }
}
