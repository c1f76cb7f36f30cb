package dev.tern.internal.kernel.emit;

import dev.tern.internal.ir.Op;
import dev.tern.internal.kernel.KernelSpec;
import dev.tern.internal.kernel.KernelSpec.Access;
import dev.tern.internal.kernel.KernelSpec.Instruction;
import dev.tern.internal.kernel.KernelSpec.Mode;
import dev.tern.internal.kernel.KernelSpec.Store;
import dev.tern.internal.kernel.ReductionLanes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * What each pass over the inner loop does. A value that depends on a reduction over the inner loop
 * belongs to a later pass than the input of the reduction. For example, softmax takes three passes
 * over a row, which stays in the cache meanwhile: the maximum, the sum of the powers, the
 * quotients.
 *
 * <p>Values are of two kinds: elements, and <em>row values</em>, one for the whole inner loop. A
 * later pass computes an element anew where that takes one cheap op on what it loads. Any other
 * element is kept: it is read back from where it was stored, or from a row of scratch memory.
 */
final class KernelPasses {
  /** A reduction over the inner loop in lanes, at {@code slot} of the scratch memory. */
  record Reduction(int value, Mode mode, int slot, int phase) {}

  private static final int FUNCTION_WORK = 32;

  private final KernelSpec spec;
  private final int firstInstruction;
  private final int[] phase;
  private final boolean[] row;
  private final boolean[] kept;
  private final int count;
  private final List<TreeSet<Integer>> needed = new ArrayList<>();
  private final List<Reduction> reductions = new ArrayList<>();
  private final List<Integer> scratch = new ArrayList<>();

  KernelPasses(KernelSpec spec) {
    this.spec = spec;
    firstInstruction = spec.loads().size() + spec.scalars();
    int values = firstInstruction + spec.instructions().size();
    phase = new int[values];
    row = new boolean[values];
    kept = new boolean[values];
    for (int v = 0; v < values; v++) {
      assign(v);
    }
    collectReductions();
    int last = 0;
    for (Store store : spec.stores()) {
      last = Math.max(last, isRowStore(store) ? 0 : phase[store.value()]);
    }
    for (Reduction reduction : reductions) {
      last = Math.max(last, reduction.phase());
    }
    count = last + 1;
    for (int p = 0; p < count; p++) {
      needed.add(new TreeSet<>());
    }
    for (int p = count - 1; p >= 0; p--) {
      findNeeded(p);
    }
    for (int v = firstInstruction; v < values; v++) {
      if (kept[v] && storeOf(v) < 0) {
        scratch.add(v);
      }
    }
  }

  private void assign(int value) {
    if (value < firstInstruction) {
      row[value] = value >= spec.loads().size() || spec.loads().get(value) == Access.BROADCAST;
      return;
    }
    Instruction instruction = spec.instruction(value);
    row[value] = true;
    for (int argument : instruction.arguments()) {
      phase[value] = Math.max(phase[value], phase[argument]);
      row[value] &= row[argument];
    }
    if (isReduction(value)) {
      row[value] = true;
      phase[value]++;
    }
  }

  private void collectReductions() {
    for (Store store : spec.stores()) {
      if (store.reducesLanes()) {
        int value = store.value();
        reductions.add(new Reduction(value, store.mode(), reductions.size(), phase[value]));
      }
    }
    for (int v = firstInstruction; v < phase.length; v++) {
      if (isReduction(v)) {
        Op.Reduce op = (Op.Reduce) spec.instruction(v).op();
        Mode mode = op.kind() == Op.Reduce.Kind.SUM ? Mode.SUM : Mode.MAX;
        int value = spec.instruction(v).arguments().get(0);
        reductions.add(new Reduction(value, mode, reductions.size(), phase[v] - 1));
      }
    }
  }

  private void findNeeded(int p) {
    for (Store store : spec.stores()) {
      if (!isRowStore(store) && phase[store.value()] == p) {
        need(store.value(), p);
      }
    }
    for (Reduction reduction : reductions) {
      if (reduction.phase() == p) {
        need(reduction.value(), p);
      }
    }
    for (int v = firstInstruction; v < kept.length; v++) {
      if (kept[v] && phase[v] == p) {
        need(v, p);
      }
    }
  }

