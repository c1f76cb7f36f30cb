package dev.tern.internal.ir;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import dev.tern.internal.memory.Buffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * Makes nodes: the shape and type rule of each op. Errors read {@code <op>: got ..., expected ...}.
 */
public final class Nodes {
  private Nodes() {}

  /** A resident tensor. */
  public static Node leaf(Buffer buffer, Shape shape, DType type) {
    return new Node(new Op.Leaf(buffer), List.of(), shape, type);
  }

  /** A scalar constant. */
  public static Node constant(float value) {
    return new Node(new Op.Constant(value), List.of(), Shape.SCALAR, DType.F32);
  }

  /** A constant repeated to {@code shape}. */
  public static Node full(Shape shape, float value) {
    return broadcast(constant(value), shape);
  }

  public static Node unary(Op.Unary op, Node x) {
    requireFloat(op, x);
    return new Node(op, List.of(x), x.shape(), op == Op.Unary.NOT ? DType.BOOL : DType.F32);
  }

  /** Applies {@code op} after broadcasting both sides to their common shape. */
  public static Node binary(Op.Binary op, Node a, Node b) {
    requireFloat(op, a);
    requireFloat(op, b);
    Shape shape = commonShape(op, a.shape(), b.shape());
    DType type = op.isComparison() ? DType.BOOL : DType.F32;
    return new Node(op, List.of(broadcast(a, shape), broadcast(b, shape)), shape, type);
  }

  public static Node add(Node a, Node b) {
    return binary(Op.Binary.ADD, a, b);
  }

  public static Node sub(Node a, Node b) {
    return binary(Op.Binary.SUB, a, b);
  }

  public static Node mul(Node a, Node b) {
    return binary(Op.Binary.MUL, a, b);
  }

  public static Node mul(Node a, float b) {
    return binary(Op.Binary.MUL, a, constant(b));
  }

  /** {@code condition ? a : b}, elementwise. */
  public static Node select(Node condition, Node a, Node b) {
    requireFloat(Op.Ternary.SELECT, condition);
    requireFloat(Op.Ternary.SELECT, a);
    requireFloat(Op.Ternary.SELECT, b);
    Shape shape = commonShape(Op.Ternary.SELECT, a.shape(), b.shape());
    shape = commonShape(Op.Ternary.SELECT, shape, condition.shape());
    return new Node(
        Op.Ternary.SELECT,
        List.of(broadcast(condition, shape), broadcast(a, shape), broadcast(b, shape)),
        shape,
        DType.F32);
  }

  /** Uniform numbers in [0, 1) of {@code shape}; {@code seed} is an I64 tensor of one element. */
  public static Node uniform(Node seed, int stream, Shape shape) {
    if (seed.type() != DType.I64 || seed.shape().elements() != 1) {
      throw new IllegalArgumentException(
          "uniform: got a seed " + seed.type() + seed.shape() + ", expected one I64");
    }
    return new Node(new Op.Uniform(stream), List.of(seed), shape, DType.F32);
  }

  public static Node cast(Node x, DType type) {
    return x.type() == type ? x : new Node(new Op.Cast(type), List.of(x), x.shape(), type);
  }

  /** A copy of {@code x}, for types on which {@link Op.Unary#COPY} is not defined. */
  public static Node recast(Node x) {
    return new Node(new Op.Cast(x.type()), List.of(x), x.shape(), x.type());
  }

  /** Reduces dimensions {@code from} (inclusive) to {@code to}, which stay with size 1. */
  public static Node reduce(Op.Reduce.Kind kind, Node x, int from, int to) {
    Op op = new Op.Reduce(kind, from, to);
    requireFloat(op, x);
    if (from < 0 || to > x.shape().rank() || from >= to) {
      throw new IllegalArgumentException(
          "reduce: got dimensions " + from + " to " + to + " of " + x.shape());
    }
    int[] sizes = x.shape().toArray();
    Arrays.fill(sizes, from, to, 1);
    Shape shape = Shape.of(sizes);
    return shape.equals(x.shape()) ? x : new Node(op, List.of(x), shape, DType.F32);
  }

  public static Node reshape(Node x, Shape shape) {
    if (shape.elements() != x.shape().elements()) {
      throw new IllegalArgumentException(
          "reshape: got " + x.shape() + " to " + shape + ", expected equal numbers of elements");
    }
    return shape.equals(x.shape())
        ? x
        : new Node(new Op.Reshape(shape), List.of(x), shape, x.type());
  }

