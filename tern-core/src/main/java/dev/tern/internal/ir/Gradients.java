package dev.tern.internal.ir;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Reverse-mode differentiation, by one rule for each op. A rule records ordinary nodes, so
 * gradients are fused and planned as all other nodes are.
 */
public final class Gradients {
  private static final float TWO_OVER_SQRT_PI = 1.1283791670955126f;

  /**
   * One contribution to a gradient. With an axis of at least 0 it is the gradient of a slice:
   * {@code value} belongs to the indices of that axis from {@code from} on, and the rest is zero.
   */
  private record Part(Node value, int axis, int from) {}

  private final Map<Node, List<Part>> adjoints = new IdentityHashMap<>();
  private final Map<Node, Node> summed = new IdentityHashMap<>();
  private final Set<Node> needed;

  private Gradients(Set<Node> needed) {
    this.needed = needed;
  }

  /**
   * Gradients of {@code loss}, a scalar, with respect to each of {@code wrt}; zeros for a node on
   * which the loss does not depend. All are F32, also for values in half width.
   */
  public static List<Node> of(Node loss, List<Node> wrt) {
    if (loss.shape().elements() != 1 || loss.type() != DType.F32) {
      throw new IllegalArgumentException(
          "gradients: got a loss " + loss.type() + loss.shape() + ", expected one F32");
    }
    List<Node> order = Program.topologicalOrder(List.of(loss));
    Gradients gradients = new Gradients(dependents(order, wrt));
    gradients.add(loss, Nodes.full(loss.shape(), 1));
    for (int i = order.size() - 1; i >= 0; i--) {
      Node node = order.get(i);
      if (gradients.needed.contains(node) && gradients.adjoints.containsKey(node)) {
        Node g = gradients.total(node);
        node.origin().gradient().given(() -> gradients.propagate(node, g));
      }
    }
    List<Node> result = new ArrayList<>();
    for (Node node : wrt) {
      result.add(
          gradients.adjoints.containsKey(node)
              ? gradients.total(node)
              : Nodes.full(node.shape(), 0));
    }
    return result;
  }

  /** The nodes of {@code order} through which a change of {@code wrt} reaches the loss. */
  private static Set<Node> dependents(List<Node> order, List<Node> wrt) {
    Set<Node> needed = Collections.newSetFromMap(new IdentityHashMap<>());
    needed.addAll(wrt);
    for (Node node : order) {
      if (node.inputs().stream().anyMatch(needed::contains)) {
        needed.add(node);
      }
    }
    return needed;
  }

  private void add(Node node, Node gradient) {
    addPart(node, new Part(gradient, -1, 0));
  }

  private void addPart(Node node, Part part) {
    if (needed.contains(node)) {
      adjoints.computeIfAbsent(node, n -> new ArrayList<>()).add(part);
    }
  }

  private Node total(Node node) {
    return summed.computeIfAbsent(
        node,
        n -> {
          List<Part> parts = adjoints.getOrDefault(n, List.of());
          return parts.get(0).value().origin().given(() -> sum(n, parts));
        });
  }

  /** Joins parts that are slices of one axis and cover it; pads and adds all others. */
  private static Node sum(Node node, List<Part> parts) {
    return joinTiles(node, parts)
        .orElseGet(() ->
            parts.stream().map(part -> pad(part, node.shape())).reduce(Nodes::add).orElseThrow());
  }

  private static Optional<Node> joinTiles(Node node, List<Part> parts) {
    int axis = parts.get(0).axis();
    if (axis < 0 || parts.stream().anyMatch(part -> part.axis() != axis)) {
      return Optional.empty();
    }
    List<Part> sorted = new ArrayList<>(parts);
    sorted.sort(Comparator.comparingInt(Part::from));
    int at = 0;
    for (Part part : sorted) {
      if (part.from() != at) {
        return Optional.empty();
      }
      at += part.value().shape().size(axis);
    }
    return at == node.shape().size(axis)
        ? Optional.of(Nodes.concat(axis, sorted.stream().map(Part::value).toList()))
        : Optional.empty();
  }