  private void need(int value, int p) {
    if (row[value] || !needed.get(p).add(value) || value < firstInstruction) {
      return;
    }
    if (phase[value] < p && !isCheap(value)) {
      kept[value] = true;
      return;
    }
    spec.instruction(value).arguments().forEach(argument -> need(argument, p));
  }

  /** Whether the value is one op that costs no more than to read its result back. */
  private boolean isCheap(int value) {
    Instruction instruction = spec.instruction(value);
    boolean slow =
        instruction.op().isPolynomial()
            || instruction.op() == Op.Binary.DIV
            || instruction.op() == Op.Unary.RECIPROCAL
            || instruction.op() == Op.Unary.SQRT
            || instruction.op() == Op.Unary.RSQRT;
    return !slow && instruction.arguments().stream().allMatch(a -> row[a] || a < firstInstruction);
  }

  private boolean isReduction(int value) {
    return value >= firstInstruction && spec.instruction(value).op() instanceof Op.Reduce;
  }

  private boolean isRowStore(Store store) {
    return store.mode() == Mode.WRITE && store.access() == Access.BROADCAST;
  }

  /** Passes over the inner loop. */
  int count() {
    return count;
  }

  /** Loads that pass {@code p} reads element by element. */
  List<Integer> loads(int p) {
    return needed.get(p).stream().filter(v -> v < spec.loads().size()).toList();
  }

  /**
   * The comparison that pass {@code p} computes only for {@code value}, which chooses by it between
   * two other values; -1 if there is none. Its result then need not exist as numbers.
   */
  int comparisonOf(int value, int p) {
    if (spec.instruction(value).op() != Op.Ternary.SELECT) {
      return -1;
    }
    int condition = spec.instruction(value).arguments().get(0);
    boolean isHere = condition >= firstInstruction && computed(p).contains(condition);
    return isHere && isComparison(condition) && uses(condition) == 1 ? condition : -1;
  }

  private boolean isComparison(int value) {
    Op op = spec.instruction(value).op();
    return op == Op.Binary.LT || op == Op.Binary.LE || op == Op.Binary.EQ;
  }

  /** How often a value is an argument or stored, in all passes. */
  private long uses(int value) {
    long stored = spec.stores().stream().filter(store -> store.value() == value).count();
    return stored
        + spec.instructions().stream()
            .flatMap(instruction -> instruction.arguments().stream())
            .filter(argument -> argument == value)
            .count();
  }

  /** Elements that an earlier pass computed and pass {@code p} reads back. */
  List<Integer> reloaded(int p) {
    return needed.get(p).stream().filter(v -> kept[v] && phase[v] < p).toList();
  }

  /** Elements that pass {@code p} computes, in order. */
  List<Integer> computed(int p) {
    return needed.get(p).stream()
        .filter(v -> v >= firstInstruction && !(kept[v] && phase[v] < p))
        .toList();
  }

  /** Elements that pass {@code p} writes to scratch memory. */
  List<Integer> saved(int p) {
    return scratch.stream().filter(v -> phase[v] == p).toList();
  }

  /** Indexes of the stores that pass {@code p} writes or adds to element by element. */
  List<Integer> stores(int p) {
    List<Integer> found = new ArrayList<>();
    for (int s = 0; s < spec.stores().size(); s++) {
      Store store = spec.stores().get(s);
      if (!isRowStore(store) && !store.reducesLanes() && phase[store.value()] == p) {
        found.add(s);
      }
    }
    return found;
  }

  /** Reductions over the inner loop that pass {@code p} does. */
  List<Reduction> reductions(int p) {
    return reductions.stream().filter(reduction -> reduction.phase() == p).toList();
  }

  /** All reductions over the inner loop. */
  List<Reduction> reductions() {
    return reductions;
  }

  /**
   * Row values that are computed before pass {@code p}, results of reductions first; with {@code p
   * == count()}, the row values after the last pass.
   */
  List<Integer> rowValues(int p) {
    List<Integer> found = new ArrayList<>();
    for (int v = firstInstruction; v < phase.length; v++) {
      if (row[v] && phase[v] == p) {
        found.add(v);
      }
    }
    return found;
  }

