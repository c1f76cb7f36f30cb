package dev.tern.internal.ir;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import dev.tern.internal.ir.Op.Index.Rule;
import java.util.List;

/**
 * Makes nodes of ops on sequences, runs of rows that offsets part: their shape and type rules.
 * Offsets are I32 {@code [s + 1]}; who reads them checks that they stay within the rows.
 */
public final class Sequences {
  private Sequences() {}

  /** The sum or maximum of each sequence of {@code values}, {@code [n, ...]}: {@code [s, ...]}. */
  public static Node reduce(Op.Reduce.Kind kind, Node values, Node offsets) {
    Op op = new Op.SegmentReduce(kind);
    requireOffsets(op, offsets);
    if (!values.type().isFloatLike() || values.shape().rank() < 1) {
      throw new IllegalArgumentException(op + ": got " + values + ", expected F32 [n, ...]");
    }
    Shape shape = values.shape().withSize(0, sequences(offsets));
    return new Node(op, List.of(values, offsets), shape, DType.F32);
  }

  /** Row {@code i} of {@code x}, {@code [s, ...]}, for each row of sequence i; zeros for none. */
  public static Node spread(Node x, Node offsets, int rows) {
    return Nodes.gather(x, rows(Rule.SEQUENCES, offsets, rows), true);
  }

  /** How many of {@code rows} rows each sequence has, {@code [s]}. */
  public static Node lengths(Node offsets, int rows) {
    return index(Rule.LENGTHS, rows, 0, Shape.of(sequences(offsets)), offsets);
  }

  /** Offsets of {@code lengths}, I32 {@code [s]}. */
  public static Node offsets(Node lengths) {
    requireVector(Rule.OFFSETS, lengths);
    return index(Rule.OFFSETS, 0, 0, Shape.of(lengths.shape().size(0) + 1), lengths);
  }

  /** Something about each of {@code rows} rows: SEQUENCES, POSITIONS or MIRROR. */
  public static Node rows(Rule rule, Node offsets, int rows) {
    sequences(offsets);
    return index(rule, rows, 0, Shape.of(rows), offsets);
  }

  /** {@code width} of {@code rows} rows for each sequence: HEADS, ALL or TAILS. */
  public static Node ends(Rule rule, Node offsets, int rows, int width) {
    return index(rule, rows, width, Shape.of(sequences(offsets), width), offsets);
  }

  /** Each of {@code rows} rows with those that follow, {@code width} in all. */
  public static Node windows(Node offsets, int rows, int width) {
    sequences(offsets);
    return index(Rule.WINDOWS, rows, width, Shape.of(rows, width), offsets);
  }

  /**
   * Counts up from each of {@code starts}, as often as {@code offsets} say; {@code rows} in all.
   */
  public static Node ranges(Node starts, Node offsets, int rows) {
    requireLength(Rule.RANGES, starts, sequences(offsets));
    return index(Rule.RANGES, rows, 0, Shape.of(rows), starts, offsets);
  }

  /** Where the parts of sequences of {@code rows} rows start, at {@code firsts} and so long. */
  public static Node starts(Node offsets, int rows, Node firsts, Node lengths) {
    requireLength(Rule.STARTS, firsts, sequences(offsets));
    requireLength(Rule.STARTS, lengths, sequences(offsets));
    return index(Rule.STARTS, rows, 0, firsts.shape(), offsets, firsts, lengths);
  }

  /** How many rows of each sequence have nonzero marks. */
  public static Node keptLengths(Node marks, Node offsets) {
    requireMarks(Rule.KEPT_LENGTHS, marks);
    return index(Rule.KEPT_LENGTHS, 0, 0, Shape.of(sequences(offsets)), marks, offsets);
  }

  /** The rows with nonzero marks. */
  public static Node kept(Node marks, Node offsets) {
    requireMarks(Rule.KEPT, marks);
    sequences(offsets);
    return index(Rule.KEPT, 0, 0, marks.shape(), marks, offsets);
  }

