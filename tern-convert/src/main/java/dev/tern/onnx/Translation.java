package dev.tern.onnx;

import dev.tern.base.DType;
import dev.tern.base.DataException;
import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Op;
import dev.tern.internal.ir.ScalarMath;
import dev.tern.internal.onnx.ElementType;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * Turns a scoring program into operators of ONNX, op by op: the switch knows all ops of Tern, so
 * the compiler lists what a new one lacks. Integers are INT64 there. Truth values are BOOL until
 * something computes with them.
 *
 * <p>Only what outputs need is translated, and nothing that has no elements.
 */
final class Translation {
  private final Graph graph;
  private final ScoringProgram program;
  private final OpenSizes sizes;
  private final Runs runs;

  /** The values of leaves that have names. */
  private final Map<String, String> leaves;

  private final Map<Node, Value> values = new IdentityHashMap<>();

  /** A value of the graph, which is BOOL or not. */
  private record Value(String name, boolean isBool) {}

  /**
   * A translation into {@code graph}.
   *
   * @param leaves for the names of leaves the values of the graph
   */
  Translation(Graph graph, ScoringProgram program, OpenSizes sizes, Map<String, String> leaves) {
    this.graph = graph;
    this.program = program;
    this.sizes = sizes;
    this.leaves = leaves;
    runs = new Runs(graph, sizes);
  }

  /** The value of a node, FLOAT or INT64. */
  String value(Node node) {
    Value value = translated(node);
    return value.isBool ? graph.cast(value.name, ElementType.FLOAT) : value.name;
  }

  private String condition(Node node) {
    Value value = translated(node);
    return value.isBool ? value.name : graph.cast(value.name, ElementType.BOOL);
  }

  private Value translated(Node node) {
    Value known = values.get(node);
    if (known == null) {
      known = translate(node);
      values.put(node, known);
    }
    return known;
  }

  private Value translate(Node node) {
    return switch (node.op()) {
      case Op.Leaf _ -> plain(leaf(node));
      case Op.Constant(float value) -> plain(graph.scalar(value));
      case Op.Unary op -> unary(op, node);
      case Op.Binary op -> binary(op, node);
      case Op.Ternary _ -> select(node);
      case Op.Cast(DType type) -> cast(type, node);
      case Op.Reduce reduce -> plain(reduce(reduce, node));
      case Op.Reshape _ -> like(node, name -> graph.node("Reshape", name, reshaped(node)));
      case Op.Permute(List<Integer> axes) -> like(node, name -> permuted(name, axes));
      case Op.Broadcast _ -> like(node, name -> graph.node("Expand", name, expanded(node)));
      case Op.Slice slice -> like(node, name -> sliced(name, slice, node));
      case Op.Concat(int axis) -> concat(axis, node);
      case Op.MatMul _ -> plain(matmul(node));
      case Op.Gather(boolean gaps) -> plain(gather(gaps, node));
      case Op.ScatterAdd scatter -> plain(scatterAdd(scatter, node));
      case Op.SegmentReduce(Op.Reduce.Kind kind) -> plain(segments(kind, node));
      case Op.Index index -> plain(index(index, node));
      case Op.DotInteraction _ -> plain(dotInteraction(node));
      case Op.PairSums _ -> plain(pairSums(node));
      case Op.Ruled _ -> translated(node.input(0));
      case Op.Gru _ ->
          throw new DataException(
              "onnx: got a gated recurrent unit over sequences, as in DIEN, expected operators of"
                  + " ONNX, whose GRU weighs no updates; serve the checkpoint by tern serve");
      case Op.Uniform _, Op.DotInteractionGradient _, Op.PairSumsGradient _, Op.GruGradient _ ->
          throw unknown(node);
    };
  }

  private static IllegalStateException unknown(Node node) {
    return new IllegalStateException(
        "onnx: got the op %s, which is of training, expected ops of scoring; it cannot be exported"
            .formatted(node));
  }

  private static Value plain(String name) {
    return new Value(name, false);
  }

  /** A change of places that keeps truth values. */
  private interface Move {
    String of(String name);
  }

