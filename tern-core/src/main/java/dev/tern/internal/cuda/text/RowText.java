package dev.tern.internal.cuda.text;

import dev.tern.internal.kernel.KernelSpec;
import dev.tern.internal.kernel.KernelSpec.Access;
import dev.tern.internal.kernel.KernelSpec.Mode;
import dev.tern.internal.kernel.KernelSpec.Store;
import dev.tern.internal.plan.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;

/**
 * The body of a kernel in which 16 threads take a row, lane by lane, with a pass over the row for
 * each phase. For example, softmax takes three passes: the maximum, the sum of the powers, the
 * quotients. A later pass computes anew what an earlier one computed, to the same bits. Only the
 * last pass stores, so results may overwrite what is read.
 */
final class RowText {
  private final KernelSpec spec;
  private final Step.Loops loops;
  private final KernelValues values;
  private final LoopText loop;
  private final Lines lines;
  private final int loads;

  RowText(KernelSpec spec, Step.Loops loops, KernelValues values, LoopText loop, Lines lines) {
    this.spec = spec;
    this.loops = loops;
    this.values = values;
    this.loop = loop;
    this.lines = lines;
    loads = spec.loads().size();
  }

  void print(List<Integer> stores) {
    SortedSet<Integer> needed =
        values.closure(stores.stream().map(s -> spec.stores().get(s).value()).toList(), Set.of());
    for (int value : needed) {
      if (values.isLoad(value) && values.isRow(value)) {
        lines.add("const float v%d = i%d[%s];", value, value, loop.at(value, "0u"));
      }
    }
    int last = needed.stream().mapToInt(values::phase).max().orElse(0);
    for (int phase = 0; phase <= last; phase++) {
      pass(phase, needed, phase == last ? stores : List.of());
    }
  }

  private void pass(int phase, SortedSet<Integer> needed, List<Integer> stores) {
    List<Integer> reductions = new ArrayList<>();
    for (int value : needed) {
      if (values.isReduction(value)) {
        if (values.phase(value) == phase + 1) {
          reductions.add(value);
        }
      } else if (!values.isLoad(value) && values.isRow(value) && values.phase(value) == phase) {
        lines.add("const float v%d = %s;", value, values.expression(value));
      }
    }
    List<Integer> byElement = stores.stream().filter(s -> !isOfRow(s)).toList();
    for (int value : reductions) {
      lines.add("float s%d = %s;", value, values.isMaximum(value) ? "-INFINITE" : "0.0f");
    }
    for (int store : byElement) {
      if (spec.stores().get(store).reducesLanes()) {
        lines.add("float l%d = %s;", store, isMaximum(store) ? "-INFINITE" : "0.0f");
      }
    }
    if (!reductions.isEmpty() || !byElement.isEmpty()) {
      overRow(reductions, byElement);
    }
    for (int value : reductions) {
      String combined = values.isMaximum(value) ? "lanes_largest" : "lanes_total";
      lines.add("const float v%d = %s(s%d);", value, combined, value);
    }
    stores.forEach(this::finish);
  }

  /** The elements of the row: those that reductions need, and what is stored of each. */
  private void overRow(List<Integer> reductions, List<Integer> stores) {
    List<Integer> wanted = new ArrayList<>(reductions.stream().map(values::reduced).toList());
    stores.forEach(store -> wanted.add(spec.stores().get(store).value()));
    loop.openRow(lines, stores.stream().anyMatch(s -> !spec.stores().get(s).reducesLanes()));
    for (int value : values.closure(wanted, values.rows())) {
      if (values.isLoad(value)) {
        lines.add("const float v%d = i%d[%s];", value, value, loop.at(value, "j"));
      } else {
        lines.add("const float v%d = %s;", value, values.expression(value));
      }
    }
    for (int value : reductions) {
      String lane = "s" + value;
      String x = values.name(values.reduced(value));
      lines.add("%s = %s;", lane, combined(values.isMaximum(value), lane, x));
    }
    stores.forEach(this::element);
    lines.close();
  }

  private void element(int store) {
    Store to = spec.stores().get(store);
    String x = values.name(to.value());
    String at = loop.at(loads + store, "j");
    if (to.reducesLanes()) {
      lines.add("l%d = %s;", store, combined(isMaximum(store), "l" + store, x));
    } else if (loops.reduced()[store] > 0) {
      String place = "q" + store + "[" + loop.apart(loads + store, "j") + "]";
      lines.add("%s = %s;", place, combined(isMaximum(store), place, x));
    } else {
      lines.add("o%d[%s] = %s;", store, at, x);
    }
  }

  /** What a row gives as a whole. */
  private void finish(int store) {
    Store to = spec.stores().get(store);
    if (to.reducesLanes()) {
      String total = (isMaximum(store) ? "lanes_largest(l" : "lanes_total(l") + store + ")";
      lines.add("a%d = %s;", store, combined(isMaximum(store), "a" + store, total));
    } else if (isOfRow(store)) {
      String at = loop.at(loads + store, "0u");
      lines.add("if (lane == 0) o%d[%s] = %s;", store, at, values.name(to.value()));
    }
  }

  private static String combined(boolean isMaximum, String a, String b) {
    return isMaximum ? "t_max(" + a + ", " + b + ")" : a + " + " + b;
  }

  private boolean isMaximum(int store) {
    return spec.stores().get(store).mode() == Mode.MAX;
  }

  /** Whether the row stores one element, which is no reduction. */
  private boolean isOfRow(int store) {
    Store to = spec.stores().get(store);
    return to.mode() == Mode.WRITE && to.access() == Access.BROADCAST;
  }
}
