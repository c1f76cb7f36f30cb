package dev.tern.internal.plan;

import dev.tern.base.Shape;
import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Op;
import dev.tern.internal.ir.Program;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Cuts a lowered program into groups, each of which becomes one kernel or one step.
 *
 * <p>An elementwise op or a reduction joins the latest group over the same iteration space that
 * computes one of its inputs or reads memory that it reads too, unless two groups would then wait
 * for each other or the kernel would be too large. Then a group is merged with one that it needs,
 * over the same space, where possible: for example the two moments of Adam.
 *
 * <p>A reduction over the last dimension may be used in its own group, whose kernel then passes
 * several times over each row. What uses any other reduction is another group.
 */
final class Fusion {
  /** The most operands of a kernel, about: with many more, registers spill. */
  private static final int MAX_OPERANDS = 12;

  private static final int MAX_NODES = 32;

  /**
   * The most ops that are computed as polynomials; a softplus counts twice. HotSpot compiles no
   * method of more than 8000 bytes of code, and inlines less well before that.
   */
  private static final int MAX_POLYNOMIALS = 4;

  /** How many of the latest groups over the same space are tried for a common input. */
  private static final int SIBLINGS = 8;

  /** Elements of a row that is passed over several times: it should stay in the L1 cache. */
  private static final int MAX_ROW = 8192;

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

  /** Merges one group that this one reads element by element into it; false where none may. */
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
    return isSmall(all)
        && group.needs.stream().noneMatch(n -> n != producer && n.needsEventually(producer))
        && group.nodes.stream()
            .flatMap(node -> node.inputs().stream())
            .filter(input -> producers(input).contains(producer))
            .allMatch(input -> mayUse(input, producer));
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
    return Lowering.readsDense(op)
        || op instanceof Op.MatMul
        || op instanceof Op.Uniform
        || op instanceof Op.Cast;
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
      if (group.inside(input).isEmpty()) {
        group.needs.addAll(producers(input));
      }
    }
  }

  /** The groups that compute what a reader of {@code node}, perhaps a view, reads. */
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
      Node base = input.op() instanceof Op.Broadcast ? input.input(0) : input;
      Group group = owner.get(base);
      if (group != null && group.fused && belongs(node, space, group) && mayUse(input, group)) {
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

  /** Whether a node over {@code space} is an element, a reduction or a row value of the group. */
  private static boolean belongs(Node node, Shape space, Group group) {
    return space.equals(group.space) || node.op().isPointwise() && group.isRowValue(node);
  }

  /** Whether the group's kernel can hand {@code input}, one of its values, to a later op. */
  private static boolean mayUse(Node input, Group group) {
    Optional<Node> base = group.inside(input);
    if (base.isEmpty() || !group.isRowValue(base.get())) {
      return base.isPresent();
    }
    Shape space = group.space;
    int row = space.elements() / Math.max(1, base.get().shape().elements());
    return space.elements() > 0 && row <= MAX_ROW;
  }

  private static boolean sharesInput(Node node, Group group) {
    return group.nodes.stream()
        .flatMap(member -> member.inputs().stream())
        .anyMatch(input -> node.inputs().contains(input) && !isConstant(input));
  }

  /** Whether the value is a constant, however it is repeated. */
  static boolean isConstant(Node node) {
    return Group.base(node).op() instanceof Op.Constant;
  }

  /** Whether the node is {@code value} everywhere. */
  static boolean isConstant(Node node, float value) {
    return Group.base(node).op() instanceof Op.Constant constant && constant.value() == value;
  }

  private boolean mayJoin(Node node, Group group) {
    List<Node> all = new ArrayList<>(group.nodes);
    all.add(node);
    if (!isSmall(all)) {
      return false;
    }
    return node.inputs().stream()
        .filter(input -> !mayUse(input, group))
        .flatMap(input -> producers(input).stream())
        .noneMatch(producer -> producer == group || producer.needsEventually(group));
  }

  /** Whether one kernel may compute all of {@code nodes}. */
  static boolean isSmall(List<Node> nodes) {
    return nodes.size() <= MAX_NODES && hasFewPolynomials(nodes) && operands(nodes) <= MAX_OPERANDS;
  }

  private static boolean hasFewPolynomials(List<Node> nodes) {
    return nodes.stream()
            .map(Node::op)
            .filter(Op::isPolynomial)
            .mapToInt(op -> op == Op.Unary.SOFTPLUS ? 2 : 1)
            .sum()
        <= MAX_POLYNOMIALS;
  }

  /** How many distinct values these nodes read from memory, plus how many none of them reads. */
  private static int operands(List<Node> nodes) {
    Set<Node> inside = Collections.newSetFromMap(new IdentityHashMap<>());
    inside.addAll(nodes);
    Set<Node> read = new LinkedHashSet<>();
    Set<Node> last = new LinkedHashSet<>(nodes);
    for (Node node : nodes) {
      for (Node input : node.inputs()) {
        Node base = input.op() instanceof Op.Broadcast ? input.input(0) : input;
        if (!inside.contains(base) && !isConstant(input)) {
          read.add(input);
        }
        last.remove(base);
      }
    }
    return read.size() + last.size();
  }
}