  private static Node pad(Part part, Shape whole) {
    if (part.axis() < 0) {
      return part.value();
    }
    Shape shape = part.value().shape();
    int axis = part.axis();
    int after = whole.size(axis) - part.from() - shape.size(axis);
    List<Node> pieces = new ArrayList<>();
    if (part.from() > 0) {
      pieces.add(Nodes.full(shape.withSize(axis, part.from()), 0));
    }
    pieces.add(part.value());
    if (after > 0) {
      pieces.add(Nodes.full(shape.withSize(axis, after), 0));
    }
    return Nodes.concat(axis, pieces);
  }

  private void propagate(Node node, Node g) {
    switch (node.op()) {
      case Op.Leaf _, Op.Constant _, Op.Uniform _, Op.Index _ -> {}
      case Op.Unary op -> unary(op, node, g);
      case Op.Binary op -> binary(op, node, g);
      case Op.Ternary op -> {
        Node zero = Nodes.full(node.shape(), 0);
        add(node.input(1), Nodes.select(node.input(0), g, zero));
        add(node.input(2), Nodes.select(node.input(0), zero, g));
      }
      case Op.Cast cast -> {
        if (isReal(cast.type()) && isReal(node.input(0).type())) {
          add(node.input(0), g);
        }
      }
      case Op.Reduce reduce -> reduce(reduce, node, g);
      case Op.Reshape reshape -> add(node.input(0), Nodes.reshape(g, node.input(0).shape()));
      case Op.Permute permute -> add(node.input(0), Nodes.permute(g, inverse(permute.axes())));
      case Op.Broadcast broadcast -> add(node.input(0), sumTo(g, node.input(0).shape()));
      case Op.Slice slice -> addPart(node.input(0), new Part(g, slice.axis(), slice.from()));
      case Op.Concat concat -> concat(concat.axis(), node, g);
      case Op.MatMul matmul -> {
        add(node.input(0), Nodes.matmul(g, Nodes.transpose(node.input(1), -1, -2)));
        add(node.input(1), Nodes.matmul(Nodes.transpose(node.input(0), -1, -2), g));
      }
      case Op.Gather gather -> {
        int rows = node.input(0).shape().size(0);
        if (node.type() == DType.F32 && isSpread(node)) {
          add(node.input(0), Sequences.reduce(Op.Reduce.Kind.SUM, g, node.input(1).input(0)));
        } else if (node.type() == DType.F32) {
          add(node.input(0), Nodes.scatterAdd(node.input(1), g, rows, gather.gaps()));
        }
      }
      case Op.ScatterAdd scatter ->
          add(node.input(1), Nodes.gather(g, node.input(0), scatter.gaps()));
      case Op.SegmentReduce reduce -> segments(reduce.kind(), node, g);
      case Op.Gru _ -> {
        List<Node> gradients = Recurrence.gradients(node, g);
        for (int i = 0; i < gradients.size(); i++) {
          add(node.input(i), gradients.get(i));
        }
      }
      case Op.Ruled op -> add(node.input(1), ruled(op, node, g));
      case Op.DotInteraction interaction ->
          add(node.input(0), Nodes.dotInteractionGradient(node.input(0), g));
      case Op.PairSums sums -> add(node.input(0), Nodes.pairSumsGradient(node.input(0), g));
      case Op.DotInteractionGradient _, Op.PairSumsGradient _, Op.GruGradient _ ->
          throw new IllegalArgumentException(
              ("gradients: got %s, expected an op that can be differentiated; take gradients of the"
                      + " loss, not of gradients that contain it")
                  .formatted(node.op()));
    }
  }

