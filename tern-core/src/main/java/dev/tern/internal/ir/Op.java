package dev.tern.internal.ir;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import dev.tern.internal.memory.Buffer;
import java.util.List;
import java.util.Locale;

/**
 * What to compute. Each pass switches over all ops without a default, so the compiler lists what a
 * new op still lacks: shapes ({@link Nodes}), gradients ({@link Gradients}), reference evaluation
 * ({@link Reference}) and code.
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
    /** {@code sin(pi x)}. */
    SINPI,
    /** {@code cos(pi x)}. */
    COSPI,
    ATAN,
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
   * Uniform numbers in [0, 1): a pure function of the 64-bit seed (its one input), {@code stream}
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

  /**
   * Rows of {@code [n, ...]} picked by an I32 or I64 index of any shape.
   *
   * @param gaps whether index -1 picks zeros. Without it, -1 is an error like other indices outside
   */
  record Gather(boolean gaps) implements Op {}

  /**
   * Sums rows of the second input into {@code rows} zero rows at the index, the first input.
   *
   * @param gaps whether a row at index -1 is left out. Without it, -1 is an error
   */
  record ScatterAdd(int rows, boolean gaps) implements Op {}

  /**
   * Sums or maxima of runs of rows. Inputs are values {@code [n, ...]} and offsets, I32 {@code [s +
   * 1]}, that start with 0 and never descend; the result is {@code [s, ...]}. Rows from the last
   * offset on are not read. The sum of no rows is 0, their maximum negative infinity. For example,
   * the sums of rows 1, 2, 3 with offsets 0, 2, 2, 3 are 3, 0, 3.
   */
  record SegmentReduce(Reduce.Kind kind) implements Op {}

  /**
   * Integers, I32, that say where the rows of sequences lie. {@link IndexRules} computes them from
   * offsets and similar inputs. No gradient passes through.
   *
   * @param size rows of the result, or what the rule says
   * @param width what the rule says, else 0
   */
  record Index(Rule rule, int size, int width) implements Op {
    /**
     * What is computed; each comment names the inputs, then the result. Offsets {@code [s + 1]},
     * I32, divide {@code n} rows into {@code s} sequences; rows from the last offset on belong to
     * none.
     */
    public enum Rule {
      /** Offsets: the length of each sequence, {@code [s]}. */
      LENGTHS,
      /** Lengths {@code [s]}: their offsets. */
      OFFSETS,
      /** Offsets: the sequence of each of {@code size} rows, -1 for none. */
      SEQUENCES,
      /** Offsets: the place of each of {@code size} rows in its sequence, -1 for none. */
      POSITIONS,
      /** Offsets: for each of {@code size} rows its mirror row in the reversed sequence, or -1. */
      MIRROR,
      /** Offsets: the first {@code width} rows of each sequence, {@code [s, width]}, then -1. */
      HEADS,
      /** As HEADS, but a sequence of more than {@code width} rows is an error. */
      ALL,
      /** As HEADS, but the last rows of each sequence, in reverse order. */
      TAILS,
      /**
       * Offsets: each of {@code size} rows and the rows after it in its sequence, {@code [size,
       * width]}; past the end {@code size}, which is no row.
       */
      WINDOWS,
      /** Starts {@code [s]}, offsets: counts up from each start, {@code [size]}, then -1. */
      RANGES,
      /** Offsets, firsts and lengths {@code [s]}: the first row of that part of each sequence. */
      STARTS,
      /** Marks {@code [n]}, offsets: the number of rows with nonzero marks in each sequence. */
      KEPT_LENGTHS,
      /** Marks {@code [n]}, offsets: the rows with nonzero marks, {@code [n]}, then -1. */
      KEPT,
      /** Ids {@code [n]}, others {@code [t]}: 0 where the id is one of the others, else 1. */
      NOT_AMONG,
      /** Columns {@code [n]}, offsets: {@code sequence * width + column}, -1 for no sequence. */
      CELLS,
      /**
       * Numbers {@code [n, w]}, offsets: the element numbers of the {@code width} largest of each
       * sequence and column, {@code [s, width, w]}, the largest first, of equal ones the earlier
       * first, then -1.
       */
      LARGEST,
      /** Numbers: each plus {@code size}. */
      SHIFT,
      /** Offsets: each times {@code size}, divided by {@code width}; a remainder is an error. */
      SCALE;

      private final String text = name().toLowerCase(Locale.ROOT);

      /** The name of the rule in messages. */
      public String text() {
        return text;
      }
    }
  }

  /**
   * States of a gated recurrent unit over runs of rows, {@code [n, h]}, by {@link Recurrence}.
   * Inputs are what rows give to the gates, {@code [n, 3 h]}, a factor of the update of each row,
   * {@code [n]}, the recurrent weights, {@code [h, 3 h]}, and offsets as {@link SegmentReduce} has
   * them. Rows from the last offset on are not read, and have the state 0.
   */
  record Gru() implements Op {}

  /**
   * The gradient that a state of {@link Gru} gets in all, {@code [n, h]}. Inputs are the one that
   * it gets from all but the next state, {@code [n, h]}, the share of the state before that each
   * row keeps, {@code [n, h]}, slopes, {@code [n, 3 h]}, the transposed recurrent weights, {@code
   * [3 h, h]}, and offsets.
   */
  record GruGradient() implements Op {}

  /** Dot products of all pairs {@code i > j} of {@code [b, n, d]}: {@code [b, n (n - 1) / 2]}. */
  record DotInteraction() implements Op {}

  /** Gradient of {@link DotInteraction}. Inputs: its input, the gradient of its result. */
  record DotInteractionGradient() implements Op {}

  /** The sum of the dot products of all pairs of {@code [b, n, d]}: {@code [b]}. */
  record PairSums() implements Op {}

  /** Gradient of {@link PairSums}. Inputs: its input, the gradient of its result. */
  record PairSumsGradient() implements Op {}

  /**
   * The first input; its gradient goes to the second input by a rule. The rule needs only the
   * result {@code y}, its gradient {@code g} and further inputs, so the backward pass needs no
   * value of the ops that computed the first input.
   *
   * @param axis the dimension of the sums and means
   */
  record Ruled(Rule rule, int axis) implements Op {
    /** The gradient, named after the function that computed the first input from the second. */
    public enum Rule {
      /** {@code y (g - sum(g y))}. */
      SOFTMAX,
      /** {@code g - exp(y) sum(g)}. */
      LOG_SOFTMAX,
      /** {@code s (g - mean(g) - y mean(g y))}, where s, the third input, is 1 / deviation. */
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
          case EXP, EXPM1, LOG, LOG1P, TANH, SIGMOID, SOFTPLUS, ERF, SINPI, COSPI, ATAN -> true;
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
