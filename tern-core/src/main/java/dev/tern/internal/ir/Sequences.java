package dev.tern.internal.ir;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import dev.tern.internal.ir.Op.Index.Rule;
import java.util.List;

/**
 * Makes nodes of ops on sequences and checks shapes and types. A sequence is a run of rows. Offsets
 * are I32 {@code [s + 1]}: sequence {@code i} has the rows from {@code offsets[i]} to before {@code
 * offsets[i + 1]}. The ops that read offsets check that they stay within the rows.
 */
public final class Sequences {
  private Sequences() {}

  /** The sum or maximum of each sequence of {@code values}, {@code [n, ...]}: {@code [s, ...]}. */
  public static Node reduce(Op.Reduce.Kind kind, Node values, Node offsets) {
    Op op = new Op.SegmentReduce(kind);
    requireOffsets(op, offsets);
    boolean hasRows = values.type().isFloatLike() && values.shape().rank() >= 1;
    require(hasRows, op, values, "F32 [n, ...]");
    Shape shape = values.shape().withSize(0, sequences(offsets));
    return new Node(op, List.of(values, offsets), shape, DType.F32);
  }

  /** For each of {@code rows} rows the row of {@code x} of its sequence; zeros for none. */
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

  /** One number for each of {@code rows} rows, by SEQUENCES, POSITIONS or MIRROR. */
  public static Node rows(Rule rule, Node offsets, int rows) {
    sequences(offsets);
    return index(rule, rows, 0, Shape.of(rows), offsets);
  }

  /** The numbers of {@code width} rows for each sequence, by HEADS, ALL or TAILS. */
  public static Node ends(Rule rule, Node offsets, int rows, int width) {
    return index(rule, rows, width, Shape.of(sequences(offsets), width), offsets);
  }

  /** The numbers of each of {@code rows} rows and the rows after it, {@code width} in all. */
  public static Node windows(Node offsets, int rows, int width) {
    sequences(offsets);
    return index(Rule.WINDOWS, rows, width, Shape.of(rows, width), offsets);
  }

  /** Counts up from each start, once for each row of its sequence; {@code rows} in all. */
  public static Node ranges(Node starts, Node offsets, int rows) {
    requireLength(Rule.RANGES, starts, sequences(offsets));
    return index(Rule.RANGES, rows, 0, Shape.of(rows), starts, offsets);
  }

  /** The first row of a part of each sequence, which starts at {@code firsts} in it. */
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

  /** The numbers of the rows with nonzero marks. */
  public static Node kept(Node marks, Node offsets) {
    requireMarks(Rule.KEPT, marks);
    sequences(offsets);
    return index(Rule.KEPT, 0, 0, marks.shape(), marks, offsets);
  }

  /** 0 for each id that is one of {@code others}, else 1; both I32 or I64. */
  public static Node notAmong(Node ids, Node others) {
    requireVector(Rule.NOT_AMONG, ids);
    requireVector(Rule.NOT_AMONG, others);
    requireWhole(Rule.NOT_AMONG, ids);
    requireWhole(Rule.NOT_AMONG, others);
    return index(Rule.NOT_AMONG, 0, 0, ids.shape(), ids, others);
  }

  /** For each row the cell of {@code [s, width]} that its sequence and its column give. */
  public static Node cells(Node columns, Node offsets, int width) {
    requireVector(Rule.CELLS, columns);
    requireWhole(Rule.CELLS, columns);
    sequences(offsets);
    return index(Rule.CELLS, 0, width, columns.shape(), columns, offsets);
  }

  /** The element numbers of the {@code count} largest in each sequence and column. */
  public static Node largest(Node values, Node offsets, int count) {
    boolean isMatrix = values.type() == DType.F32 && values.shape().rank() == 2;
    require(isMatrix, Rule.LARGEST, values, "F32 [n, width]");
    Shape shape = Shape.of(sequences(offsets), count, values.shape().size(1));
    return index(Rule.LARGEST, 0, count, shape, values, offsets);
  }

  /** {@code numbers} plus {@code by}. */
  public static Node shift(Node numbers, int by) {
    requireVector(Rule.SHIFT, numbers);
    return by == 0 ? numbers : index(Rule.SHIFT, by, 0, numbers.shape(), numbers);
  }

  /** {@code offsets} times {@code factor}, divided by {@code divisor}. */
  public static Node scale(Node offsets, int factor, int divisor) {
    sequences(offsets);
    return index(Rule.SCALE, factor, divisor, offsets.shape(), offsets);
  }

  private static Node index(Rule rule, int size, int width, Shape shape, Node... inputs) {
    Node last = inputs[inputs.length - 1];
    require(rule == Rule.NOT_AMONG || last.type() == DType.I32, rule, last, "I32");
    return new Node(new Op.Index(rule, size, width), List.of(inputs), shape, DType.I32);
  }

  /** How many sequences {@code offsets} give. */
  private static int sequences(Node offsets) {
    requireOffsets("offsets", offsets);
    return offsets.shape().size(0) - 1;
  }

  private static void require(boolean holds, Object op, Node got, String expected) {
    if (!holds) {
      throw new IllegalArgumentException(op + ": got " + got + ", expected " + expected);
    }
  }

  static void requireOffsets(Object op, Node offsets) {
    boolean fits = offsets.type() == DType.I32 && offsets.shape().rank() == 1;
    fits = fits && offsets.shape().size(0) >= 1;
    require(fits, op, offsets, "I32 offsets [sequences + 1]");
  }

  private static void requireVector(Rule rule, Node x) {
    require(x.shape().rank() == 1, rule, x, "one dimension");
  }

  private static void requireMarks(Rule rule, Node x) {
    requireVector(rule, x);
    if (x.type() == DType.F16 || x.type() == DType.BF16) {
      throw new IllegalArgumentException(
          rule + ": got marks " + x + ", expected F32, BOOL, I32 or I64; cast them first");
    }
  }

  private static void requireWhole(Rule rule, Node x) {
    require(x.type() == DType.I32 || x.type() == DType.I64, rule, x, "I32 or I64");
  }

  private static void requireLength(Rule rule, Node x, int length) {
    if (x.type() != DType.I32 || !x.shape().equals(Shape.of(length))) {
      throw new IllegalArgumentException(
          rule + ": got " + x + ", expected I32[" + length + "], one for each sequence");
    }
  }
}
