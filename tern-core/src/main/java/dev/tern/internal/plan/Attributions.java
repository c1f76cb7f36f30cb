package dev.tern.internal.plan;

import dev.tern.internal.ir.Op;
import dev.tern.internal.ir.Origin;
import dev.tern.internal.ir.Program;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/** Where in the source the steps of a plan were written, for people to read. */
final class Attributions {
  private Attributions() {}

  /** By step: the groups in order, then the copies of updates that wait for the end. */
  static List<List<Plan.Attribution>> of(List<Group> order, List<Program.Update> late) {
    List<List<Plan.Attribution>> all = new ArrayList<>();
    for (Group group : order) {
      all.add(
          byOrigin(
              group.computed().stream()
                  .flatMap(node -> attribution(name(node.op()), node.origin()))));
    }
    late.forEach(update -> all.add(attribution("copy", update.value().origin()).toList()));
    return all;
  }

  /** The attributions of two steps that became one, each line once. */
  static List<Plan.Attribution> joined(
      List<Plan.Attribution> first, List<Plan.Attribution> second) {
    return byOrigin(Stream.concat(first.stream(), second.stream()));
  }

  private static Stream<Plan.Attribution> attribution(String op, Origin origin) {
    return origin.isKnown() ? Stream.of(new Plan.Attribution(List.of(op), origin)) : Stream.empty();
  }

  private static List<Plan.Attribution> byOrigin(Stream<Plan.Attribution> parts) {
    Map<Origin, List<String>> ops = new LinkedHashMap<>();
    parts.forEach(
        part -> ops.computeIfAbsent(part.origin(), _ -> new ArrayList<>()).addAll(part.ops()));
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
