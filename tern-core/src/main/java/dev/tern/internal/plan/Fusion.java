package dev.tern.internal.plan;

import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Op;
import dev.tern.internal.ir.Program;
import dev.tern.tensor.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Cuts a lowered program into groups. An elementwise op or a reduction joins the latest group over
 * the same iteration space that computes one of its inputs or reads memory that it reads too,
 * unless that would make two groups wait for each other or the kernel too large. Groups that came
 * to compute and to use the same values, such as the two moments of Adam, are then made one.
 * Reductions end a chain: what uses their result is another group.
 */
final class Fusion {
  /** Streams and ops of one kernel; beyond these, registers spill and compilers give up. */
  private static final int MAX_OPERANDS = 12;

  private static final int MAX_NODES = 32;

  /** Of ops that are polynomials; HotSpot compiles no method of more than 8000 bytes of code. */
  private static final int MAX_POLYNOMIALS = 4;

  private static final int SIBLINGS = 8;

  private final List<Group> groups = new ArrayList<>();
  private final Map<Node, Group> owner = new IdentityHashMap<>();

  private Fusion() {}

  /** The groups of {@code program} in an order in which they may run. */
  static List<Group> of(Program program) {
    Fusion fusion = new Fusion();
    for (Node node : program.nodes()) {
      fusion.place(node);
    }
    fusion.mergeAll(program);
    return fusion.groups;
  }

  private void mergeAll(Program program) {
    Map<Node, Integer> position = new IdentityHashMap<>();
    program.nodes().forEach(node -> position.put(node, position.size()));
    for (int i = 0; i < groups.size(); i++) {
      Group group = groups.get(i);
      while (group.fused && mergeOne(group)) {
        group.nodes.sort(Comparator.comparing(position::get));
      }
    }
    groups.removeIf(group -> group.nodes.isEmpty());
  }

  /** Moves the nodes of one group that this one reads element by element into this one. */
  private boolean mergeOne(Group group) {
    for (Group producer : List.copyOf(group.needs)) {
      if (producer.fused && producer.space.equals(group.space) && mayMerge(group, producer)) {
        group.nodes.addAll(producer.nodes);
        producer.nodes.forEach(node -> owner.put(node, group));
        producer.nodes.clear();
        group.needs.addAll(producer.needs);
        group.needs.remove(producer);
        for (Group other : groups) {
          if (other.needs.remove(producer)) {
            other.needs.add(group);
          }
        }
        return true;
      }
    }
    return false;
  }

  private boolean mayMerge(Group group, Group producer) {
    List<Node> all = new ArrayList<>(producer.nodes);
    all.addAll(group.nodes);
    return all.size() <= MAX_NODES
        && polynomials(all) <= MAX_POLYNOMIALS
        && operands(all) <= MAX_OPERANDS
        && group.needs.stream().noneMatch(n -> n != producer && n.needsEventually(producer))
        && group.nodes.stream()
            .flatMap(node -> node.inputs().stream())
            .filter(input -> producers(input).contains(producer))
            .allMatch(input -> owner.get(input) == producer && isElement(input, group.space));
  }

  private void place(Node node) {
    Op op = node.op();
    if (op.isPointwise() || op instanceof Op.Reduce) {
      joinOrOpen(node);
    } else if (isStep(op)) {
      open(node, false, node.shape());
    }
  }

  /** Whether the op is a step of its own; leaves, constants and views are none. */
  private static boolean isStep(Op op) {
    return op instanceof Op.MatMul
        || op instanceof Op.Gather
        || op instanceof Op.ScatterAdd
        || op instanceof Op.Uniform
        || op instanceof Op.Cast
        || op instanceof Op.DotInteraction
        || op instanceof Op.DotInteractionGradient;
  }

  private Group open(Node node, boolean fused, Shape space) {
    Group group = new Group(groups.size(), fused, space);
    groups.add(group);
    add(node, group);
    return group;
  }

  private void add(Node node, Group group) {
    group.nodes.add(node);
    owner.put(node, group);
    for (Node input : node.inputs()) {
      if (owner.get(input) != group) {
        group.needs.addAll(producers(input));
      }
    }
  }

  /** Groups whose results a reader of {@code node} sees. */
  private Set<Group> producers(Node node) {
    Set<Group> found = new LinkedHashSet<>();
    Group own = owner.get(node);
    if (own != null) {
      found.add(own);
    } else {
      for (Node input : node.inputs()) {
        found.addAll(producers(input));
      }
    }
    return found;
  }

  private void joinOrOpen(Node node) {
    Shape space = node.op() instanceof Op.Reduce ? node.input(0).shape() : node.shape();
    for (Group candidate : candidates(node, space)) {
      if (mayJoin(node, candidate)) {
        add(node, candidate);
        return;
      }
    }
    open(node, true, space);
  }

  private Set<Group> candidates(Node node, Shape space) {
    Set<Group> candidates = new LinkedHashSet<>();
    for (Node input : node.inputs()) {
      Group group = owner.get(input);
      if (group != null && group.fused && group.space.equals(space) && isElement(input, space)) {
        candidates.add(group);
      }
    }
    int looked = 0;
    for (int i = groups.size() - 1; i >= 0 && looked < SIBLINGS; i--) {
      Group group = groups.get(i);
      if (group.fused && group.space.equals(space)) {
        looked++;
        if (sharesInput(node, group)) {
          candidates.add(group);
        }
      }
    }
    return candidates;
  }

  /** Whether the value has one element for each point of the space. */
  private static boolean isElement(Node node, Shape space) {
    return node.op().isPointwise() && node.shape().equals(space);
  }

  private static boolean sharesInput(Node node, Group group) {
    for (Node member : group.nodes) {
      for (Node input : member.inputs()) {
        if (node.inputs().contains(input) && !isConstant(input)) {
          return true;
        }
      }
    }
    return false;
  }

  /** Whether the value is a constant, however it is repeated. */
  static boolean isConstant(Node node) {
    Node base = node;
    while (base.op().isView()) {
      base = base.input(0);
    }
    return base.op() instanceof Op.Constant;
  }

  private boolean mayJoin(Node node, Group group) {
    if (group.nodes.size() >= MAX_NODES
        || node.op().isPolynomial() && polynomials(group.nodes) >= MAX_POLYNOMIALS
        || operands(joined(node, group)) > MAX_OPERANDS) {
      return false;
    }
    for (Node input : node.inputs()) {
      boolean inside = owner.get(input) == group && isElement(input, group.space);
      if (!inside) {
        for (Group producer : producers(input)) {
          if (producer == group || producer.needsEventually(group)) {
            return false;
          }
        }
      }
    }
    return true;
  }

  private static long polynomials(List<Node> nodes) {
    return nodes.stream().filter(node -> node.op().isPolynomial()).count();
  }

  private static List<Node> joined(Node node, Group group) {
    List<Node> all = new ArrayList<>(group.nodes);
    all.add(node);
    return all;
  }

  /** Distinct values that these nodes read from memory, and a lower bound of those written. */
  private static int operands(List<Node> nodes) {
    Set<Node> inside = Collections.newSetFromMap(new IdentityHashMap<>());
    inside.addAll(nodes);
    Set<Node> read = new LinkedHashSet<>();
    Set<Node> last = new LinkedHashSet<>(nodes);
    for (Node node : nodes) {
      for (Node input : node.inputs()) {
        if (!inside.contains(input) && !isConstant(input)) {
          read.add(input);
        }
        last.remove(input);
      }
    }
    return read.size() + last.size();
  }
}
