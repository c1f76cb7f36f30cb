package dev.tern.internal.plan;

import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Op;
import dev.tern.internal.ir.Program;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Has groups compute anew what another group would write for them alone, where that is one cheap op
 * that reads no more from memory than the value itself: on one operand of its size and smaller
 * ones, such as {@code x - mean}, or {@code x > 0} where x itself is in memory. What is left of
 * writing and reading the value is reading x.
 *
 * <p>Several ops would save as much, but measured slower: then more streams are read at once, and
 * the reader can no longer write its result over the value.
 */
final class Recomputation {
  private final Program program;
  private final List<Group> groups;
  private final Map<Node, Group> owner = new IdentityHashMap<>();
  private final Map<Node, List<Node>> readers = new IdentityHashMap<>();
  private final Set<Node> results = Collections.newSetFromMap(new IdentityHashMap<>());
  private final Set<Node> updated = Collections.newSetFromMap(new IdentityHashMap<>());

  /** The values that their readers compute anew. */
  private final Set<Node> chosen = Collections.newSetFromMap(new IdentityHashMap<>());

  /** By node: what stands for it in the new program. */
  private final Map<Node, Node> rebuilt = new IdentityHashMap<>();

  /** By group and value: what stands for it there. */
  private final Map<Group, Map<Node, Node>> anew = new IdentityHashMap<>();

  private Recomputation(Program program, List<Group> groups) {
    this.program = program;
    this.groups = groups;
    for (Group group : groups) {
      group.nodes.forEach(node -> owner.put(node, group));
    }
    for (Node node : program.nodes()) {
      for (Node input : node.inputs()) {
        readers.computeIfAbsent(input, n -> new ArrayList<>()).add(node);
      }
    }
    results.addAll(program.outputs());
    for (Program.Update update : program.updates()) {
      results.add(update.value());
      updated.add(update.leaf());
    }
  }

  /** The program with such values computed anew, of which {@code groups} are made to consist. */
  static Program apply(Program program, List<Group> groups) {
    return new Recomputation(program, groups).run();
  }

  private Program run() {
    for (Node node : program.nodes()) {
      choose(node);
    }
    if (chosen.isEmpty()) {
      return program;
    }
    List<Node> nodes = rebuild();
    Set<Node> alive = alive(nodes);
    Map<Node, Integer> position = new IdentityHashMap<>();
    nodes.forEach(node -> position.put(node, position.size()));
    for (Group group : groups) {
      List<Node> members = new ArrayList<>(anew.getOrDefault(group, Map.of()).values());
      group.nodes.forEach(node -> members.add(found(node)));
      members.removeIf(node -> !alive.contains(node));
      members.sort(Comparator.comparing(position::get));
      group.nodes.clear();
      group.nodes.addAll(members);
    }
    groups.removeIf(group -> group.nodes.isEmpty());
    groups.forEach(group -> group.needs.removeIf(need -> need.nodes.isEmpty()));
    return new Program(
        nodes.stream().filter(alive::contains).toList(),
        program.outputs().stream().map(this::found).toList(),
        program.updates().stream()
            .map(u -> new Program.Update(found(u.leaf()), found(u.value())))
            .toList());
  }

  private Node found(Node node) {
    return Objects.requireNonNull(rebuilt.get(node));
  }

  private void choose(Node value) {
    Group group = owner.get(value);
    if (group == null
        || !group.fused
        || results.contains(value)
        || !value.op().isPointwise()
        || !value.shape().equals(group.space)
        || !isCheap(value.op())
        || !readsOneOfItsSize(value, group)) {
      return;
    }
    boolean isReadOutside = false;
    for (Node reader : readers.getOrDefault(value, List.of())) {
      Group other = owner.get(reader);
      if (other == null || !other.fused || !other.space.equals(group.space)) {
        return;
      }
      if (other != group && !hasRoom(other, value)) {
        return;
      }
      isReadOutside |= other != group;
    }
    if (isReadOutside) {
      chosen.add(value);
    }
  }

  /** Whether the value's operands are in memory, last as long, and all but one are smaller. */
  private boolean readsOneOfItsSize(Node value, Group group) {
    int large = 0;
    for (Node input : value.inputs()) {
      if (!Fusion.isConstant(input)) {
        Node base = base(input);
        boolean isAtHand = owner.get(base) != group || (input == base && isStoredAnyway(base));
        if (!isAtHand || updated.contains(base) || chosen.contains(base)) {
          return false;
        }
        large += isLarge(input, group) ? 1 : 0;
        if (input.type().bytes() > value.type().bytes()) {
          return false;
        }
      }
    }
    return large == 1;
  }

  /** Whether a step that is not fused reads the node, so that it has memory. */
  private boolean isStoredAnyway(Node node) {
    for (Node reader : readers.getOrDefault(node, List.of())) {
      Group group = owner.get(reader);
      boolean isRead = group == null ? isStoredAnyway(reader) : !group.fused;
      if (isRead) {
        return true;
      }
    }
    return results.contains(node);
  }

  private static Node base(Node node) {
    Node base = node;
    while (base.op().isView()) {
      base = base.input(0);
    }
    return base;
  }

  private static boolean isCheap(Op op) {
    return !op.isPolynomial()
        && op != Op.Binary.DIV
        && op != Op.Unary.SQRT
        && op != Op.Unary.RSQRT
        && op != Op.Unary.RECIPROCAL
        && op != Op.Unary.COPY;
  }

  private static boolean isLarge(Node operand, Group group) {
    Node base = operand.op() instanceof Op.Broadcast ? operand.input(0) : operand;
    return base.shape().elements() == group.space.elements();
  }

  private boolean hasRoom(Group group, Node more) {
    List<Node> all = new ArrayList<>(group.nodes);
    all.add(more);
    chosen.stream().filter(node -> isReadIn(node, group)).forEach(all::add);
    return Fusion.isSmall(all);
  }

  private boolean isReadIn(Node node, Group group) {
    return readers.getOrDefault(node, List.of()).stream()
        .anyMatch(reader -> owner.get(reader) == group);
  }

  /** The nodes of the new program, those no longer used among them. */
  private List<Node> rebuild() {
    List<Node> nodes = new ArrayList<>();
    for (Node node : program.nodes()) {
      Map<Node, Node> own = anew.getOrDefault(owner.get(node), Map.of());
      List<Node> inputs = node.inputs().stream().map(i -> own.getOrDefault(i, found(i))).toList();
      rebuilt.put(node, node.withInputs(inputs));
      nodes.add(found(node));
      if (chosen.contains(node)) {
        computeAnew(node, nodes);
      }
    }
    return nodes;
  }

  private void computeAnew(Node value, List<Node> nodes) {
    for (Node reader : readers.getOrDefault(value, List.of())) {
      Group group = Objects.requireNonNull(owner.get(reader));
      Group writer = Objects.requireNonNull(owner.get(value));
      if (group != writer) {
        group.needs.addAll(writer.needs);
        Map<Node, Node> own = anew.computeIfAbsent(group, g -> new IdentityHashMap<>());
        if (!own.containsKey(value)) {
          Node twin = found(value).twin();
          own.put(value, twin);
          nodes.add(twin);
        }
      }
    }
  }

  /** What results depend on. */
  private Set<Node> alive(List<Node> nodes) {
    Set<Node> alive = Collections.newSetFromMap(new IdentityHashMap<>());
    results.forEach(node -> alive.add(found(node)));
    updated.forEach(node -> alive.add(found(node)));
    for (Node node : nodes.reversed()) {
      if (alive.contains(node)) {
        alive.addAll(node.inputs());
      }
    }
    return alive;
  }
}