  private Value like(Node node, Move move) {
    Value of = translated(node.input(0));
    return new Value(move.of(of.name), of.isBool);
  }

  private Size size(Node node, ToLongFunction<Node> of) {
    return program.size(node, of);
  }

  private boolean isEmpty(Node node) {
    return program.shape(node).stream().anyMatch(Size::isZero);
  }

  private String leaf(Node node) {
    String name = program.name(node).map(leaves::get).orElse("");
    if (!name.isEmpty()) {
      return name;
    }
    List<Size> shape = program.shape(node);
    boolean isFixed = shape.stream().allMatch(Size::isFixed);
    if (node.type().isFloatLike() && isFixed) {
      String own = program.name(node).orElse("constant");
      return graph.floats(own, dims(shape), ScoringProgram.floats(node));
    }
    if (node.type() == DType.I32 || node.type() == DType.I64) {
      return isFixed
          ? graph.longs("indices", dims(shape), ScoringProgram.wholes(node))
          : ramp(program.ramp(node));
    }
    throw new IllegalStateException(
        "onnx: got %s, constants that depend on the number of rows; it cannot be exported"
            .formatted(node));
  }

  private static long[] dims(List<Size> shape) {
    return shape.stream().mapToLong(Size::constant).toArray();
  }

  private String ramp(ScoringProgram.Ramp ramp) {
    String at = sizes.range(ramp.length());
    String period = graph.integer(ramp.period());
    String turn = ramp.period() == 1 ? at : graph.node("Div", at, period);
    String sum = graph.node("Mul", turn, sizes.scalar(ramp.div()));
    if (ramp.period() > 1) {
      String place = graph.node("Mod", at, period);
      sum = graph.node("Add", sum, graph.node("Mul", place, sizes.scalar(ramp.mod())));
    }
    return ramp.add().isZero() ? sum : graph.node("Add", sum, sizes.scalar(ramp.add()));
  }

  private Value unary(Op.Unary op, Node node) {
    if (op == Op.Unary.NOT) {
      return new Value(graph.node("Not", condition(node.input(0))), true);
    }
    String x = value(node.input(0));
    return plain(
        switch (op) {
          case COPY, DETACH -> x;
          case NEG -> graph.node("Neg", x);
          case EXP -> graph.node("Exp", x);
          case EXPM1 -> graph.node("Sub", graph.node("Exp", x), graph.scalar(1));
          case LOG -> graph.node("Log", x);
          case LOG1P -> graph.node("Log", graph.node("Add", x, graph.scalar(1)));
          case TANH -> graph.node("Tanh", x);
          case SIGMOID -> graph.node("Sigmoid", x);
          case SOFTPLUS -> graph.node("Softplus", x);
          case ERF -> graph.node("Erf", x);
          case SINPI -> graph.node("Sin", graph.node("Mul", x, graph.scalar(ScalarMath.PI)));
          case COSPI -> graph.node("Cos", graph.node("Mul", x, graph.scalar(ScalarMath.PI)));
          case ATAN -> graph.node("Atan", x);
          case RELU -> graph.node("Relu", x);
          case SQRT -> graph.node("Sqrt", x);
          case RSQRT -> graph.node("Reciprocal", graph.node("Sqrt", x));
          case RECIPROCAL -> graph.node("Reciprocal", x);
          case SQUARE -> graph.node("Mul", x, x);
          case ABS -> graph.node("Abs", x);
          case SIGN -> graph.node("Sign", x);
          case NOT -> throw new AssertionError(op);
        });
  }

  private Value binary(Op.Binary op, Node node) {
    List<Node> inputs = withoutBroadcast(node);
    String a = value(inputs.get(0));
    String b = value(inputs.get(1));
    String name =
        switch (op) {
          case ADD -> "Add";
          case SUB -> "Sub";
          case MUL -> "Mul";
          case DIV -> "Div";
          case MAX -> "Max";
          case MIN -> "Min";
          case LT -> "Less";
          case LE -> "LessOrEqual";
          case EQ -> "Equal";
        };
    return new Value(graph.node(name, a, b), op.isComparison());
  }