  private static Node ruled(Op.Ruled op, Node y, Node g) {
    return switch (op.rule()) {
      case SOFTMAX -> Nodes.mul(y, Nodes.sub(g, sum(Nodes.mul(g, y), op.axis())));
      case LOG_SOFTMAX -> Nodes.sub(g, Nodes.mul(Nodes.unary(Op.Unary.EXP, y), sum(g, op.axis())));
      case NORMALIZE -> {
        float share = 1f / Math.max(1, y.shape().size(op.axis()));
        Node mean = Nodes.mul(sum(g, op.axis()), share);
        Node slope = Nodes.mul(sum(Nodes.mul(g, y), op.axis()), share);
        Node rest = Nodes.sub(Nodes.sub(g, mean), Nodes.mul(y, slope));
        yield Nodes.mul(y.input(2), rest);
      }
    };
  }

  private static Node sum(Node x, int axis) {
    return Nodes.reduce(Op.Reduce.Kind.SUM, x, axis, axis + 1);
  }

  private static boolean isReal(DType type) {
    return type == DType.F32 || type == DType.F16 || type == DType.BF16;
  }

  private void unary(Op.Unary op, Node y, Node g) {
    Node x = y.input(0);
    switch (op) {
      case COPY -> add(x, g);
      case NEG -> add(x, Nodes.unary(Op.Unary.NEG, g));
      case EXP -> add(x, Nodes.mul(g, y));
      case EXPM1 -> add(x, Nodes.mul(g, Nodes.add(y, Nodes.constant(1))));
      case LOG -> add(x, Nodes.binary(Op.Binary.DIV, g, x));
      case LOG1P -> add(x, Nodes.binary(Op.Binary.DIV, g, Nodes.add(x, Nodes.constant(1))));
      case TANH ->
          add(x, Nodes.mul(g, Nodes.sub(Nodes.constant(1), Nodes.unary(Op.Unary.SQUARE, y))));
      case SIGMOID -> add(x, Nodes.mul(g, Nodes.mul(y, Nodes.sub(Nodes.constant(1), y))));
      case SOFTPLUS -> add(x, Nodes.mul(g, Nodes.unary(Op.Unary.SIGMOID, x)));
      case ERF -> {
        Node square = Nodes.unary(Op.Unary.SQUARE, x);
        Node bell = Nodes.unary(Op.Unary.EXP, Nodes.unary(Op.Unary.NEG, square));
        add(x, Nodes.mul(g, Nodes.mul(bell, TWO_OVER_SQRT_PI)));
      }
      case SINPI -> add(x, Nodes.mul(Nodes.mul(g, ScalarMath.PI), Nodes.unary(Op.Unary.COSPI, x)));
      case COSPI -> add(x, Nodes.mul(Nodes.mul(g, -ScalarMath.PI), Nodes.unary(Op.Unary.SINPI, x)));
      case ATAN -> {
        Node slope = Nodes.add(Nodes.unary(Op.Unary.SQUARE, x), Nodes.constant(1));
        add(x, Nodes.binary(Op.Binary.DIV, g, slope));
      }
      case RELU -> {
        Node positive = Nodes.binary(Op.Binary.LT, Nodes.constant(0), y);
        add(x, Nodes.select(positive, g, Nodes.constant(0)));
      }
      case SQRT -> add(x, Nodes.binary(Op.Binary.DIV, Nodes.mul(g, 0.5f), y));
      case RSQRT -> {
        Node cube = Nodes.mul(y, Nodes.unary(Op.Unary.SQUARE, y));
        add(x, Nodes.mul(Nodes.mul(g, cube), -0.5f));
      }
      case RECIPROCAL ->
          add(x, Nodes.unary(Op.Unary.NEG, Nodes.mul(g, Nodes.unary(Op.Unary.SQUARE, y))));
      case SQUARE -> add(x, Nodes.mul(Nodes.mul(g, x), 2));
      case ABS -> add(x, Nodes.mul(g, Nodes.unary(Op.Unary.SIGN, x)));
      case DETACH, SIGN, NOT -> {}
    }
  }

