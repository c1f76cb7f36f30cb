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

/** Where in the source the steps of a plan were written, for people. */
final class Attributions {
  private Attributions() {}

  /** By step: those of the groups in order, then the copies of updates that wait for the end. */
  static List<List<Plan.Source>> of(List<Group> order, List<Program.Update> late) {
    List<List<Plan.Source>> sources = new ArrayList<>();
    order.forEach(group -> sources.add(of(group.computed())));
    late.forEach(update -> sources.add(copy(update.value().origin())));
    return sources;
  }

  /** Those of two steps made one, each line once. */
  static List<Plan.Source> joined(List<Plan.Source> first, List<Plan.Source> second) {
    Map<Origin, List<String>> ops = new LinkedHashMap<>();
    for (List<Plan.Source> step : List.of(first, second)) {
      for (Plan.Source source : step) {
        ops.computeIfAbsent(source.origin(), origin -> new ArrayList<>()).addAll(source.ops());
      }
    }
    return listed(ops);
  }

  private static List<Plan.Source> copy(Origin origin) {
    return origin.isKnown() ? List.of(new Plan.Source(List.of("copy"), origin)) : List.of();
  }

  private static List<Plan.Source> of(List<Node> nodes) {
    Map<Origin, List<String>> ops = new LinkedHashMap<>();
    for (Node node : nodes) {
      if (node.origin().isKnown()) {
        ops.computeIfAbsent(node.origin(), origin -> new ArrayList<>()).add(name(node.op()));
      }
    }
    return listed(ops);
  }

  private static List<Plan.Source> listed(Map<Origin, List<String>> ops) {
    return ops.entrySet().stream()
        .map(entry -> new Plan.Source(entry.getValue(), entry.getKey()))
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
