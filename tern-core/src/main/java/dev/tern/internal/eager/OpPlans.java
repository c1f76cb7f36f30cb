package dev.tern.internal.eager;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Nodes;
import dev.tern.internal.ir.Op;
import dev.tern.internal.ir.Program;
import dev.tern.internal.memory.Buffer;
import dev.tern.internal.plan.Plan;
import dev.tern.internal.plan.Planner;
import dev.tern.internal.runtime.Execution;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Plans of single ops, one for each structure, the 4,096 used last. Views and constants are part of
 * the op that reads them and cost nothing themselves: {@code a.transpose(0, 1).matmul(b)} is one op
 * on {@code a} and {@code b}. Thread-safe.
 */
final class OpPlans {
  private static final int KEPT = 4096;

  private record Slot(int number, Shape shape, DType type) {}

  private final int threads;
  private final Map<OpPlan.Key, OpPlan> plans =
      new LinkedHashMap<>(64, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<OpPlan.Key, OpPlan> eldest) {
          return size() > KEPT;
        }
      };

  OpPlans(int threads) {
    this.threads = threads;
  }

  /** The node whose memory this node shows: itself, or the node of which it is a view or alias. */
  static Node base(Node node) {
    Node base = node;
    while (base.op().isView() || isAlias(base)) {
      base = base.input(0);
    }
    return base;
  }

  /** Whether the node has the same elements in the same order in memory as its base. */
  static boolean isDense(Node node) {
    Node at = node;
    while (at.op() instanceof Op.Reshape || isAlias(at)) {
      at = at.input(0);
    }
    return at == base(node) && !(at.op() instanceof Op.Constant);
  }

  /** Whether the value of the node is its first input; only gradients differ. */
  private static boolean isAlias(Node node) {
    return node.op() instanceof Op.Ruled
        || node.op() == Op.Unary.DETACH && node.type() == node.input(0).type();
  }

  /** The nodes that an op reads from memory, each once. */
  static List<Node> operands(Node node) {
    List<Node> operands = new ArrayList<>(node.inputs().size());
    for (Node input : node.inputs()) {
      Node base = base(input);
      if (!(base.op() instanceof Op.Constant) && !operands.contains(base)) {
        operands.add(base);
      }
    }
    return operands;
  }

  /** The plan of a node that is no view, leaf or constant. */
  synchronized OpPlan of(Node node, List<Node> operands) {
    List<Object> inputs = new ArrayList<>(4 * node.inputs().size());
    for (Node input : node.inputs()) {
      Node at = input;
      for (; at.op().isView() || isAlias(at); at = at.input(0)) {
        if (!isAlias(at)) {
          inputs.add(at.op());
        }
      }
      boolean isConstant = at.op() instanceof Op.Constant;
      inputs.add(isConstant ? at.op() : new Slot(operands.indexOf(at), at.shape(), at.type()));
    }
    OpPlan.Key key = new OpPlan.Key(node.op(), node.shape(), node.type(), inputs);
    OpPlan known = plans.get(key);
    if (known == null) {
      known = plan(key, node, operands);
      plans.put(key, known);
    }
    return known;
  }

  private OpPlan plan(OpPlan.Key key, Node node, List<Node> operands) {
    List<Node> leaves = new ArrayList<>();
    for (Node operand : operands) {
      leaves.add(Nodes.leaf(new Buffer(0, 0, "operand"), operand.shape(), operand.type()));
    }
    List<Node> inputs = new ArrayList<>();
    for (Node input : node.inputs()) {
      inputs.add(onLeaves(input, operands, leaves));
    }
    Program program = Program.of(List.of(node.withInputs(inputs)), List.of());
    Plan plan = Planner.planApart(program, threads);
    int[] slots = new int[plan.leaves().length];
    for (int i = 0; i < slots.length; i++) {
      slots[i] = leaves.indexOf(program.leaves().get(plan.leaves()[i]));
    }
    return new OpPlan(key, plan, slots, Execution.scratchBytes(plan, threads));
  }

  private static Node onLeaves(Node input, List<Node> operands, List<Node> leaves) {
    List<Node> views = new ArrayList<>();
    Node at = input;
    for (; at.op().isView() || isAlias(at); at = at.input(0)) {
      if (!isAlias(at)) {
        views.add(at);
      }
    }
    Node result = at.op() instanceof Op.Constant ? at : leaves.get(operands.indexOf(at));
    Collections.reverse(views);
    for (Node view : views) {
      result = view.withInputs(List.of(result));
    }
    return result;
  }
}
