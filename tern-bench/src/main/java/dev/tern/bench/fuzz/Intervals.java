package dev.tern.bench.fuzz;

import dev.tern.base.DType;
import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Op;
import dev.tern.internal.ir.Pointwise;
import dev.tern.internal.ir.Program;
import dev.tern.internal.ir.Reference;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * Every value that a program may give in float arithmetic: for each element of each node an
 * interval, from the plain evaluation of {@link Reference}.
 *
 * <p>Data, constants, random numbers, movements of data and casts are exact: the interval is one
 * number. So is every elementwise op of exact inputs, whose result must agree bit for bit (except
 * the bits of a NaN). A sum of n terms may be taken in any order: it lies within g(n - 1) times the
 * sum of the terms' sizes of the sum in double precision, g(n) = n u / (1 - n u), u = 2^-24; a sum
 * of n products, with or without fused multiply-adds, within g(n) times the sum of the products'
 * sizes (Higham, Accuracy and Stability of Numerical Algorithms, 2002, sections 3.1 and 4.2). A
 * maximum is exact. Sums over pairs are taken from sums and squares of whole columns, whose sizes
 * count.
 *
 * <p>What follows on a sum is an interval too: rounding is monotone, so an elementwise op gives
 * results between those at the ends of its inputs, {@value #POLYNOMIAL_ULPS} units in the last
 * place added for those that are not rounded correctly. Where a division by 0 or a NaN is possible
 * but not certain, any result is right: the interval is unbounded.
 */
final class Intervals {
  private static final double UNIT = 0x1p-24;

  /** Twice the largest error of an elementary function, at both ends. */
  private static final int POLYNOMIAL_ULPS = 5;

  /** What sums in double precision may be off, as a share of the terms' sizes. */
  private static final double SLACK = 1e-11;

  /** Ends of the intervals of one node; equal ends, both NaN among them, are an exact value. */
  record Range(double[] low, double[] high) {
    static Range exact(double[] values) {
      return new Range(values, values);
    }

    static Range zeros(int count) {
      return new Range(new double[count], new double[count]);
    }

    boolean isExact(int at) {
      return Double.compare(low[at], high[at]) == 0;
    }

    boolean isUnbounded(int at) {
      return low[at] == Double.NEGATIVE_INFINITY && high[at] == Double.POSITIVE_INFINITY;
    }

    boolean holds(int at, double got) {
      return isExact(at)
          ? Double.compare(low[at], got) == 0
          : isUnbounded(at) || got >= low[at] && got <= high[at];
    }

    private void set(int at, double from, double to) {
      boolean known = !Double.isNaN(from) && !Double.isNaN(to);
      low[at] = known ? from : Double.NEGATIVE_INFINITY;
      high[at] = known ? to : Double.POSITIVE_INFINITY;
    }

    private void set(int at, double value) {
      low[at] = value;
      high[at] = value;
    }
  }

  private final Map<Node, Range> ranges = new IdentityHashMap<>();

  private Intervals() {}

  /** The intervals of all nodes of {@code program}. */
  static Intervals of(Program program) {
    Intervals intervals = new Intervals();
    for (Node node : program.nodes()) {
      intervals.ranges.put(node, intervals.compute(node));
    }
    return intervals;
  }

  /** What {@code node} of the program may be. */
  Range get(Node node) {
    Range range = ranges.get(node);
    if (range == null) {
      throw new IllegalArgumentException("fuzz: got " + node + ", expected one of the program");
    }
    return range;
  }

  private Range input(Node node, int index) {
    return get(node.input(index));
  }

  private static Range empty(Node node) {
    return Range.zeros(node.shape().elements());
  }

  private Range compute(Node node) {
    return switch (node.op()) {
      case Op.Leaf _, Op.Constant _, Op.Uniform _ -> Range.exact(moved(node, true));
      case Op.Reshape _, Op.Permute _, Op.Broadcast _, Op.Slice _, Op.Concat _, Op.Gather _ ->
          new Range(moved(node, true), moved(node, false));
      case Op.Cast cast -> cast(cast, node);
      case Op.Unary op -> unary(op, input(node, 0));
      case Op.Binary op -> binary(op, input(node, 0), input(node, 1));
      case Op.Ternary _ -> select(node);
      case Op.Reduce reduce -> reduce(reduce, node);
      case Op.MatMul _ -> matmul(node);
      case Op.ScatterAdd _ -> scatterAdd(node);
      case Op.SegmentReduce reduce -> segmentReduce(reduce.kind(), node);
      case Op.Index _ -> Range.exact(moved(node, true));
      case Op.DotInteraction _ -> dotInteraction(node);
      case Op.DotInteractionGradient _ -> dotInteractionGradient(node);
      case Op.PairSums _ -> pairSums(node);
      case Op.PairSumsGradient _ -> pairSumsGradient(node);
      case Op.Gru _ -> StateIntervals.states(node, this::get);
      case Op.GruGradient _ -> StateIntervals.gradients(node, this::get);
      case Op.Ruled _ -> input(node, 0);
    };
  }

  /** The op on the low or the high ends of its inputs. */
  private double[] moved(Node node, boolean lows) {
    List<double[]> inputs =
        node.inputs().stream().map(input -> lows ? get(input).low() : get(input).high()).toList();
    return Reference.apply(node, inputs);
  }

  private Range cast(Op.Cast cast, Node node) {
    Range x = input(node, 0);
    Range result = new Range(moved(node, true), moved(node, false));
    for (int i = 0; i < x.low().length; i++) {
      boolean crossesZero = !x.isExact(i) && x.low()[i] <= 0 && x.high()[i] >= 0;
      if (cast.type() == DType.BOOL && crossesZero) {
        result.set(i, 0, 1);
      }
    }
    return result;
  }

  static Range unary(Op.Unary op, Range x) {
    Range result = Range.zeros(x.low().length);
    for (int i = 0; i < x.low().length; i++) {
      float from = (float) x.low()[i];
      float to = (float) x.high()[i];
      if (x.isExact(i)) {
        result.set(i, Pointwise.apply(op, from));
      } else if (x.isUnbounded(i)) {
        result.set(i, Double.NaN, Double.NaN);
      } else {
        unary(op, from, to, result, i);
      }
    }
    return result;
  }

  private static void unary(Op.Unary op, float from, float to, Range result, int i) {
    double low = Pointwise.apply(op, from);
    double high = Pointwise.apply(op, to);
    boolean hasZero = from <= 0 && to >= 0;
    switch (op) {
      case COPY, DETACH, RELU, SQRT, SIGN -> result.set(i, low, high);
      case NEG, RSQRT -> result.set(i, high, low);
      case SINPI, COSPI -> {
        // No slope is above pi.
        double most = Math.PI * ((double) to - from) + margin(1);
        result.set(i, Math.max(-1, low - most), Math.min(1, low + most));
      }
      case EXP, EXPM1, LOG, LOG1P, TANH, SIGMOID, SOFTPLUS, ERF, ATAN ->
          result.set(i, low - margin(low), high + margin(high));
      case RECIPROCAL -> result.set(i, hasZero ? Double.NaN : high, low);
      case SQUARE, ABS -> result.set(i, hasZero ? 0 : Math.min(low, high), Math.max(low, high));
      case NOT -> result.set(i, 0, hasZero ? 1 : 0);
    }
  }

  private static double margin(double value) {
    return Double.isInfinite(value) ? 0 : POLYNOMIAL_ULPS * (double) Math.ulp((float) value);
  }

  static Range binary(Op.Binary op, Range a, Range b) {
    Range result = Range.zeros(a.low().length);
    for (int i = 0; i < result.low().length; i++) {
      if (a.isExact(i) && b.isExact(i)) {
        result.set(i, Pointwise.apply(op, (float) a.low()[i], (float) b.low()[i]));
      } else if (a.isUnbounded(i) || b.isUnbounded(i)) {
        result.set(i, Double.NaN, Double.NaN);
      } else {
        binary(
            op,
            (float) a.low()[i],
            (float) a.high()[i],
            (float) b.low()[i],
            (float) b.high()[i],
            result,
            i);
      }
    }
    return result;
  }

  private static void binary(
      Op.Binary op, float a, float a2, float b, float b2, Range result, int i) {
    switch (op) {
      case ADD, MAX, MIN -> result.set(i, Pointwise.apply(op, a, b), Pointwise.apply(op, a2, b2));
      case SUB -> result.set(i, a - b2, a2 - b);
      case MUL, DIV -> {
        if (op == Op.Binary.DIV && b <= 0 && b2 >= 0) {
          result.set(i, Double.NaN, Double.NaN);
          return;
        }
        double first = Pointwise.apply(op, a, b);
        double second = Pointwise.apply(op, a, b2);
        double third = Pointwise.apply(op, a2, b);
        double fourth = Pointwise.apply(op, a2, b2);
        result.set(
            i,
            Math.min(Math.min(first, second), Math.min(third, fourth)),
            Math.max(Math.max(first, second), Math.max(third, fourth)));
      }
      case LT -> result.set(i, a2 < b ? 1 : 0, a >= b2 ? 0 : 1);
      case LE -> result.set(i, a2 <= b ? 1 : 0, a > b2 ? 0 : 1);
      case EQ -> result.set(i, 0, a > b2 || a2 < b ? 0 : 1);
    }
    if (op.isComparison() && (Float.isNaN(a) || Float.isNaN(b))) {
      result.set(i, 0);
    }
  }

  private Range select(Node node) {
    Range condition = input(node, 0);
    Range a = input(node, 1);
    Range b = input(node, 2);
    Range result = empty(node);
    for (int i = 0; i < result.low().length; i++) {
      boolean mayBeZero = condition.low()[i] <= 0 && condition.high()[i] >= 0;
      if (!mayBeZero) {
        result.low()[i] = a.low()[i];
        result.high()[i] = a.high()[i];
      } else if (condition.isExact(i)) {
        result.low()[i] = b.low()[i];
        result.high()[i] = b.high()[i];
      } else {
        result.set(i, Math.min(a.low()[i], b.low()[i]), Math.max(a.high()[i], b.high()[i]));
      }
    }
    return result;
  }

  private Range reduce(Op.Reduce reduce, Node node) {
    Range x = input(node, 0);
    if (reduce.kind() == Op.Reduce.Kind.MAX) {
      Range result = new Range(moved(node, true), moved(node, false));
      for (int i = 0; i < result.low().length; i++) {
        if (!result.isExact(i)) {
          result.set(i, result.low()[i], result.high()[i]);
        }
      }
      return unboundedWhere(x, node, result);
    }
    Sums sums = new Sums(node.shape().elements());
    int[] strides = node.shape().rowMajorStrides();
    Arrays.fill(strides, reduce.from(), reduce.to(), 0);
    int[] sizes = node.input(0).shape().toArray();
    for (int i = 0; i < x.low().length; i++) {
      sums.add(offset(i, sizes, strides), x.low()[i], x.high()[i]);
    }
    return sums.range(false);
  }

  /** A maximum over an element that may be NaN may be NaN. */
  private static Range unboundedWhere(Range x, Node node, Range result) {
    Op.Reduce reduce = (Op.Reduce) node.op();
    int[] strides = node.shape().rowMajorStrides();
    Arrays.fill(strides, reduce.from(), reduce.to(), 0);
    int[] sizes = node.input(0).shape().toArray();
    for (int i = 0; i < x.low().length; i++) {
      if (x.isUnbounded(i)) {
        result.set(offset(i, sizes, strides), Double.NaN, Double.NaN);
      }
    }
    return result;
  }

  private static int offset(int index, int[] sizes, int[] strides) {
    int offset = 0;
    int rest = index;
    for (int axis = sizes.length - 1; axis >= 0; axis--) {
      offset += rest % sizes[axis] * strides[axis];
      rest /= sizes[axis];
    }
    return offset;
  }

  private Range matmul(Node node) {
    Range a = input(node, 0);
    Range b = input(node, 1);
    int m = node.shape().size(-2);
    int n = node.shape().size(-1);
    int k = node.input(0).shape().size(-1);
    Sums sums = new Sums(node.shape().elements());
    for (int i = 0; i < node.shape().elements(); i++) {
      int batch = i / (m * n);
      int row = i / n % m;
      for (int p = 0; p < k; p++) {
        sums.addProduct(i, a, (batch * m + row) * k + p, b, (batch * k + p) * n + i % n);
      }
    }
    return sums.range(true);
  }

  private Range scatterAdd(Node node) {
    Range index = input(node, 0);
    Range source = input(node, 1);
    int width = node.shape().withSize(0, 1).elements();
    Sums sums = new Sums(node.shape().elements());
    for (int i = 0; i < source.low().length; i++) {
      int row = (int) index.low()[i / width];
      if (row >= 0) {
        sums.add(row * width + i % width, source.low()[i], source.high()[i]);
      }
    }
    return sums.range(false);
  }

  private Range segmentReduce(Op.Reduce.Kind kind, Node node) {
    Range x = input(node, 0);
    double[] offsets = input(node, 1).low();
    int width = node.shape().withSize(0, 1).elements();
    Sums sums = new Sums(node.shape().elements());
    Range most = new Range(moved(node, true), moved(node, false));
    for (int s = 0; s + 1 < offsets.length; s++) {
      for (int i = (int) offsets[s] * width; i < (int) offsets[s + 1] * width; i++) {
        int at = s * width + i % width;
        sums.add(at, x.low()[i], x.high()[i]);
        if (x.isUnbounded(i)) {
          most.set(at, Double.NaN, Double.NaN);
        }
      }
    }
    return switch (kind) {
      case SUM -> sums.range(false);
      case MAX -> most;
    };
  }

  private Range dotInteraction(Node node) {
    Range x = input(node, 0);
    int n = node.input(0).shape().size(1);
    int d = node.input(0).shape().size(2);
    Sums sums = new Sums(node.shape().elements());
    int at = 0;
    for (int b = 0; b < node.shape().size(0); b++) {
      for (int i = 1; i < n; i++) {
        for (int j = 0; j < i; j++, at++) {
          for (int p = 0; p < d; p++) {
            sums.addProduct(at, x, (b * n + i) * d + p, x, (b * n + j) * d + p);
          }
        }
      }
    }
    return sums.range(true);
  }

  private Range dotInteractionGradient(Node node) {
    Range x = input(node, 0);
    Range g = input(node, 1);
    int n = node.shape().size(1);
    int d = node.shape().size(2);
    Sums sums = new Sums(node.shape().elements());
    int at = 0;
    for (int b = 0; b < node.shape().size(0); b++) {
      for (int i = 1; i < n; i++) {
        for (int j = 0; j < i; j++, at++) {
          for (int p = 0; p < d; p++) {
            int left = (b * n + i) * d + p;
            int right = (b * n + j) * d + p;
            sums.addProduct(left, g, at, x, right);
            sums.addProduct(right, g, at, x, left);
          }
        }
      }
    }
    return sums.range(true);
  }

  private Range pairSums(Node node) {
    Range x = input(node, 0);
    int n = node.input(0).shape().size(1);
    int d = node.input(0).shape().size(2);
    Sums sums = new Sums(node.shape().elements());
    double[] sizes = new double[node.shape().elements()];
    for (int b = 0; b < sizes.length; b++) {
      for (int p = 0; p < d; p++) {
        for (int i = 1; i < n; i++) {
          for (int j = 0; j < i; j++) {
            sums.addProduct(b, x, (b * n + i) * d + p, x, (b * n + j) * d + p);
          }
        }
        double column = columnSize(x, b * n * d + p, n, d);
        sizes[b] += column * column;
      }
    }
    return widened(sums.unrounded(), sizes, sizes, 2 * n + d + 10);
  }

  private Range pairSumsGradient(Node node) {
    Range x = input(node, 0);
    Range g = input(node, 1);
    int n = node.shape().size(1);
    int d = node.shape().size(2);
    Sums sums = new Sums(node.shape().elements());
    double[] sizes = new double[node.shape().elements()];
    double[] sumsOfAll = new double[sizes.length];
    for (int at = 0; at < sizes.length; at++) {
      int b = at / (n * d);
      for (int j = 0; j < n; j++) {
        int other = (b * n + j) * d + at % d;
        if (other != at) {
          sums.addProduct(at, g, b, x, other);
        }
      }
      double most = Math.max(Math.abs(g.low()[b]), Math.abs(g.high()[b]));
      sumsOfAll[at] = columnSize(x, b * n * d + at % d, n, d);
      sizes[at] = most * sumsOfAll[at];
    }
    return widened(sums.unrounded(), sizes, sumsOfAll, n + 5);
  }

  /** The sum of the sizes of {@code n} elements, {@code d} apart. */
  private static double columnSize(Range x, int first, int n, int d) {
    double size = 0;
    for (int j = 0; j < n; j++) {
      int at = first + j * d;
      size += Math.max(Math.abs(x.low()[at]), Math.abs(x.high()[at]));
    }
    return size;
  }

  /**
   * Intervals of results after {@code roundings} of terms of these sizes, on the way to which
   * numbers as large as {@code reached} may come up.
   */
  private static Range widened(Range range, double[] sizes, double[] reached, int roundings) {
    Range result = new Range(range.low().clone(), range.high().clone());
    for (int i = 0; i < sizes.length; i++) {
      double error = (roundings * UNIT * 1.01 + SLACK) * sizes[i] + roundings * Float.MIN_VALUE;
      boolean mayOverflow = !(Math.max(reached[i], sizes[i]) + error <= Float.MAX_VALUE);
      result.set(
          i,
          mayOverflow ? Double.NaN : range.low()[i] - error,
          mayOverflow ? Double.NaN : range.high()[i] + error);
    }
    return result;
  }

  /** Sums in double precision, with what their terms allow. */
  static final class Sums {
    private final double[] low;
    private final double[] high;
    private final double[] sizes;
    private final int[] terms;
    private final boolean[] unbounded;

    Sums(int count) {
      low = new double[count];
      high = new double[count];
      sizes = new double[count];
      terms = new int[count];
      unbounded = new boolean[count];
    }

    void add(int at, double from, double to) {
      boolean exact = Double.compare(from, to) == 0;
      unbounded[at] |= !exact && (Double.isInfinite(from) || Double.isInfinite(to));
      low[at] += from;
      high[at] += to;
      double size = Math.max(Math.abs(from), Math.abs(to));
      sizes[at] += Double.isFinite(size) ? size : 0;
      terms[at]++;
    }

    void addProduct(int at, Range a, int i, Range b, int j) {
      double first = a.low()[i] * b.low()[j];
      if (a.isExact(i) && b.isExact(j)) {
        add(at, first, first);
        return;
      }
      double second = a.low()[i] * b.high()[j];
      double third = a.high()[i] * b.low()[j];
      double fourth = a.high()[i] * b.high()[j];
      double from = Math.min(Math.min(first, second), Math.min(third, fourth));
      double to = Math.max(Math.max(first, second), Math.max(third, fourth));
      unbounded[at] |= Double.isNaN(from);
      add(at, from, to);
    }

    /** Of the sums in real numbers, as far as doubles tell. */
    Range unrounded() {
      Range result = new Range(low, high);
      for (int i = 0; i < low.length; i++) {
        double error = terms[i] * 0x1p-52 * sizes[i];
        boolean isKnown = !unbounded[i] && isFinite(i);
        result.set(
            i, isKnown ? low[i] - error : Double.NaN, isKnown ? high[i] + error : Double.NaN);
      }
      return result;
    }

    Range range(boolean products) {
      Range result = new Range(low, high);
      for (int i = 0; i < low.length; i++) {
        int rounded = products ? terms[i] : terms[i] - 1;
        double share = rounded * UNIT / (1 - rounded * UNIT) + (rounded > 0 ? SLACK : 0);
        double error = share * sizes[i] + (products ? terms[i] * Float.MIN_VALUE : 0);
        boolean mayOverflow = sizes[i] + error > Float.MAX_VALUE && !isNaN(i);
        boolean mayBeAnything = rounded * UNIT >= 1;
        if (unbounded[i] || mayOverflow || mayBeAnything) {
          result.set(i, Double.NaN, Double.NaN);
        } else if (isFinite(i) && rounded > 0 || Double.compare(low[i], high[i]) != 0) {
          result.set(i, low[i] - error, high[i] + error);
        }
      }
      return result;
    }

    private boolean isNaN(int at) {
      return Double.isNaN(low[at]) && Double.isNaN(high[at]);
    }

    private boolean isFinite(int at) {
      return Double.isFinite(low[at]) && Double.isFinite(high[at]);
    }
  }
}
