package dev.tern.internal.cuda.text;

import dev.tern.base.DType;
import dev.tern.internal.plan.Plan;
import dev.tern.internal.plan.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The CUDA C++ of a plan: the kernels that are written for its steps. Plans of equal steps have
 * equal text, whatever the addresses of their memory.
 *
 * @param text empty where all steps are fixed kernels
 * @param launches by step, the launches of its kernels in order; none for a step without any
 */
public record PlanText(String text, List<List<FusedLaunch>> launches) {
  private static final int ALIGNMENT = 16;

  public PlanText {
    launches = launches.stream().map(List::copyOf).toList();
  }

  /** The text of a plan alone. Storages begin at multiples of {@value #ALIGNMENT} bytes. */
  public static PlanText of(Plan plan) {
    return of(plan, "step");
  }

  /** The same, to be compiled with those of other plans: names of kernels begin with the prefix. */
  public static PlanText of(Plan plan, String prefix) {
    StringBuilder text = new StringBuilder();
    List<List<FusedLaunch>> launches = new ArrayList<>();
    for (int i = 0; i < plan.steps().size(); i++) {
      String name = prefix + i;
      switch (plan.steps().get(i)) {
        case Step.Fused step when step.loops().elements() > 0 -> {
          FusedText fused = new FusedText(name, step, isAligned(plan, step));
          text.append("\n// ").append(step.label()).append('\n').append(fused.text());
          launches.add(fused.launches());
        }
        case Step.Cast step when step.elements() > 0 -> {
          text.append(cast(name, step));
          long inner = step.elements() / outermost(step);
          launches.add(
              List.of(new FusedLaunch(name, FusedLaunch.Form.ELEMENT, inner, true, false)));
        }
        case Step.MatMulThen step ->
            throw new IllegalArgumentException(
                "cuda: got " + step.label() + ", expected two steps");
        default -> launches.add(List.of());
      }
    }
    return new PlanText(text.toString(), launches);
  }

  private static boolean isAligned(Plan plan, Step.Fused step) {
    return step.operands().stream()
        .allMatch(place -> {
          int own = place.storage() - plan.leaves().length;
          long base = own < 0 ? 0 : plan.offsets()[own];
          return (Math.max(0, base) + place.offset()) % ALIGNMENT == 0;
        });
  }

  /** A conversion of strided elements; one to the same type moves bits. */
  private static String cast(String name, Step.Cast step) {
    Lines lines = new Lines();
    lines.add("");
    lines.open(
        "extern \"C\" __global__ void __launch_bounds__(256) %s(const void* in, void* out, u32 n0)",
        name);
    int rank = step.sizes().length;
    long inner = step.elements() / outermost(step);
    lines.add("const u32 count = n0 * %du;", inner);
    lines.open("EACH(e, count)");
    lines.add("u32 x = e;");
    lines.add("i64 from = 0;");
    lines.add("i64 to = 0;");
    for (int axis = rank - 1; axis >= 0; axis--) {
      String index = axis == 0 ? "x" : "x % " + step.sizes()[axis] + "u";
      lines.add("from += (i64)(%s) * %d;", index, step.in().strides()[axis]);
      lines.add("to += (i64)(%s) * %d;", index, step.out().strides()[axis]);
      if (axis > 0) {
        lines.add("x /= %du;", step.sizes()[axis]);
      }
    }
    if (step.from() == step.to()) {
      String type = step.from().bytes() == 2 ? "short" : step.from().bytes() == 4 ? "int" : "i64";
      lines.add("((%s*)out)[to] = ((const %s*)in)[from];", type, type);
    } else {
      lines.add("store_%s(out, to, load_%s(in, from));", lower(step.to()), lower(step.from()));
    }
    lines.close();
    lines.close();
    return lines.toString();
  }

  /** The outermost size of a conversion; 1 for a single number. */
  public static int outermost(Step.Cast step) {
    return step.sizes().length == 0 ? 1 : step.sizes()[0];
  }

  private static String lower(DType type) {
    return type.name().toLowerCase(Locale.ROOT);
  }
}
