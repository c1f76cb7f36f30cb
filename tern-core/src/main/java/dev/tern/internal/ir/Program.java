package dev.tern.internal.ir;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * Nodes in an order in which they can be computed, equal ones only once. A run computes {@code
 * outputs} and then stores each update into its leaf.
 *
 * @param nodes every node, each after its inputs; {@code %i} in print is node {@code i}
 * @param outputs the values asked for
 * @param updates new values of leaves, stored after every read of the old ones
 */
public record Program(List<Node> nodes, List<Node> outputs, List<Update> updates) {
  /** {@code value} becomes the content of {@code leaf}; shapes and types agree. */
  public record Update(Node leaf, Node value) {
    public Update {
      if (!(leaf.op() instanceof Op.Leaf)
          || !leaf.shape().equals(value.shape())
          || leaf.type() != value.type()) {
        throw new IllegalArgumentException(
            "update: got " + value + " for " + leaf + ", expected a leaf of that shape and type");
      }
    }
  }

  public Program {
    nodes = List.copyOf(nodes);
    outputs = List.copyOf(outputs);
    updates = List.copyOf(updates);
  }

  /** The program that computes the outputs and the updates' values. */
  public static Program of(List<Node> outputs, List<Update> updates) {
    List<Node> roots = new ArrayList<>(outputs);
    for (Update update : updates) {
      roots.add(update.leaf());
      roots.add(update.value());
    }
    Map<Node, Node> shared = new IdentityHashMap<>();
    Map<Key, Node> known = new HashMap<>();
    List<Node> nodes = new ArrayList<>();
    for (Node node : topologicalOrder(roots)) {
      List<Node> inputs = node.inputs().stream().map(input -> get(shared, input)).toList();
      Key key = new Key(node.op(), inputs, node.shape(), node.type());
      Node unique = isCopy(node) ? null : known.get(key);
      if (unique == null) {
        unique = node.withInputs(inputs);
        known.put(key, unique);
        nodes.add(unique);
      }
      shared.put(node, unique);
    }
    return new Program(
        nodes,
        outputs.stream().map(node -> get(shared, node)).toList(),
        updates.stream()
            .map(u -> new Update(get(shared, u.leaf()), get(shared, u.value())))
            .toList());
  }

  /** Copies are made for their memory, so equal ones stay apart. */
  private static boolean isCopy(Node node) {
    return node.op() == Op.Unary.COPY
        || node.op() instanceof Op.Cast cast && cast.type() == node.input(0).type();
  }

  /** The resident tensors it reads or updates, in the order of its nodes. */
  public List<Node> leaves() {
    return nodes.stream().filter(node -> node.op() instanceof Op.Leaf).toList();
  }

  private static Node get(Map<Node, Node> shared, Node node) {
    Node found = shared.get(node);
    if (found == null) {
      throw new AssertionError("program: " + node + " is used before it is defined");
    }
    return found;
  }

  /** Nodes are compared by identity, so equal keys mean the same value. */
  private record Key(Op op, List<Node> inputs, Shape shape, DType type) {}

  /** All nodes that {@code roots} need, inputs first. Without recursion: any depth will do. */
  static List<Node> topologicalOrder(List<Node> roots) {
    Map<Node, Boolean> done = new IdentityHashMap<>();
    List<Node> order = new ArrayList<>();
    Deque<Node> stack = new ArrayDeque<>();
    for (Node root : roots) {
      stack.push(root);
      while (!stack.isEmpty()) {
        Node node = stack.peek();
        if (done.containsKey(node)) {
          stack.pop();
          if (Boolean.FALSE.equals(done.put(node, true))) {
            order.add(node);
          }
          continue;
        }
        done.put(node, false);
        for (int i = node.inputs().size() - 1; i >= 0; i--) {
          Node input = node.input(i);
          if (!done.containsKey(input)) {
            stack.push(input);
          }
        }
      }
    }
    return order;
  }

  /**
   * One line per node, {@code %3 = MUL(%1, %2) F32[4, 8]}, then outputs and updates. Leaves print
   * without their addresses.
   */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    Map<Node, Integer> numbers = new IdentityHashMap<>();
    for (Node node : nodes) {
      numbers.put(node, numbers.size());
      text.append('%').append(numbers.get(node)).append(" = ");
      text.append(node.op() instanceof Op.Leaf ? "Leaf" : node.op().toString());
      text.append('(');
      for (int i = 0; i < node.inputs().size(); i++) {
        text.append(i > 0 ? ", %" : "%").append(numbers.get(node.input(i)));
      }
      text.append(") ").append(node.type()).append(node.shape()).append('\n');
    }
    for (Node output : outputs) {
      text.append("return %").append(numbers.get(output)).append('\n');
    }
    for (Update update : updates) {
      text.append('%').append(numbers.get(update.leaf()));
      text.append(" := %").append(numbers.get(update.value())).append('\n');
    }
    return text.toString();
  }
}
