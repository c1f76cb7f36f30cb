package dev.tern.internal.plan;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Nodes;
import dev.tern.internal.ir.Op;
import dev.tern.internal.ir.Program;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Removes ops that change nothing from a program, and writes small products as ops that fuse. It is
 * a pass of its own, as later passes count who reads a node: {@code x} and {@code 1 * x} become one
 * node here.
 */
final class Simplification {
  private Simplification() {}

  static Program simplify(Program program) {
    Map<Node, Node> simple = new IdentityHashMap<>();
    for (Node node : program.nodes()) {
      List<Node> inputs = new ArrayList<>();
      node.inputs().forEach(input -> inputs.add(found(simple, input)));
      simple.put(node, node.origin().given(() -> simplify(node, inputs)));
    }
    List<Node> outputs = program.outputs().stream().map(node -> found(simple, node)).toList();
    List<Program.Update> updates = new ArrayList<>();
    for (Program.Update update : program.updates()) {
      updates.add(new Program.Update(found(simple, update.leaf()), found(simple, update.value())));
    }
    return Program.of(outputs, updates);
  }

  private static Node found(Map<Node, Node> simple, Node node) {
    return Objects.requireNonNull(simple.get(node));
  }

  private static Node simplify(Node node, List<Node> inputs) {
    if (node.op() == Op.Unary.DETACH && node.input(0).type() == node.type()) {
      return inputs.get(0);
    }
    if (node.op() instanceof Op.Ruled) {
      return inputs.get(0);
    }
    if (node.op() == Op.Binary.MUL) {
      // Gradients often begin with a factor of 1.
      for (int i = 0; i < 2; i++) {
        if (Fusion.isConstant(inputs.get(i), 1) && inputs.get(1 - i).type() == node.type()) {
          return inputs.get(1 - i);
        }
      }
    }
    if (node.op() == Op.Binary.MAX || node.op() == Op.Binary.MIN) {
      return limit(node, inputs);
    }
    if (node.op() instanceof Op.MatMul && inputs.get(0).shape().size(-1) == 1) {
      // One term: a product of a column and a row, which fuses with what comes before and after.
      return Nodes.mul(inputs.get(0), inputs.get(1));
    }
    if (node.op() instanceof Op.MatMul && node.shape().rank() == 2 && node.shape().size(1) == 1) {
      return column(inputs.get(0), inputs.get(1));
    }
    return inputs.isEmpty() ? node : node.withInputs(inputs);
  }

  /**
   * A maximum or minimum with a constant as a comparison and a choice, which takes a third of the
   * instructions: code for max must treat NaN and zeros of unlike signs apart. The constant is
   * neither 0 nor NaN, so the choice gives the same result: {@code max(x, c)} is {@code x < c ? c :
   * x}.
   */
  private static Node limit(Node node, List<Node> inputs) {
    for (int i = 0; i < 2; i++) {
      Node limit = inputs.get(i);
      Node x = inputs.get(1 - i);
      boolean isFloat = limit.type() == DType.F32 && x.type() == DType.F32;
      if (isFloat && isNumberButZero(limit)) {
        boolean isMax = node.op() == Op.Binary.MAX;
        Node beyond = Nodes.binary(Op.Binary.LT, isMax ? x : limit, isMax ? limit : x);
        return Nodes.select(beyond, limit, x);
      }
    }
    return node.withInputs(inputs);
  }

  private static boolean isNumberButZero(Node node) {
    return Group.base(node).op() instanceof Op.Constant constant
        && constant.value() != 0
        && !Float.isNaN(constant.value());
  }

  /**
   * A product of one column as a reduction, which fuses with what comes before and after: of rows,
   * or of the columns of a transposed matrix.
   */
  private static Node column(Node a, Node b) {
    if (a.op() instanceof Op.Permute permute && permute.axes().equals(List.of(1, 0))) {
      Node products = Nodes.mul(a.input(0), b);
      Node sums = Nodes.reduce(Op.Reduce.Kind.SUM, products, 0, 1);
      return Nodes.reshape(sums, Shape.of(a.shape().size(0), 1));
    }
    Node products = Nodes.mul(a, Nodes.reshape(b, Shape.of(1, b.shape().size(0))));
    return Nodes.reduce(Op.Reduce.Kind.SUM, products, 1, 2);
  }
}
