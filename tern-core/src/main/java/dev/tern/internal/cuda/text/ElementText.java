package dev.tern.internal.cuda.text;

import dev.tern.internal.kernel.KernelSpec;
import dev.tern.internal.kernel.KernelSpec.Mode;
import dev.tern.internal.kernel.KernelSpec.Store;
import dev.tern.internal.plan.Step;
import java.util.List;
import java.util.Set;

/** The body of a kernel whose threads take elements: loads, then values, then stores. */
final class ElementText {
  private final KernelSpec spec;
  private final Step.Loops loops;
  private final KernelValues values;
  private final LoopText loop;
  private final Lines lines;
  private final int loads;
  private final int rank;

  ElementText(KernelSpec spec, Step.Loops loops, KernelValues values, LoopText loop, Lines lines) {
    this.spec = spec;
    this.loops = loops;
    this.values = values;
    this.loop = loop;
    this.lines = lines;
    loads = spec.loads().size();
    rank = loops.sizes().length;
  }

  void print(List<Integer> stores, boolean isWide) {
    Set<Integer> needed =
        values.closure(stores.stream().map(s -> spec.stores().get(s).value()).toList(), Set.of());
    for (int value : needed) {
      if (values.isLoad(value)) {
        load(value, isWide);
      }
    }
    if (!isWide) {
      compute(needed);
      stores.forEach(store -> store(store));
      return;
    }
    stores.forEach(store -> lines.add("float4 r%d;", store));
    for (String part : List.of("x", "y", "z", "w")) {
      lines.open("");
      needed.stream()
          .filter(value -> values.isLoad(value) && isSideBySide(value))
          .forEach(value -> lines.add("const float v%d = w%d.%s;", value, value, part));
      compute(needed);
      stores.forEach(s -> lines.add("r%d.%s = %s;", s, part, result(s)));
      lines.close();
    }
    stores.forEach(s -> lines.add("*(float4*)(o%d + (%s)) = r%d;", s, loop.at(loads + s, ""), s));
  }

  private boolean isSideBySide(int load) {
    return loops.strides()[load][rank - 1] == 1;
  }

  private void load(int load, boolean isWide) {
    String at = loop.at(load, "");
    if (isWide && isSideBySide(load)) {
      lines.add("const float4 w%d = *(const float4*)(i%d + (%s));", load, load, at);
    } else {
      lines.add("const float v%d = i%d[%s];", load, load, at);
    }
  }

  private void compute(Set<Integer> needed) {
    needed.stream()
        .filter(value -> !values.isLoad(value))
        .forEach(value -> lines.add("const float v%d = %s;", value, values.expression(value)));
  }

  private String result(int store) {
    return values.name(spec.stores().get(store).value());
  }

  private void store(int store) {
    Store to = spec.stores().get(store);
    if (loops.reduced()[store] == 0) {
      lines.add("o%d[%s] = %s;", store, loop.at(loads + store, ""), result(store));
    } else if (to.mode() == Mode.MAX) {
      lines.add("a%d = t_max(a%d, %s);", store, store, result(store));
    } else {
      lines.add("a%d = a%d + %s;", store, store, result(store));
    }
  }
}
