package dev.tern.internal.ir;

import dev.tern.internal.memory.Buffer;
import dev.tern.tensor.DType;
import dev.tern.tensor.Shape;
import java.util.List;

/**
 * What to compute. Each op has one line in each pass, and the passes switch over it without a
 * default, so the compiler lists what a new op still lacks: shapes ({@link Nodes}), gradients
 * ({@link Gradients}), reference evaluation ({@link Reference}) and emission.
 */
public sealed interface Op {
  /** Elementwise functions of one float. */
  enum Unary implements Op {
    /** The input itself, in memory of its own. */
    COPY,
    /** The input itself; gradients end here. */
    DETACH,
    NEG,
    EXP,
    EXPM1,
    LOG,
    LOG1P,
    TANH,
    SIGMOID,
    /** {@code log(1 + exp(x))} without overflow. */
    SOFTPLUS,
    ERF,
    RELU,
    SQRT,
    RSQRT,
    RECIPROCAL,
    SQUARE,
    ABS,
    /** -1, 0 or 1. */
    SIGN,
    /** 1 where the input is 0, else 0. */
    NOT,
  }

  /** Elementwise functions of two floats; comparisons give BOOL. */
  enum Binary implements Op {
    ADD,
    SUB,
    MUL,
    DIV,
    MAX,
    MIN,
    LT,
    LE,
    EQ;

    /** Whether the result is a truth value. */
    public boolean isComparison() {
      return this == LT || this == LE || this == EQ;
    }
  }

  /** Elementwise functions of three inputs. */
  enum Ternary implements Op {
    /** First input nonzero: second input, otherwise the third. */
    SELECT,
  }

  /** A resident tensor, dense row-major in {@code buffer}. */
  record Leaf(Buffer buffer) implements Op {}

  /** A scalar known when the program is recorded. */
  record Constant(float value) implements Op {}

  /**
   * Uniform numbers in [0, 1), a pure function of the 64-bit seed (its one input), {@code stream}
   * and the element's index.
   */
  record Uniform(int stream) implements Op {}

  /** Conversion to another element type. */
  record Cast(DType type) implements Op {}

  /** Sum or maximum over dimensions {@code from} (inclusive) to {@code to}, kept with size 1. */
  record Reduce(Kind kind, int from, int to) implements Op {
    /** How elements are combined. */
    public enum Kind {
      SUM,
      MAX,
    }
  }

  /** The same elements in row-major order under other sizes. */
  record Reshape(Shape shape) implements Op {}

  /** Dimension {@code i} of the result is dimension {@code axes.get(i)} of the input. */
  record Permute(List<Integer> axes) implements Op {
    public Permute {
      axes = List.copyOf(axes);
    }
  }

  /** Repeats dimensions of size 1; ranks agree. */
  record Broadcast(Shape shape) implements Op {}

  /** Indices {@code from} (inclusive) to {@code to} of dimension {@code axis}. */
  record Slice(int axis, int from, int to) implements Op {}

  /** Inputs one after the other along {@code axis}. */
  record Concat(int axis) implements Op {}

  /** {@code [..., m, k] x [..., k, n]}, rank 2 or 3 with equal batch sizes. */
  record MatMul() implements Op {}

  /** Rows of {@code [n, ...]} picked by an I32 or I64 index of any shape. */
  record Gather() implements Op {}

  /** Sums rows of the second input into {@code rows} zero rows at the index, the first input. */
  record ScatterAdd(int rows) implements Op {}

  /** Dot products of all pairs {@code i > j} of {@code [b, n, d]}: {@code [b, n (n - 1) / 2]}. */
  record DotInteraction() implements Op {}

  /** Gradient of {@link DotInteraction}: of its input and the result's gradient. */
  record DotInteractionGradient() implements Op {}

  /** The sum of the dot products of all pairs of {@code [b, n, d]}: {@code [b]}. */
  record PairSums() implements Op {}

  /** Gradient of {@link PairSums}: of its input and the result's gradient. */
  record PairSumsGradient() implements Op {}

  /**
   * The first input. Gradients do not go through what computed it but to the second, by a rule that
   * needs less: of the result {@code y}, its gradient {@code g} and further inputs.
   *
   * @param axis the dimension that sums and means go over
   */
  record Ruled(Rule rule, int axis) implements Op {
    /** What the first input is of the second. */
    public enum Rule {
      /** {@code y (g - sum(g y))}. */
      SOFTMAX,
      /** {@code g - exp(y) sum(g)}. */
      LOG_SOFTMAX,
      /** {@code s (g - mean(g) - y mean(g y))}, where s, the third input, is one by deviation. */
      NORMALIZE,
    }
  }

  /** Whether the op is computed element by element. */
  default boolean isPointwise() {
    return this instanceof Unary || this instanceof Binary || this instanceof Ternary;
  }

  /** Whether vector code of the op is a polynomial: dozens of instructions, not one or a few. */
  default boolean isPolynomial() {
    return this instanceof Unary op
        && switch (op) {
          case EXP, EXPM1, LOG, LOG1P, TANH, SIGMOID, SOFTPLUS, ERF -> true;
          case COPY, DETACH, NEG, RELU, SQRT, RSQRT, RECIPROCAL, SQUARE, ABS, SIGN, NOT -> false;
        };
  }

  /** Whether the result is the input's memory seen another way. */
  default boolean isView() {
    return this instanceof Reshape
        || this instanceof Permute
        || this instanceof Broadcast
        || this instanceof Slice;
  }
}