  public static Node permute(Node x, List<Integer> axes) {
    List<Integer> sorted = new ArrayList<>(axes);
    Collections.sort(sorted);
    int[] sizes = new int[axes.size()];
    for (int i = 0; i < sizes.length; i++) {
      if (sizes.length != x.shape().rank() || sorted.get(i) != i) {
        throw new IllegalArgumentException(
            "permute: got axes " + axes + " for " + x.shape() + ", expected each axis once");
      }
      sizes[i] = x.shape().size(axes.get(i));
    }
    return new Node(new Op.Permute(axes), List.of(x), Shape.of(sizes), x.type());
  }

  /** Exchanges two dimensions. */
  public static Node transpose(Node x, int a, int b) {
    List<Integer> axes = new ArrayList<>();
    for (int i = 0; i < x.shape().rank(); i++) {
      axes.add(i);
    }
    Collections.swap(axes, x.shape().axis(a), x.shape().axis(b));
    return permute(x, axes);
  }

  /** Repeats {@code x} to {@code shape}: dimensions align at the end, sizes agree or are 1. */
  public static Node broadcast(Node x, Shape shape) {
    if (x.shape().equals(shape)) {
      return x;
    }
    int missing = shape.rank() - x.shape().rank();
    int[] padded = new int[Math.max(0, shape.rank())];
    for (int i = 0; i < padded.length; i++) {
      padded[i] = i < missing ? 1 : x.shape().size(i - missing);
      if (missing < 0 || padded[i] != 1 && padded[i] != shape.size(i)) {
        throw new IllegalArgumentException(
            "broadcast: got " + x.shape() + " to " + shape + ", expected equal sizes or 1");
      }
    }
    if (missing < 0) {
      throw new IllegalArgumentException(
          "broadcast: got " + x.shape() + " to " + shape + ", expected at least its rank");
    }
    Node aligned = reshape(x, Shape.of(padded));
    return aligned.shape().equals(shape)
        ? aligned
        : new Node(new Op.Broadcast(shape), List.of(aligned), shape, x.type());
  }

  public static Node slice(Node x, int axis, int from, int to) {
    int counted = x.shape().axis(axis);
    if (from < 0 || to < from || to > x.shape().size(counted)) {
      throw new IllegalArgumentException(
          "slice: got " + from + " to " + to + " of dimension " + axis + " of " + x.shape());
    }
    if (from == 0 && to == x.shape().size(counted)) {
      return x;
    }
    Shape shape = x.shape().withSize(counted, to - from);
    return new Node(new Op.Slice(counted, from, to), List.of(x), shape, x.type());
  }

  public static Node concat(int axis, List<Node> parts) {
    if (parts.isEmpty()) {
      throw new IllegalArgumentException("concat: got no tensors, expected one or more");
    }
    Node first = parts.get(0);
    int counted = first.shape().axis(axis);
    int size = 0;
    for (Node part : parts) {
      boolean typesFit =
          part.type() == first.type() || part.type().isFloatLike() && first.type().isFloatLike();
      if (!typesFit
          || part.shape().rank() != first.shape().rank()
          || !part.shape().withSize(counted, 0).equals(first.shape().withSize(counted, 0))) {
        throw new IllegalArgumentException(
            "concat: got %s beside %s, expected equal sizes except axis %d"
                .formatted(part, first, axis));
      }
      size = Math.addExact(size, part.shape().size(counted));
    }
    DType type = first.type().isFloatLike() ? DType.F32 : first.type();
    return parts.size() == 1
        ? first
        : new Node(new Op.Concat(counted), parts, first.shape().withSize(counted, size), type);
  }

  public static Node matmul(Node a, Node b) {
    Op op = new Op.MatMul();
    requireFloat(op, a);
    requireFloat(op, b);
    int rank = a.shape().rank();
    boolean fits =
        rank == b.shape().rank()
            && (rank == 2 || rank == 3 && a.shape().size(0) == b.shape().size(0))
            && a.shape().size(-1) == b.shape().size(-2);
    if (!fits) {
      throw new IllegalArgumentException(
          "matmul: got " + a.shape() + " x " + b.shape() + ", expected [(b,) m, k] x [(b,) k, n]");
    }
    Shape shape = a.shape().withSize(rank - 1, b.shape().size(-1));
    return new Node(op, List.of(a, b), shape, DType.F32);
  }

  /** Rows of {@code table} ({@code [n, ...]}) at {@code index}; an index outside is an error. */
  public static Node gather(Node table, Node index) {
    return gather(table, index, false);
  }