  private Value select(Node node) {
    List<Node> inputs = withoutBroadcast(node);
    String condition = condition(inputs.get(0));
    return plain(graph.where(condition, value(inputs.get(1)), value(inputs.get(2))));
  }

  /** The inputs of an elementwise op, which broadcasts by itself in ONNX. */
  private List<Node> withoutBroadcast(Node node) {
    List<Node> small = new ArrayList<>();
    for (Node input : node.inputs()) {
      Node source = input.op() instanceof Op.Broadcast ? input.input(0) : input;
      boolean isScalar =
          source.op() instanceof Op.Reshape && source.input(0).op() instanceof Op.Constant;
      small.add(isScalar ? source.input(0) : source);
    }
    List<Size> shape = program.shape(node);
    for (int axis = 0; axis < shape.size(); axis++) {
      int at = axis;
      boolean isThere =
          small.stream()
              .anyMatch(source ->
                  source.shape().rank() == shape.size()
                      && size(source, each -> each.shape().size(at)).equals(shape.get(at)));
      if (!isThere) {
        return node.inputs();
      }
    }
    return small;
  }

  private Value cast(DType type, Node node) {
    Node from = node.input(0);
    return switch (type) {
      case F32 -> plain(value(from, ElementType.FLOAT));
      case BOOL -> new Value(condition(from), true);
      case I32, I64 -> plain(value(from, ElementType.INT64));
      case F16, BF16 -> {
        // Rounded, then computed with as F32.
        ElementType half = type == DType.F16 ? ElementType.FLOAT16 : ElementType.BFLOAT16;
        yield plain(graph.cast(graph.cast(value(from), half), ElementType.FLOAT));
      }
    };
  }

  private String value(Node node, ElementType type) {
    boolean isWhole = node.type() == DType.I32 || node.type() == DType.I64;
    boolean stays = isWhole == (type == ElementType.INT64);
    return stays ? value(node) : graph.cast(value(node), type);
  }

  private String reduce(Op.Reduce reduce, Node node) {
    Node from = node.input(0);
    boolean sum = reduce.kind() == Op.Reduce.Kind.SUM;
    if (isEmpty(from)) {
      return filled(sum ? 0 : Float.NEGATIVE_INFINITY, node);
    }
    String axes = graph.integers(LongStream.range(reduce.from(), reduce.to()).toArray());
    return graph.node(sum ? "ReduceSum" : "ReduceMax", value(from), axes);
  }

  private String filled(float value, Node node) {
    return graph.filled(graph.scalar(value), sizes.shape(program.shape(node)));
  }

  private String reshaped(Node node) {
    return sizes.reshape(program.shape(node));
  }

  private String expanded(Node node) {
    return sizes.expand(program.shape(node.input(0)), program.shape(node));
  }

  private String permuted(String name, List<Integer> axes) {
    long[] order = axes.stream().mapToLong(Integer::longValue).toArray();
    return graph.node("Transpose", List.of(name), Attribute.integers("perm", order));
  }

  private String sliced(String name, Op.Slice slice, Node node) {
    String from = sizes.vector(size(node, each -> ((Op.Slice) each.op()).from()));
    String to = sizes.vector(size(node, each -> ((Op.Slice) each.op()).to()));
    return graph.node("Slice", name, from, to, graph.integers(slice.axis()));
  }

  private Value concat(int axis, Node node) {
    List<Node> parts = node.inputs().stream().filter(part -> !isEmpty(part)).toList();
    if (parts.size() == 1) {
      return translated(parts.getFirst());
    }
    boolean areBool = parts.stream().allMatch(part -> translated(part).isBool);
    List<String> names =
        parts.stream().map(part -> areBool ? condition(part) : value(part)).toList();
    return new Value(graph.concat(axis, names), areBool);
  }

  private String matmul(Node node) {
    return node.inputs().stream().anyMatch(this::isEmpty)
        ? filled(0, node)
        : graph.node("MatMul", value(node.input(0)), value(node.input(1)));
  }

