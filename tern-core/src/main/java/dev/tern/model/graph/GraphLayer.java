package dev.tern.model.graph;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A layer of a {@link Graph}.
 *
 * @param name of the layer, with which the names of its parameters begin
 * @param op what it does
 * @param inputs names of the tensors that it reads, in order
 * @param outputs names of the tensors that it makes
 * @param numbers what the op needs to know, by the names that {@link GraphOp} says; flags are 0 and
 *     1
 */
public record GraphLayer(
    String name,
    GraphOp op,
    List<String> inputs,
    List<String> outputs,
    Map<String, List<Double>> numbers) {
  /**
   * Checks names and numbers.
   *
   * @throws IllegalArgumentException if the op takes others
   */
  public GraphLayer {
    inputs = List.copyOf(inputs);
    outputs = List.copyOf(outputs);
    Map<String, List<Double>> copy = new TreeMap<>();
    numbers.forEach((number, values) -> copy.put(number, List.copyOf(values)));
    numbers = Collections.unmodifiableMap(copy);
    String where = "graph: layer %s (%s)".formatted(name, op.text());
    if (!op.takes(inputs.size())) {
      throw new IllegalArgumentException(
          "%s: got %d inputs, expected %s; change them"
              .formatted(where, inputs.size(), op.inputs()));
    }
    List<String> expected = op.numbers().stream().map(GraphNumber::name).sorted().toList();
    if (!expected.equals(List.copyOf(numbers.keySet()))) {
      throw new IllegalArgumentException(
          "%s: got the numbers %s, expected %s".formatted(where, numbers.keySet(), expected));
    }
    for (GraphNumber number : op.numbers()) {
      number.require(list(numbers, number.name()), where);
    }
    requireLists(op, numbers, where);
    int made = made(op, numbers);
    if (outputs.size() != made) {
      throw new IllegalArgumentException(
          "%s: got %d outputs, expected %d; name each".formatted(where, outputs.size(), made));
    }
  }

  /** A layer with one output, whose name is the layer's. */
  public static GraphLayer of(
      String name, GraphOp op, List<String> inputs, Map<String, List<Double>> numbers) {
    return new GraphLayer(name, op, inputs, List.of(name), numbers);
  }

  private static void requireLists(GraphOp op, Map<String, List<Double>> numbers, String where) {
    boolean lists = op == GraphOp.MLP || op == GraphOp.SLICE;
    if (lists && numbers.values().stream().mapToInt(List::size).distinct().count() > 1) {
      throw new IllegalArgumentException(
          "%s: got lists %s of several lengths, expected one".formatted(where, numbers.keySet()));
    }
    List<Double> from = op == GraphOp.SLICE ? list(numbers, "from") : List.of();
    for (int i = 0; i < from.size(); i++) {
      if (from.get(i) >= list(numbers, "to").get(i)) {
        throw new IllegalArgumentException(
            "%s: got the piece from %.0f to %.0f, expected an end behind its begin"
                .formatted(where, from.get(i), list(numbers, "to").get(i)));
      }
    }
  }

  private static List<Double> list(Map<String, List<Double>> numbers, String name) {
    return numbers.getOrDefault(name, List.of());
  }

  private static int made(GraphOp op, Map<String, List<Double>> numbers) {
    return switch (op) {
      case SLICE -> list(numbers, "from").size();
      case JOIN_SLOTS -> list(numbers, "all").getFirst() == 0 ? 2 : 1;
      default -> 1;
    };
  }

  private List<Double> list(String number) {
    List<Double> values = numbers.get(number);
    if (values == null) {
      throw new IllegalArgumentException(
          "graph: layer %s (%s): got a call for the number %s, expected one of %s"
              .formatted(name, op.text(), number, numbers.keySet()));
    }
    return values;
  }

  /** A number that is whole. */
  public int whole(String number) {
    return list(number).getFirst().intValue();
  }

  /** A list of whole numbers. */
  public List<Integer> wholes(String number) {
    return list(number).stream().map(Double::intValue).toList();
  }

  /** A number, as layers compute with it. */
  public float real(String number) {
    return (float) exact(number);
  }

  /** A number with all its digits. */
  public double exact(String number) {
    return list(number).getFirst();
  }

  /** A flag. */
  public boolean flag(String number) {
    return list(number).getFirst() != 0;
  }

  /** A list of flags. */
  public List<Boolean> flags(String number) {
    List<Boolean> flags = new ArrayList<>();
    list(number).forEach(value -> flags.add(value != 0));
    return flags;
  }
}
