package dev.tern.internal.plan;

import dev.tern.base.Shape;
import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Nodes;
import dev.tern.internal.ir.Op;
import dev.tern.internal.ir.Program;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * Makes every movement of data an explicit COPY, so that each view is free afterwards: a reshape
 * sees evenly spaced elements, each input of a concatenation is computed directly into its place,
 * and outputs and updates are values with memory of their own.
 */
final class Lowering {
  private final Program program;
  private final Map<Node, Integer> uses = new IdentityHashMap<>();
  private final Map<Node, Node> lowered = new IdentityHashMap<>();

  private Lowering(Program program) {
    this.program = program;
  }

  static Program lower(Program program) {
    return new Lowering(Simplification.simplify(program)).run();
  }

  private Program run() {
    for (Node node : program.nodes()) {
      for (Node input : node.inputs()) {
        uses.merge(input, 1, Integer::sum);
      }
    }
    program.outputs().forEach(output -> uses.merge(output, 2, Integer::sum));
    program.updates().forEach(update -> uses.merge(update.value(), 2, Integer::sum));
    for (Node node : program.nodes()) {
      lowered.put(node, node.origin().given(() -> lower(node)));
    }
    Set<Node> taken = new HashSet<>();
    List<Node> outputs = program.outputs().stream().map(output -> own(get(output), taken)).toList();
    List<Program.Update> updates = new ArrayList<>();
    for (Program.Update update : program.updates()) {
      Node value = get(update.value());
      boolean own = value.op().isPointwise() || value.op() instanceof Op.Cast;
      Node stored = own && taken.add(value) ? value : copyOut(value);
      updates.add(new Program.Update(get(update.leaf()), stored));
    }
    return Program.of(outputs, updates);
  }

  /** {@code value} if it has dense memory of its own to hand out, else a copy. */
  private static Node own(Node value, Set<Node> taken) {
    boolean owns =
        switch (value.op()) {
          case Op.Leaf _, Op.Constant _, Op.Reshape _, Op.Permute _, Op.Broadcast _, Op.Slice _ ->
              false;
          case Op.Uniform _, Op.Unary _, Op.Binary _, Op.Ternary _, Op.Cast _, Op.Reduce _ -> true;
          case Op.Concat _, Op.MatMul _, Op.Gather _, Op.ScatterAdd _, Op.SegmentReduce _ -> true;
          case Op.Index _, Op.DotInteraction _, Op.DotInteractionGradient _ -> true;
          case Op.PairSums _, Op.PairSumsGradient _, Op.Gru _, Op.GruGradient _ -> true;
          case Op.Ruled _ -> throw new AssertionError("lowering: got " + value);
        };
    return taken.add(value) && owns ? value : copyOut(value);
  }

  private Node get(Node node) {
    return Objects.requireNonNull(lowered.get(node));
  }

  private Node lower(Node node) {
    List<Node> inputs = new ArrayList<>();
    node.inputs().forEach(input -> inputs.add(get(input)));
    if (node.op() instanceof Op.Reshape) {
      Node base = inputs.get(0).op() instanceof Op.Reshape ? inputs.get(0).input(0) : inputs.get(0);
      if (base.shape().equals(node.shape())) {
        return base;
      }
      boolean even = layout(base).reshape(base.shape(), node.shape()).isPresent();
      inputs.set(0, even ? base : copy(base));
    }
    if (readsDense(node.op())) {
      inputs.replaceAll(Lowering::dense);
    } else if (node.op() instanceof Op.MatMul || node.op() instanceof Op.Cast) {
      inputs.replaceAll(i -> Fusion.isConstant(i) ? copy(i) : i);
    } else if (node.op() instanceof Op.Concat) {
      for (int i = 0; i < inputs.size(); i++) {
        inputs.set(i, placeable(node.input(i), inputs.get(i)));
      }
    }
    return node.withInputs(inputs);
  }

  /** A form of a concatenation's input that is computed straight into its place. */
  private Node placeable(Node original, Node input) {
    Node base = original;
    boolean viewsSingle = uses.getOrDefault(base, 0) == 1;
    while (base.op() instanceof Op.Reshape && viewsSingle) {
      base = base.input(0);
      viewsSingle = !(base.op() instanceof Op.Reshape) || uses.getOrDefault(base, 0) == 1;
    }
    boolean single = viewsSingle && uses.getOrDefault(base, 0) == 1;
    if (single && isComputed(input)) {
      return input;
    }
    if (viewsSingle
        && input.op() instanceof Op.Reshape
        && splits(input.shape(), input.input(0).shape())) {
      Node source = input.input(0);
      boolean fresh = source.op() == Op.Unary.COPY && base.op() != Op.Unary.COPY;
      if (isComputed(source) && (single || fresh)) {
        return input;
      }
      return Nodes.reshape(copy(source), input.shape());
    }
    return copy(input);
  }

  /** The same elements in memory of their own. COPY is for floats only, a cast for all types. */
  private static Node copy(Node x) {
    return x.type().isFloatLike() ? Nodes.unary(Op.Unary.COPY, x) : Nodes.recast(x);
  }

  /** A copy with the origin of {@code value}. */
  private static Node copyOut(Node value) {
    return value.origin().given(() -> copy(value));
  }

  private static boolean isComputed(Node node) {
    return node.op().isPointwise() || node.op() instanceof Op.MatMul;
  }

  /** Whether each dimension of {@code whole} is a run of whole dimensions of {@code parts}. */
  private static boolean splits(Shape whole, Shape parts) {
    int at = 0;
    for (int i = 0; i < whole.rank(); i++) {
      long product = 1;
      while (product < whole.size(i) && at < parts.rank()) {
        product *= parts.size(at++);
      }
      if (product != whole.size(i)) {
        return false;
      }
    }
    return true;
  }

  /** Whether the op is a step that takes its inputs without gaps and in order. */
  static boolean readsDense(Op op) {
    return op instanceof Op.Gather
        || op instanceof Op.ScatterAdd
        || op instanceof Op.SegmentReduce
        || op instanceof Op.Index
        || op instanceof Op.DotInteraction
        || op instanceof Op.DotInteractionGradient
        || op instanceof Op.PairSums
        || op instanceof Op.PairSumsGradient
        || op instanceof Op.Gru
        || op instanceof Op.GruGradient;
  }

  private static Node dense(Node input) {
    Layout layout = layout(input);
    boolean isDense =
        !Fusion.isConstant(input) && layout.isDense(input.shape()) && layout.offset() == 0;
    return isDense ? input : copy(input);
  }

  /** The layout of a lowered node within its base, which is dense; its storage has no meaning. */
  private static Layout layout(Node node) {
    return switch (node.op()) {
      case Op.Permute permute -> layout(node.input(0)).permute(permute);
      case Op.Broadcast broadcast ->
          layout(node.input(0)).broadcast(node.input(0).shape(), node.shape());
      case Op.Slice slice -> layout(node.input(0)).slice(slice.axis(), slice.from());
      case Op.Reshape reshape -> {
        Optional<Layout> view = layout(node.input(0)).reshape(node.input(0).shape(), node.shape());
        yield view.orElseGet(() -> Layout.dense(0, node.shape()));
      }
      default -> Layout.dense(0, node.shape());
    };
  }
}
