package dev.tern.internal.ir;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import dev.tern.internal.memory.Buffer;
import java.util.List;
import java.util.Locale;

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

  /**
   * Rows of {@code [n, ...]} picked by an I32 or I64 index of any shape.
   *
   * @param gaps whether -1 picks zeros; else it is an error, as any other index outside
   */
  record Gather(boolean gaps) implements Op {}

  /**
   * Sums rows of the second input into {@code rows} zero rows at the index, the first input.
   *
   * @param gaps whether a row at -1 is left out; else it is an error
   */
  record ScatterAdd(int rows, boolean gaps) implements Op {}

  /**
   * Sums or maxima of runs of rows: of {@code [n, ...]} and offsets, I32 {@code [s + 1]}, that
   * start with 0 and never descend, {@code [s, ...]}. Rows from the last offset on are not read. A
   * sum of no rows is 0, a maximum negative infinity.
   */
  record SegmentReduce(Reduce.Kind kind) implements Op {}

  /**
   * Whole numbers, I32, that say where the rows of sequences lie: made of offsets and the like by
   * {@link IndexRules}. No gradient goes through.
   *
   * @param size rows of the result, or what the rule says
   * @param width what the rule says, else 0
   */
  record Index(Rule rule, int size, int width) implements Op {
    /**
     * What is computed. There are {@code s} sequences with offsets {@code [s + 1]}, I32, over
     * {@code n} rows; rows from the last offset on belong to none.
     */
    public enum Rule {
      /** Of offsets: how many of {@code size} rows each sequence has, {@code [s]}. */
      LENGTHS,
      /** Of lengths {@code [s]}: their offsets. */
      OFFSETS,
      /** Of offsets: the sequence of each of {@code size} rows, -1 for none. */
      SEQUENCES,
      /** Of offsets: the place of each of {@code size} rows in its sequence, -1 for none. */
      POSITIONS,
      /** Of offsets: for each of {@code size} rows the one as far from the other end, or -1. */
      MIRROR,
      /** Of offsets over {@code size} rows: the first of each, {@code [s, width]}, then -1. */
      HEADS,
      /** As HEADS, but a sequence of more than {@code width} rows is an error. */
      ALL,
      /** As HEADS, but the last rows of each sequence, the last first, then -1. */
      TAILS,
      /**
       * Of offsets: each of {@code size} rows and the next in its sequence, {@code [size, width]},
       * then {@code size}, which is no row.
       */
      WINDOWS,
      /** Of starts {@code [s]} and offsets: counts up from each start, {@code [size]}, then -1. */
      RANGES,
      /**
       * Of offsets over {@code size} rows, firsts and lengths {@code [s]}: starts of these parts.
       */
      STARTS,
      /** Of marks {@code [n]} and offsets: how many rows of each sequence have nonzero marks. */
      KEPT_LENGTHS,
      /** Of marks {@code [n]} and offsets: the rows with nonzero marks, {@code [n]}, then -1. */
      KEPT,
      /** Of ids {@code [n]} and others {@code [t]}: 0 where the id is one of the others, else 1. */
      NOT_AMONG,
      /** Of columns {@code [n]} and offsets: cells of {@code [s, width]}, -1 for no sequence. */
      CELLS,
      /**
       * Of numbers {@code [n, w]} and offsets: elements of the largest of each sequence and column,
       * {@code [s, width, w]}, largest first, the earlier of equal ones first, then -1.
       */
      LARGEST,
      /** Of numbers: each plus {@code size}. */
      SHIFT,
      /**
       * Of offsets: each times {@code size} by {@code width}; a remainder is an error. Not checked
       * for rows: those past them stay so, and are found where the result is read.
       */
      SCALE;

      private final String text = name().toLowerCase(Locale.ROOT);

      /** Its name in messages. */
      public String text() {
        return text;
      }
    }
  }

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
