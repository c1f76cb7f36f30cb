package dev.tern.internal.cuda.text;

import dev.tern.internal.ir.Op;
import dev.tern.internal.kernel.KernelSpec;
import dev.tern.internal.kernel.KernelSpec.Access;
import dev.tern.internal.kernel.KernelSpec.Store;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.Set;
import java.util.SortedSet;
import java.util.StringJoiner;
import java.util.TreeSet;

/**
 * The values of a kernel: what each depends on, and how C++ names it. A value is one number for
 * each element, or a <em>row value</em>: one number for the whole inner loop. Its phase counts the
 * reductions over the inner loop that come before it.
 */
final class KernelValues {
  private final KernelSpec spec;
  private final int loads;
  private final int firstInstruction;
  private final int[] phase;
  private final boolean[] row;

  KernelValues(KernelSpec spec) {
    this.spec = spec;
    loads = spec.loads().size();
    firstInstruction = loads + spec.scalars();
    phase = new int[spec.values()];
    row = new boolean[spec.values()];
    for (int value = 0; value < phase.length; value++) {
      assign(value);
    }
  }

  private void assign(int value) {
    if (value < firstInstruction) {
      row[value] = value >= loads || spec.loads().get(value) == Access.BROADCAST;
      return;
    }
    row[value] = true;
    for (int argument : spec.instruction(value).arguments()) {
      phase[value] = Math.max(phase[value], phase[argument]);
      row[value] &= row[argument];
    }
    if (isReduction(value)) {
      row[value] = true;
      phase[value]++;
    }
  }

  boolean isLoad(int value) {
    return value < loads;
  }

  boolean isRow(int value) {
    return row[value];
  }

  int phase(int value) {
    return phase[value];
  }

  /** Whether the value is a reduction over the inner loop. */
  boolean isReduction(int value) {
    return value >= firstInstruction && spec.instruction(value).op() instanceof Op.Reduce;
  }

  /** Whether such a value is a maximum; others are sums. */
  boolean isMaximum(int value) {
    return spec.instruction(value).op() instanceof Op.Reduce reduce
        && reduce.kind() == Op.Reduce.Kind.MAX;
  }

  /** The value that a reduction reduces. */
  int reduced(int value) {
    return spec.instruction(value).arguments().getFirst();
  }

  /** Whether a store of these needs row values of reductions, or is one itself. */
  boolean needsLanes(Collection<Store> stores) {
    return stores.stream().anyMatch(Store::reducesLanes)
        || closure(stores.stream().map(Store::value).toList(), Set.of()).stream()
            .anyMatch(this::isReduction);
  }

  /** The loads and results that these values are computed from, themselves included, in order. */
  SortedSet<Integer> closure(Collection<Integer> roots, Set<Integer> known) {
    SortedSet<Integer> found = new TreeSet<>();
    Deque<Integer> open = new ArrayDeque<>(roots);
    while (!open.isEmpty()) {
      int value = open.pop();
      if (!spec.isScalar(value) && !known.contains(value) && found.add(value) && !isLoad(value)) {
        open.addAll(spec.instruction(value).arguments());
      }
    }
    return found;
  }

  /** Row values. */
  Set<Integer> rows() {
    Set<Integer> rows = new TreeSet<>();
    for (int value = 0; value < row.length; value++) {
      if (row[value]) {
        rows.add(value);
      }
    }
    return rows;
  }

  /** The name of a value. */
  String name(int value) {
    return spec.isScalar(value) ? "c" + (value - loads) : "v" + value;
  }

  /** The expression of an instruction that is no reduction. */
  String expression(int value) {
    KernelSpec.Instruction instruction = spec.instruction(value);
    StringJoiner arguments = new StringJoiner(", ", "t_" + instruction.method() + "(", ")");
    instruction.arguments().forEach(argument -> arguments.add(name(argument)));
    return arguments.toString();
  }
}
