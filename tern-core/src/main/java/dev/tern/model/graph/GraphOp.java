package dev.tern.model.graph;

import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * What a layer of a {@link Graph} does. The first dimension of each tensor belongs to rows, {@code
 * B} or a multiple of it; no layer mixes rows. Numbers that a layer has are named in parentheses.
 */
public enum GraphOp {
  /** {@code x W + b} over the last dimension ({@code outputs}). */
  LINEAR(1, 1, GraphNumber.whole("outputs", 1)),
  /**
   * Layers of {@link #LINEAR}, each with a {@link #RELU} where {@code relu} says so and a bias
   * where {@code bias} does ({@code outputs}, {@code relu} and {@code bias}, lists of one length).
   */
  MLP(1, 1, GraphNumber.wholes("outputs", 1), GraphNumber.flags("relu"), GraphNumber.flags("bias")),
  /**
   * Cross layers over {@code [B, n]}: {@code x (c . w) + b + c}, with a {@code rank} above 0 {@code
   * x (c V U + b) + c} ({@code layers}, {@code rank}); {@link dev.tern.nn.CrossNetwork}.
   */
  CROSS(1, 1, GraphNumber.whole("layers", 1, 1_000), GraphNumber.whole("rank", 0)),
  /**
   * {@link dev.tern.nn.BatchNorm} of {@code [B, n]}; {@code share} of a batch in moving averages
   * ({@code share}, {@code epsilon}).
   */
  BATCH_NORM(1, 1, GraphNumber.real("share", 0, 1), GraphNumber.real("epsilon", 0, 1)),
  /** Layer normalization over the last dimension ({@code epsilon}). */
  LAYER_NORM(1, 1, GraphNumber.real("epsilon", 0, 1)),
  /**
   * {@link dev.tern.nn.Dice} of {@code [B, n]} with one {@code alpha} that is not learned; {@code
   * share} of a batch in moving averages ({@code alpha}, {@code epsilon}, {@code share}).
   */
  DICE(
      1,
      1,
      GraphNumber.real("alpha", -1e6, 1e6),
      GraphNumber.real("epsilon", 0, 1),
      GraphNumber.real("share", 0, 1)),
  /** {@code [B, S]} to {@code [B, S * V]}: each number times its vector of {@code V} weights. */
  SLOT_WEIGHTS(1, 1, GraphNumber.whole("slots", 1), GraphNumber.whole("width", 1)),
  /** Inverted dropout in training ({@code rate}, below 1). */
  DROPOUT(1, 1, GraphNumber.real("rate", 0, 0.999)),
  /** {@code max(x, 0)}. */
  RELU(1, 1),
  /** {@code x} above 0, else {@code alpha (exp(x) - 1)} ({@code alpha}). */
  ELU(1, 1, GraphNumber.real("alpha", -1e6, 1e6)),
  /** {@code 1 / (1 + exp(-x))}. */
  SIGMOID(1, 1),
  /** The sum of equal shapes. */
  ADD(2, Integer.MAX_VALUE),
  /** The first less the second, of equal shapes. */
  SUBTRACT(2, 2),
  /** The product of equal shapes, element by element. */
  MULTIPLY(2, Integer.MAX_VALUE),
  /** {@code [B, m, k] x [B, k, n]}; with four dimensions the first two are of the product. */
  MATMUL(2, 2),
  /** Side by side along {@code axis}, 1 or more. */
  CONCAT(1, Integer.MAX_VALUE, GraphNumber.whole("axis", 1)),
  /**
   * Pieces of the last dimension, an output each: from {@code from} to before {@code to}, which may
   * overlap.
   */
  SLICE(1, 1, GraphNumber.wholes("from", 0), GraphNumber.wholes("to", 1)),
  /**
   * The same elements in rows of {@code width}, 0 for all of a row of the batch; with {@code steps}
   * above 0 as {@code [.., steps, width]}.
   */
  RESHAPE(1, 1, GraphNumber.whole("steps", 0), GraphNumber.whole("width", 0)),
  /** {@code [B, S, D]} to {@code [B, n * D]}: some {@code slots} by number, in this order. */
  PICK(1, 1, GraphNumber.wholes("slots", 0)),
  /** The sum over {@code axis}, 1 or more, which stays with size 1. */
  SUM(1, 1, GraphNumber.whole("axis", 1)),
  /** The mean over {@code axis}, 1 or more, which stays with size 1. */
  MEAN(1, 1, GraphNumber.whole("axis", 1)),
  /**
   * {@code [B, n]} to {@code [B, n * factor]}: with {@code rows} each row again and again, else
   * each element.
   */
  REPEAT(1, 1, GraphNumber.flag("rows"), GraphNumber.whole("factor", 1)),
  /**
   * Softmax of {@code factor x} over the last dimension. With a second input {@code m} of 0 and 1
   * it is that of {@code factor x - 10000 (1 - m)}, and 1e-6 is added to the sum of the powers.
   */
  SOFTMAX(1, 2, GraphNumber.real("factor", -1e6, 1e6)),
  /**
   * Of two columns of lengths, {@code [B, 1]} both: {@code [B, 1, from, to]} with 1 where both
   * indices are below the lengths of the row, else 0.
   */
  SEQUENCE_MASK(2, 2, GraphNumber.whole("from", 1, 1 << 12), GraphNumber.whole("to", 1, 1 << 12)),
  /**
   * {@code softmax(q k^T / sqrt(d)) v} for each of some {@code heads} of width {@code d}, side by
   * side; of {@code [B, L, heads * d]} each. A fourth input is a mask {@code [B, 1, L, L]} as in
   * {@link #SOFTMAX}. There are no projections.
   */
  ATTENTION(3, 4, GraphNumber.whole("heads", 1)),
  /**
   * {@code [B, S * V]} to {@code [B, V]}: {@code 0.5 ((sum v)^2 - sum v^2)} over the {@code S}
   * vectors, the second order of a factorization machine (Rendle 2010) ({@code width}).
   */
  PAIR_VECTORS(1, 1, GraphNumber.whole("width", 1)),
  /**
   * {@code [B, D]} and {@code [B, S, D]} to {@code [B, D + S (S + 1) / 2 + 1]}: the first, the dot
   * products of all pairs of the {@code S + 1} vectors, and a column of 0.
   */
  INTERACTION(2, 2),
  /**
   * {@code [B, S, D]} of one or more inputs, side by side along {@code D}: with {@code all} the
   * vectors of all slots, {@code [B * S, D]}; else those of all but the last, and as a second
   * output those of the last, {@code [B, D]}.
   */
  JOIN_SLOTS(1, Integer.MAX_VALUE, GraphNumber.flag("all")),
  /** The input. */
  COPY(1, 1);

  private final int least;
  private final int most;
  private final List<GraphNumber> numbers;

  GraphOp(int least, int most, GraphNumber... numbers) {
    this.least = least;
    this.most = most;
    this.numbers = List.of(numbers);
  }

  /** Its name in texts, such as {@code batch_norm}. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  static Optional<GraphOp> of(String text) {
    for (GraphOp op : values()) {
      if (op.text().equals(text)) {
        return Optional.of(op);
      }
    }
    return Optional.empty();
  }

  List<GraphNumber> numbers() {
    return numbers;
  }

  boolean takes(int inputs) {
    return inputs >= least && inputs <= most;
  }

  String inputs() {
    return least == most
        ? Integer.toString(least)
        : least + (most > 4 ? " or more" : " or " + most);
  }
}
