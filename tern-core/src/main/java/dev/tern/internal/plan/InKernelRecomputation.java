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
import org.jspecify.annotations.Nullable;

/**
 * Lets a group compute a value itself instead of reading it, where that is cheap and reads no more
 * memory than the value takes. Then no group needs to store the value. Usually the value is one op
 * on one operand of its size and smaller ones: {@code x - mean}, or {@code x > 0} where x is in
 * memory. Where the readers read x in any case, up to four ops are computed again, such as {@code p
 * * (1 - p)} from p.
 *
 * <p>Where the readers do not read x, more than one op measured slower: more streams are read at
 * once, and the reader cannot write its result over the value.
 */
final class InKernelRecomputation {
  private static final int MAX_OPS = 4;

  private final Program program;
  private final List<Group> groups;
  private final Map<Node, Group> owner = new IdentityHashMap<>();
  private final Map<Node, List<Node>> readers = new IdentityHashMap<>();
  private final Set<Node> results = Collections.newSetFromMap(new IdentityHashMap<>());
  private final Map<Node, Node> updated = new IdentityHashMap<>();

  /** For each value that its readers compute anew: the ops for that, the value's own last. */
  private final Map<Node, List<Node>> chosen = new IdentityHashMap<>();

  /** By node: the node that replaces it in the new program. */
  private final Map<Node, Node> rebuilt = new IdentityHashMap<>();

  /** By group and value: the node that replaces it in the group. */
  private final Map<Group, Map<Node, Node>> anew = new IdentityHashMap<>();

  private InKernelRecomputation(Program program, List<Group> groups) {
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
      updated.put(update.leaf(), update.value());
    }
  }

  /** The program with such values computed anew; {@code groups} become groups of its nodes. */
  static Program apply(Program program, List<Group> groups) {
    return new InKernelRecomputation(program, groups).run();
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
    if (group == null || !group.fused || results.contains(value) || !isCheap(value, group)) {
      return;
    }
    Set<Group> outside = Collections.newSetFromMap(new IdentityHashMap<>());
    for (Node reader : readers.getOrDefault(value, List.of())) {
      Group other = owner.get(reader);
      if (other == null || !other.fused || !other.space.equals(group.space)) {
        return;
      }
      if (other != group) {
        outside.add(other);
      }
    }
    List<Node> ops = new ArrayList<>();
    Set<Node> large = Collections.newSetFromMap(new IdentityHashMap<>());
    if (!outside.isEmpty()
        && readsWhatIsThere(value, group, outside, ops, large)
        && large.size() == 1
        && (ops.size() == 1 || outside.stream().allMatch(other -> areRead(large, other)))
        && outside.stream().allMatch(other -> hasRoom(other, ops))) {
      chosen.put(value, ops);
    }
  }

  /**
   * Whether the operands of {@code ops}, which compute the value and are collected here, are in
   * memory and last as long as it would; {@code large} are the operands of its size.
   */
  private boolean readsWhatIsThere(
      Node value, Group group, Set<Group> outside, List<Node> ops, Set<Node> large) {
    for (Node input : value.inputs()) {
      Node base = Group.base(input);
      if (Fusion.isConstant(input) || ops.contains(input)) {
        continue;
      }
      if (input.type().bytes() > value.type().bytes() || !isUnchanged(base, outside)) {
        return false;
      }
      if (!chosen.containsKey(base) && isAtHand(input, group, outside)) {
        if (isLarge(input, group)) {
          large.add(input);
        }
      } else if (owner.get(input) != group
          || !isCheap(input, group)
          || !readsWhatIsThere(input, group, outside, ops, large)) {
        return false;
      }
    }
    ops.add(value);
    return ops.size() <= MAX_OPS;
  }

  /** Whether the node is no variable, or a variable that is written after these groups anyway. */
  private boolean isUnchanged(Node node, Set<Group> outside) {
    Node update = updated.get(node);
    if (update == null) {
      return true;
    }
    Group writer = owner.get(Group.base(update));
    return writer != null
        && outside.stream().allMatch(other -> other != writer && writer.needsEventually(other));
  }

  /** Whether the operand is in memory in any case: as a result of another group or for a reader. */
  private boolean isAtHand(Node input, Group group, Set<Group> outside) {
    Node base = Group.base(input);
    return owner.get(base) != group
        || (input == base
            && (isStoredAnyway(base) || outside.stream().allMatch(o -> areRead(Set.of(base), o))));
  }

  private boolean areRead(Set<Node> nodes, Group group) {
    return nodes.stream().allMatch(node -> isReadIn(node, group));
  }

  /** Whether the node, on which {@link #choose} has decided, is stored for another step. */
  private boolean isStoredAnyway(Node node) {
    return !chosen.containsKey(node) && isReadOutside(node, owner.get(node))
        || results.contains(node);
  }

  private boolean isReadOutside(Node node, @Nullable Group own) {
    return readers.getOrDefault(node, List.of()).stream()
        .anyMatch(reader ->
            owner.get(reader) == null ? isReadOutside(reader, own) : owner.get(reader) != own);
  }

  private static boolean isCheap(Node node, Group group) {
    Op op = node.op();
    return op.isPointwise()
        && node.shape().equals(group.space)
        && !op.isPolynomial()
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

  private boolean hasRoom(Group group, List<Node> more) {
    Set<Node> all = Collections.newSetFromMap(new IdentityHashMap<>());
    all.addAll(group.nodes);
    all.addAll(more);
    chosen.forEach((node, ops) -> {
      if (isReadIn(node, group)) {
        all.addAll(ops);
      }
    });
    return Fusion.isSmall(List.copyOf(all));
  }

  private boolean isReadIn(Node node, Group group) {
    return readers.getOrDefault(node, List.of()).stream()
        .anyMatch(reader -> owner.get(reader) == group);
  }

  /** The nodes of the new program, unused ones included. */
  private List<Node> rebuild() {
    List<Node> nodes = new ArrayList<>();
    for (Node node : program.nodes()) {
      Map<Node, Node> own = anew.getOrDefault(owner.get(node), Map.of());
      rebuilt.put(node, node.withInputs(inputs(node, own)));
      nodes.add(found(node));
      if (chosen.containsKey(node)) {
        computeAnew(node, nodes);
      }
    }
    return nodes;
  }

  private List<Node> inputs(Node node, Map<Node, Node> own) {
    return node.inputs().stream().map(input -> own.getOrDefault(input, found(input))).toList();
  }

  private void computeAnew(Node value, List<Node> nodes) {
    for (Node reader : readers.getOrDefault(value, List.of())) {
      Group group = Objects.requireNonNull(owner.get(reader));
      Group writer = Objects.requireNonNull(owner.get(value));
      if (group != writer) {
        group.needs.addAll(writer.needs);
        Map<Node, Node> own = anew.computeIfAbsent(group, g -> new IdentityHashMap<>());
        for (Node op : Objects.requireNonNull(chosen.get(value))) {
          if (!own.containsKey(op)) {
            Node twin = found(op).withInputs(inputs(op, own)).twin();
            own.put(op, twin);
            nodes.add(twin);
          }
        }
      }
    }
  }

  /** The nodes on which results depend. */
  private Set<Node> alive(List<Node> nodes) {
    Set<Node> alive = Collections.newSetFromMap(new IdentityHashMap<>());
    results.forEach(node -> alive.add(found(node)));
    updated.keySet().forEach(node -> alive.add(found(node)));
    for (Node node : nodes.reversed()) {
      if (alive.contains(node)) {
        alive.addAll(node.inputs());
      }
    }
    return alive;
  }
}
