package dev.tern.internal.plan;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Op;
import dev.tern.internal.ir.Origin;
import dev.tern.internal.ir.Program;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * All of a program that a plan depends on: ops, what each reads, shapes and types, outputs and
 * updates; where it was written, as plans name that; but not the memory of its leaves. Programs
 * with equal structures share a plan, however they print.
 */
record ProgramStructure(List<Line> lines, List<Integer> outputs, List<Integer> updates) {
  /**
   * A node.
   *
   * @param op empty for a leaf
   * @param inputs by their numbers
   */
  private record Line(
      Optional<Op> op, List<Integer> inputs, Shape shape, DType type, Origin origin) {}

  static ProgramStructure of(Program program) {
    Map<Node, Integer> numbers = new IdentityHashMap<>();
    program.nodes().forEach(node -> numbers.put(node, numbers.size()));
    return new ProgramStructure(
        program.nodes().stream().map(node -> line(node, numbers)).toList(),
        program.outputs().stream().map(node -> number(node, numbers)).toList(),
        program.updates().stream()
            .flatMap(update ->
                Stream.of(number(update.leaf(), numbers), number(update.value(), numbers)))
            .toList());
  }

  private static Line line(Node node, Map<Node, Integer> numbers) {
    return new Line(
        node.op() instanceof Op.Leaf ? Optional.empty() : Optional.of(node.op()),
        node.inputs().stream().map(input -> number(input, numbers)).toList(),
        node.shape(),
        node.type(),
        node.origin());
  }

  private static int number(Node node, Map<Node, Integer> numbers) {
    return Objects.requireNonNull(numbers.get(node));
  }
}