  private void binary(Op.Binary op, Node y, Node g) {
    Node a = y.input(0);
    Node b = y.input(1);
    switch (op) {
      case ADD -> {
        add(a, g);
        add(b, g);
      }
      case SUB -> {
        add(a, g);
        add(b, Nodes.unary(Op.Unary.NEG, g));
      }
      case MUL -> {
        add(a, Nodes.mul(g, b));
        add(b, Nodes.mul(g, a));
      }
      case DIV -> {
        Node quotient = Nodes.binary(Op.Binary.DIV, g, b);
        add(a, quotient);
        add(b, Nodes.unary(Op.Unary.NEG, Nodes.mul(quotient, y)));
      }
      case MAX -> pick(Nodes.binary(Op.Binary.LE, b, a), a, b, g);
      case MIN -> pick(Nodes.binary(Op.Binary.LE, a, b), a, b, g);
      case LT, LE, EQ -> {}
    }
  }

  /** The whole gradient goes to the larger side, or the smaller; of equal ones, to the first. */
  private void pick(Node first, Node a, Node b, Node g) {
    Node zero = Nodes.constant(0);
    add(a, Nodes.select(first, g, zero));
    add(b, Nodes.select(first, zero, g));
  }

  private void reduce(Op.Reduce op, Node y, Node g) {
    Node x = y.input(0);
    Node spread = Nodes.broadcast(g, x.shape());
    switch (op.kind()) {
      case SUM -> add(x, spread);
      case MAX -> {
        Node hit = Nodes.binary(Op.Binary.EQ, x, Nodes.broadcast(y, x.shape()));
        Node hits = Nodes.reduce(Op.Reduce.Kind.SUM, hit, op.from(), op.to());
        Node share = Nodes.binary(Op.Binary.DIV, g, hits);
        add(x, Nodes.mul(hit, Nodes.broadcast(share, x.shape())));
      }
    }
  }

  /** Whether a gather gives each row of sequences the row of its sequence. */
  private static boolean isSpread(Node gather) {
    Node index = gather.input(1);
    return index.op() instanceof Op.Index(Op.Index.Rule rule, int _, int _)
        && rule == Op.Index.Rule.SEQUENCES
        && index.shape().rank() == 1
        && index.input(0).shape().size(0) == gather.input(0).shape().size(0) + 1;
  }

  /** The gradient of a maximum is shared by all rows that are equal to it. */
  private void segments(Op.Reduce.Kind kind, Node y, Node g) {
    Node x = y.input(0);
    Node offsets = y.input(1);
    switch (kind) {
      case SUM -> add(x, Sequences.spread(g, offsets, x.shape().size(0)));
      case MAX -> {
        int rows = x.shape().size(0);
        Node hit = Nodes.binary(Op.Binary.EQ, x, Sequences.spread(y, offsets, rows));
        Node hits = Sequences.reduce(Op.Reduce.Kind.SUM, hit, offsets);
        Node share = Nodes.binary(Op.Binary.DIV, g, hits);
        add(x, Nodes.mul(hit, Sequences.spread(share, offsets, rows)));
      }
    }
  }

  private void concat(int axis, Node y, Node g) {
    int at = 0;
    for (Node part : y.inputs()) {
      int end = at + part.shape().size(axis);
      add(part, Nodes.slice(g, axis, at, end));
      at = end;
    }
  }

  /** Sums {@code g} over the dimensions that {@code shape} has with size 1; ranks agree. */
  private static Node sumTo(Node g, Shape shape) {
    Node result = g;
    int axis = 0;
    while (axis < shape.rank()) {
      int end = axis;
      while (end < shape.rank() && shape.size(end) == 1 && g.shape().size(end) != 1) {
        end++;
      }
      if (end > axis) {
        result = Nodes.reduce(Op.Reduce.Kind.SUM, result, axis, end);
      }
      axis = Math.max(end, axis + 1);
    }
    return result;
  }

  private static List<Integer> inverse(List<Integer> axes) {
    return IntStream.range(0, axes.size()).map(axes::indexOf).boxed().toList();
  }
}