  /** Loads of one number for each row, from which row values are computed. */
  Set<Integer> gathered() {
    Set<Integer> found = new TreeSet<>();
    for (int v = firstInstruction; v < phase.length; v++) {
      if (row[v] && !isReduction(v)) {
        found.addAll(spec.instruction(v).arguments());
      }
    }
    found.removeIf(value -> value >= spec.loads().size());
    return found;
  }

  /**
   * Bytes of the row values of a block: {@link ReductionLanes#COUNT} numbers for each that is kept.
   */
  int rowValueBytes() {
    return ReductionLanes.BYTES * keptRowValues().size();
  }

  /** Bytes from the first row value of a block to those of {@code value}. */
  long rowValueAt(int value) {
    return (long) ReductionLanes.BYTES * keptRowValues().indexOf(value);
  }

  private List<Integer> keptRowValues() {
    List<Integer> found = new ArrayList<>(gathered());
    for (int v = firstInstruction; v < phase.length; v++) {
      if (row[v]) {
        found.add(v);
      }
    }
    return found;
  }

  /** Indexes of the stores of row values. */
  List<Integer> rowStores() {
    List<Integer> found = new ArrayList<>();
    for (int s = 0; s < spec.stores().size(); s++) {
      if (isRowStore(spec.stores().get(s))) {
        found.add(s);
      }
    }
    return found;
  }

  /** Row values, scalars among them, that pass {@code p} uses with elements. */
  Set<Integer> rowsUsed(int p) {
    Set<Integer> used = new TreeSet<>();
    computed(p).forEach(value -> used.addAll(spec.instruction(value).arguments()));
    stores(p).forEach(store -> used.add(spec.stores().get(store).value()));
    reductions(p).forEach(reduction -> used.add(reduction.value()));
    used.removeIf(value -> !row[value]);
    return used;
  }

  /** Operands, and rows of scratch memory, that pass {@code p} reads or writes by element. */
  Set<Integer> places(int p) {
    Set<Integer> places = new TreeSet<>(loads(p));
    reloaded(p).forEach(value -> places.add(home(value)));
    saved(p).forEach(value -> places.add(home(value)));
    stores(p).forEach(store -> places.add(spec.loads().size() + store));
    return places;
  }

  /** Ops and operands of pass {@code p} for one vector; functions count as many. */
  int work(int p) {
    int work = places(p).size();
    for (int value : computed(p)) {
      work += spec.instruction(value).op().isPolynomial() ? FUNCTION_WORK : 1;
    }
    return work;
  }

  /** The slot of the reduction that gives row value {@code value}; -1 if an op gives it. */
  int slotOf(int value) {
    if (!isReduction(value)) {
      return -1;
    }
    int slot = (int) spec.stores().stream().filter(Store::reducesLanes).count();
    for (int v = firstInstruction; v < value; v++) {
      slot += isReduction(v) ? 1 : 0;
    }
    return slot;
  }

  /** The place that a kept element is read back from: an operand, or a row of scratch memory. */
  int home(int value) {
    int store = storeOf(value);
    return store >= 0 ? spec.loads().size() + store : spec.operands() + scratch.indexOf(value);
  }

  /** Bytes of the lanes of a row. */
  int laneBytes() {
    return ReductionLanes.BYTES * reductions.size();
  }

  /** Bytes of scratch memory that a kernel needs for an inner loop of {@code n} elements. */
  long scratchBytes(int n) {
    if (count == 1) {
      return laneBytes();
    }
    long rowBytes = (n + ReductionLanes.COUNT - 1L) / ReductionLanes.COUNT * ReductionLanes.BYTES;
    return ReductionLanes.rowsAtATime(n) * (laneBytes() + scratchRows() * rowBytes)
        + rowValueBytes();
  }

  /** Rows of scratch memory. */
  int scratchRows() {
    return scratch.size();
  }

  /** The store that writes the value to neighbouring elements, or -1. */
  private int storeOf(int value) {
    for (int s = 0; s < spec.stores().size(); s++) {
      Store store = spec.stores().get(s);
      if (store.value() == value
          && store.mode() == Mode.WRITE
          && store.access() == Access.CONTIGUOUS) {
        return s;
      }
    }
    return -1;
  }
}
