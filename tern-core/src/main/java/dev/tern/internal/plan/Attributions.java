package dev.tern.internal.plan;

import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Op;
import dev.tern.internal.ir.Origin;
import dev.tern.internal.ir.Program;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Where in the source the steps of a plan were written, for people to read. */
final class Attributions {
  private Attributions() {}

  /** By step: the groups in order, then the copies of updates that wait for the end. */
  static List<List<Plan.Attribution>> of(List<Group> order, List<Program.Update> late) {
    List<List<Plan.Attribution>> all = new ArrayList<>();
    order.forEach(group -> all.add(of(group.computed())));
    late.forEach(update -> all.add(copy(update.value().origin())));
    return all;
  }

  /** The attributions of two steps that became one, each line once. */
  static List<Plan.Attribution> joined(
      List<Plan.Attribution> first, List<Plan.Attribution> second) {
    Map<Origin, List<String>> ops = new LinkedHashMap<>();
    for (List<Plan.Attribution> step : List.of(first, second)) {
      for (Plan.Attribution part : step) {
        ops.computeIfAbsent(part.origin(), origin -> new ArrayList<>()).addAll(part.ops());
      }
    }
    return listed(ops);
  }

  private static List<Plan.Attribution> copy(Origin origin) {
    return origin.isKnown() ? List.of(new Plan.Attribution(List.of("copy"), origin)) : List.of();
  }

  private static List<Plan.Attribution> of(List<Node> nodes) {
    Map<Origin, List<String>> ops = new LinkedHashMap<>();
    for (Node node : nodes) {
      if (node.origin().isKnown()) {
        ops.computeIfAbsent(node.origin(), origin -> new ArrayList<>()).add(name(node.op()));
      }
    }
    return listed(ops);
  }

  private static List<Plan.Attribution> listed(Map<Origin, List<String>> ops) {
    return ops.entrySet().stream()
        .map(entry -> new Plan.Attribution(entry.getValue(), entry.getKey()))
        .toList();
  }

  private static String name(Op op) {
    return switch (op) {
      case Enum<?> elementwise -> elementwise.name().toLowerCase(Locale.ROOT);
      case Op.Reduce reduce -> reduce.kind().name().toLowerCase(Locale.ROOT);
      case Op.MatMul matmul -> "matmul";
      default -> {
        String type = op.getClass().getSimpleName();
        yield type.substring(0, 1).toLowerCase(Locale.ROOT) + type.substring(1);
      }
    };
  }
}
