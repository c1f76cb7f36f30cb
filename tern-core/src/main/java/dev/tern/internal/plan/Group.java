package dev.tern.internal.plan;

import dev.tern.base.Shape;
import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Op;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Nodes that one step of the plan computes: a fused set of elementwise ops and reductions over one
 * iteration space, or one other op. A fused group may use the result of a reduction over its last
 * dimension, and ops on such row values: its kernel then passes several times over each row.
 */
final class Group {
  final int id;
  final boolean fused;

  /** The iteration space of a fused group. */
  final Shape space;

  final List<Node> nodes = new ArrayList<>();

  /**
   * The matrix product, a group of its own before, that this fused group alone reads: its kernel
   * takes the rows as they become final, and they never lie in memory as a whole.
   */
  Optional<Node> product = Optional.empty();

  /** Groups that must run before this one, in an order that is the same each time. */
  final Set<Group> needs = new LinkedHashSet<>();

  Group(int id, boolean fused, Shape space) {
    this.id = id;
    this.fused = fused;
    this.space = space;
  }

  /** The shape of row values, one number for each row of the space: its last size is 1. */
  Shape rowShape() {
    for (int axis = space.rank() - 1; axis >= 0; axis--) {
      if (space.size(axis) != 1) {
        return space.withSize(axis, 1);
      }
    }
    return space;
  }

  /**
   * The node of this group that {@code input} of one of its nodes reads within the kernel: an
   * element, or a row value, directly or repeated along the rows. Empty: it is read from memory.
   */
  Optional<Node> inside(Node input) {
    Node base = input;
    if (input.op() instanceof Op.Broadcast && input.shape().equals(space)) {
      base = input.input(0);
    }
    boolean isElement = base == input && base.op().isPointwise() && base.shape().equals(space);
    return nodes.contains(base) && (isElement || isRowValue(base))
        ? Optional.of(base)
        : Optional.empty();
  }

  /** Whether a node of this group is one number for each row. */
  boolean isRowValue(Node node) {
    return !node.shape().equals(space) && node.shape().equals(rowShape());
  }

  /** What the step reads from memory, constants not among it. */
  List<Node> reads() {
    List<Node> found = new ArrayList<>();
    product.ifPresent(node -> found.addAll(node.inputs()));
    for (Node node : nodes) {
      for (Node input : node.inputs()) {
        boolean isProduct = product.isPresent() && base(input) == product.get();
        if (!Fusion.isConstant(input) && inside(input).isEmpty() && !isProduct) {
          found.add(input);
        }
      }
    }
    return found;
  }

  /** The node whose memory a view shows; a node that is no view itself. */
  static Node base(Node node) {
    Node base = node;
    while (base.op().isView()) {
      base = base.input(0);
    }
    return base;
  }

  /** All nodes, in the order in which they are computed. */
  List<Node> computed() {
    return Stream.concat(product.stream(), nodes.stream()).toList();
  }

  /** Makes {@code node}, which {@code other} computes, the product of this one. */
  void take(Group other, Node node) {
    product = Optional.of(node);
    needs.remove(other);
    needs.addAll(other.needs);
  }

  /**
   * Whether {@code node}, one of the group's, is computed in the kernel's last pass over each row:
   * after it has written an element of it, the kernel reads only elements further on.
   */
  boolean isWrittenLast(Node node) {
    Map<Node, Integer> passes = new IdentityHashMap<>();
    int last = 0;
    for (Node each : nodes) {
      int pass = 0;
      for (Node input : each.inputs()) {
        Optional<Node> base = inside(input);
        if (base.isPresent()) {
          int after = base.get().op() instanceof Op.Reduce ? 1 : 0;
          pass = Math.max(pass, passes.getOrDefault(base.get(), 0) + after);
        }
      }
      passes.put(each, pass);
      last = Math.max(last, pass);
    }
    return passes.getOrDefault(node, 0) == last;
  }

  /** Whether this group must run after {@code other}, directly or through others. */
  boolean needsEventually(Group other) {
    return reaches(other, new HashSet<>());
  }

  private boolean reaches(Group other, Set<Group> seen) {
    for (Group need : needs) {
      if (need == other || seen.add(need) && need.reaches(other, seen)) {
        return true;
      }
    }
    return false;
  }
}