  /** Where {@code ids} are none of {@code others}; both I32 or I64. */
  public static Node notAmong(Node ids, Node others) {
    requireVector(Rule.NOT_AMONG, ids);
    requireVector(Rule.NOT_AMONG, others);
    requireWhole(Rule.NOT_AMONG, ids);
    requireWhole(Rule.NOT_AMONG, others);
    return index(Rule.NOT_AMONG, 0, 0, ids.shape(), ids, others);
  }

  /** For each row the cell of {@code [s, width]} in the row of its sequence and its column. */
  public static Node cells(Node columns, Node offsets, int width) {
    requireVector(Rule.CELLS, columns);
    requireWhole(Rule.CELLS, columns);
    sequences(offsets);
    return index(Rule.CELLS, 0, width, columns.shape(), columns, offsets);
  }

  /** Elements of the {@code count} largest numbers of each sequence and column. */
  public static Node largest(Node values, Node offsets, int count) {
    if (values.type() != DType.F32 || values.shape().rank() != 2) {
      throw new IllegalArgumentException(
          Rule.LARGEST + ": got " + values + ", expected F32 [n, width]");
    }
    Shape shape = Shape.of(sequences(offsets), count, values.shape().size(1));
    return index(Rule.LARGEST, 0, count, shape, values, offsets);
  }

  /** {@code numbers} plus {@code by}. */
  public static Node shift(Node numbers, int by) {
    requireVector(Rule.SHIFT, numbers);
    return by == 0 ? numbers : index(Rule.SHIFT, by, 0, numbers.shape(), numbers);
  }

  /** {@code offsets} times {@code factor} by {@code divisor}. */
  public static Node scale(Node offsets, int factor, int divisor) {
    sequences(offsets);
    return index(Rule.SCALE, factor, divisor, offsets.shape(), offsets);
  }

  private static Node index(Rule rule, int size, int width, Shape shape, Node... inputs) {
    Node last = inputs[inputs.length - 1];
    boolean ofIds = rule == Rule.NOT_AMONG;
    if (!ofIds && last.type() != DType.I32) {
      throw new IllegalArgumentException(rule + ": got " + last + ", expected I32");
    }
    return new Node(new Op.Index(rule, size, width), List.of(inputs), shape, DType.I32);
  }

  /** How many sequences {@code offsets} part. */
  private static int sequences(Node offsets) {
    requireOffsets("offsets", offsets);
    return offsets.shape().size(0) - 1;
  }

  private static void requireOffsets(Object op, Node offsets) {
    boolean fits = offsets.type() == DType.I32 && offsets.shape().rank() == 1;
    if (!fits || offsets.shape().size(0) < 1) {
      throw new IllegalArgumentException(
          op + ": got " + offsets + ", expected I32 offsets [sequences + 1]");
    }
  }

  private static void requireVector(Rule rule, Node x) {
    if (x.shape().rank() != 1) {
      throw new IllegalArgumentException(rule + ": got " + x + ", expected one dimension");
    }
  }

  private static void requireMarks(Rule rule, Node x) {
    requireVector(rule, x);
    if (x.type() == DType.F16 || x.type() == DType.BF16) {
      throw new IllegalArgumentException(
          rule + ": got marks " + x + ", expected F32, BOOL, I32 or I64; cast them first");
    }
  }

  private static void requireWhole(Rule rule, Node x) {
    if (x.type() != DType.I32 && x.type() != DType.I64) {
      throw new IllegalArgumentException(rule + ": got " + x + ", expected I32 or I64");
    }
  }

  private static void requireLength(Rule rule, Node x, int length) {
    if (x.type() != DType.I32 || !x.shape().equals(Shape.of(length))) {
      throw new IllegalArgumentException(
          rule + ": got " + x + ", expected I32[" + length + "], one for each sequence");
    }
  }
}