  private String gather(boolean gaps, Node node) {
    Node table = node.input(0);
    String rows = value(table);
    if (gaps) {
      // -1 is the last row for ONNX: zeros.
      boolean isFloat = table.type().isFloatLike();
      List<Size> row = new ArrayList<>(program.shape(table));
      row.set(0, Size.fixed(1));
      String zero = isFloat ? graph.scalar(0) : graph.integer(0);
      rows = graph.concat(0, List.of(rows, graph.filled(zero, sizes.shape(row))));
    }
    return graph.gather(rows, value(node.input(1)), 0);
  }

  private String scatterAdd(Op.ScatterAdd scatter, Node node) {
    List<Size> shape = new ArrayList<>(program.shape(node));
    Size rows = shape.getFirst();
    String index = value(node.input(0));
    if (scatter.gaps()) {
      String isGap = graph.node("Less", index, graph.integer(0));
      index = graph.where(isGap, sizes.scalar(rows), index);
      shape.set(0, new Size(rows.constant() + 1, rows.factors()));
    }
    String zeros = graph.filled(graph.scalar(0), sizes.shape(shape));
    String last = graph.unsqueeze(index, -1);
    String all = runs.scatter(zeros, last, value(node.input(1)), "add");
    return scatter.gaps() ? graph.slice(all, 0, 0, -1) : all;
  }

  private String segments(Op.Reduce.Kind kind, Node node) {
    Node rows = node.input(0);
    List<Size> shape = program.shape(rows);
    return runs.reduce(
        kind == Op.Reduce.Kind.SUM,
        value(rows),
        value(node.input(1)),
        shape.getFirst(),
        shape.subList(1, shape.size()));
  }

  private String index(Op.Index index, Node node) {
    String first = value(node.input(0));
    String last = value(node.inputs().getLast());
    Size size = size(node, each -> ((Op.Index) each.op()).size());
    long width = index.width();
    return switch (index.rule()) {
      case LENGTHS -> runs.lengths(first);
      case OFFSETS -> runs.offsets(first);
      case SEQUENCES -> runs.sequences(first, size);
      case POSITIONS -> runs.positions(first, size);
      case MIRROR -> runs.mirror(first, size);
      case HEADS, ALL -> runs.heads(first, width);
      case TAILS -> runs.tails(first, width);
      case WINDOWS -> runs.windows(first, size, width);
      case RANGES -> runs.ranges(first, last, size);
      case STARTS -> graph.node("Add", runs.begins(first), value(node.input(1)));
      case CELLS -> runs.cells(first, last, rows(node), width);
      case SHIFT -> graph.node("Add", first, sizes.scalar(size));
      case SCALE ->
          graph.node("Div", graph.node("Mul", first, sizes.scalar(size)), graph.integer(width));
      case KEPT_LENGTHS -> runs.keptLengths(condition(node.input(0)), last, rows(node));
      case KEPT -> runs.kept(condition(node.input(0)), last, rows(node));
      case NOT_AMONG -> runs.notAmong(first, last);
      case LARGEST -> runs.largest(first, last, width, node.input(0).shape().size(1));
    };
  }

  /** How many rows the first input has. */
  private Size rows(Node node) {
    return program.shape(node.input(0)).getFirst();
  }

  /** Of all products {@code [b, n, n]} those below the diagonal. */
  private String dotInteraction(Node node) {
    Node from = node.input(0);
    String x = value(from);
    String products = graph.node("MatMul", x, permuted(x, List.of(0, 2, 1)));
    int n = from.shape().size(1);
    long[] below =
        IntStream.range(1, n)
            .boxed()
            .flatMapToLong(i -> LongStream.range(0, i).map(j -> (long) i * n + j))
            .toArray();
    String flat = graph.reshape(products, -1, (long) n * n);
    return graph.gather(flat, graph.longs("pairs", new long[] {below.length}, below), 1);
  }

  /** Each vector meets the sum of those before it, which loses no digits where some are large. */
  private String pairSums(Node node) {
    String x = value(node.input(0));
    String before =
        graph.node("CumSum", List.of(x, graph.integer(1)), Attribute.integer("exclusive", 1));
    return graph.node(
        "ReduceSum",
        List.of(graph.node("Mul", x, before), graph.integers(1, 2)),
        Attribute.integer("keepdims", 0));
  }
}