  /** As {@link #gather}; with {@code gaps}, index -1 picks zeros. */
  public static Node gather(Node table, Node index, boolean gaps) {
    requireIndex("gather", index);
    DType type = table.type();
    if (table.shape().rank() < 1 || type != DType.F32 && !isWhole(type)) {
      throw new IllegalArgumentException(
          "gather: got a table " + table + ", expected F32, I32 or I64 [n, ...]");
    }
    int lead = index.shape().rank();
    int rest = table.shape().rank() - 1;
    int[] sizes = Arrays.copyOf(index.shape().toArray(), lead + rest);
    System.arraycopy(table.shape().toArray(), 1, sizes, lead, rest);
    return new Node(new Op.Gather(gaps), List.of(table, index), Shape.of(sizes), type);
  }

  /** {@code rows} zero rows with the rows of {@code values} added at {@code index}. */
  public static Node scatterAdd(Node index, Node values, int rows) {
    return scatterAdd(index, values, rows, false);
  }

  /** As {@link #scatterAdd}; with {@code gaps}, a row at index -1 is left out. */
  public static Node scatterAdd(Node index, Node values, int rows, boolean gaps) {
    requireIndex("scatterAdd", index);
    int lead = index.shape().rank();
    int[] sizes = values.shape().toArray();
    if (sizes.length < lead
        || !Shape.of(Arrays.copyOf(sizes, lead)).equals(index.shape())
        || values.type() != DType.F32) {
      throw new IllegalArgumentException(
          "scatterAdd: got values " + values + ", expected F32 led by " + index.shape());
    }
    int[] result = new int[1 + sizes.length - lead];
    result[0] = rows;
    System.arraycopy(sizes, lead, result, 1, sizes.length - lead);
    Op op = new Op.ScatterAdd(rows, gaps);
    return new Node(op, List.of(index, values), Shape.of(result), DType.F32);
  }

  /** Pairwise dot products of the {@code n} vectors of each row of {@code [b, n, d]}. */
  public static Node dotInteraction(Node x) {
    Op op = new Op.DotInteraction();
    requireFloat(op, x);
    requireVectors("dotInteraction", x);
    int n = x.shape().size(1);
    Shape shape = Shape.of(x.shape().size(0), Math.multiplyExact(n, n - 1) / 2);
    return new Node(op, List.of(x), shape, DType.F32);
  }

  static Node dotInteractionGradient(Node x, Node gradient) {
    return new Node(new Op.DotInteractionGradient(), List.of(x, gradient), x.shape(), DType.F32);
  }

  /** Sums of the dot products of all pairs of vectors of each row of {@code [b, n, d]}. */
  public static Node pairSums(Node x) {
    Op op = new Op.PairSums();
    requireFloat(op, x);
    requireVectors("pairSums", x);
    return new Node(op, List.of(x), Shape.of(x.shape().size(0)), DType.F32);
  }

  static Node pairSumsGradient(Node x, Node gradient) {
    return new Node(new Op.PairSumsGradient(), List.of(x, gradient), x.shape(), DType.F32);
  }

  /** {@code value}; its gradient goes to the first of {@code inputs} by a rule. */
  public static Node ruled(Op.Ruled op, Node value, List<Node> inputs) {
    List<Node> all = new ArrayList<>(List.of(value));
    all.addAll(inputs);
    return new Node(op, all, value.shape(), value.type());
  }

  private static void requireFloat(Op op, Node x) {
    if (!x.type().isFloatLike()) {
      throw new IllegalArgumentException(
          op + ": got " + x.type() + ", expected F32; cast the tensor first");
    }
  }

  private static void requireVectors(String op, Node x) {
    if (x.shape().rank() != 3) {
      throw new IllegalArgumentException(
          op + ": got " + x.shape() + ", expected [batch, vectors, width]");
    }
  }

  private static void requireIndex(String op, Node index) {
    if (!isWhole(index.type())) {
      throw new IllegalArgumentException(
          op + ": got an index of " + index.type() + ", expected I32 or I64");
    }
  }

  private static boolean isWhole(DType type) {
    return type == DType.I32 || type == DType.I64;
  }

  /** The shape to which both broadcast. */
  static Shape commonShape(Op op, Shape a, Shape b) {
    int rank = Math.max(a.rank(), b.rank());
    int[] sizes = new int[rank];
    for (int i = 1; i <= rank; i++) {
      int left = i <= a.rank() ? a.size(-i) : 1;
      int right = i <= b.rank() ? b.size(-i) : 1;
      if (left != right && left != 1 && right != 1) {
        throw new IllegalArgumentException(
            op + ": got " + a + " and " + b + ", expected sizes equal or 1 from the end");
      }
      sizes[rank - i] = left == 1 ? right : left;
    }
    return Shape.of(sizes);
  }
}
