package dev.tern.internal.kernel.emit;

import dev.tern.internal.ir.Op;
import dev.tern.internal.kernel.KernelSpec;
import dev.tern.internal.kernel.KernelSpec.Access;
import dev.tern.internal.kernel.KernelSpec.Instruction;
import dev.tern.internal.kernel.KernelSpec.Mode;
import dev.tern.internal.kernel.KernelSpec.Store;
import dev.tern.internal.kernel.ReductionLanes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntPredicate;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * What each pass over the inner loop does. A value that depends on a reduction over the inner loop
 * is computed in a later pass than the input of the reduction. For example, softmax takes three
 * passes over a row: the maximum, the sum of the powers, the quotients. The row stays in the cache
 * meanwhile.
 *
 * <p>A value is either one number for each element, or a <em>row value</em>: one number for the
 * whole inner loop. Where a later pass needs an element of an earlier one, it computes the element
 * again if that takes a few cheap ops on loads. It reads any other back from where it was stored,
 * or from a row of scratch memory.
 */
final class KernelPasses {
  /** A reduction of a value in pass {@code phase}; its lanes are number {@code slot} of the row. */
  record Reduction(int value, Mode mode, int slot, int phase) {}

  /** Ops, beside functions such as exp, that cost more than to read a number. */
  private static final Set<Op> SLOW =
      Set.of(Op.Binary.DIV, Op.Unary.RECIPROCAL, Op.Unary.SQRT, Op.Unary.RSQRT);

  private static final Set<Op> COMPARISONS = Set.of(Op.Binary.LT, Op.Binary.LE, Op.Binary.EQ);

  /** Ops that a function such as exp counts as. */
  private static final int FUNCTION_WORK = 32;

  /** Ops that a load or store counts as, beside others that are computed again. */
  private static final int ACCESS_WORK = 2;

  /** Ops that it counts as to store a value in one pass and load it in another. */
  private static final int KEEPING_WORK = 3 * ACCESS_WORK;

  private final KernelSpec spec;
  private final int firstInstruction;
  private final int[] phase;
  private final boolean[] row;

  /** Whether later passes read the value back. */
  private final boolean[] kept;

  private final int count;
  private final List<TreeSet<Integer>> needed = new ArrayList<>();
  private final List<Reduction> reductions = new ArrayList<>();

  /** Slots of the reductions that are instructions. */
  private final Map<Integer, Integer> slots = new HashMap<>();

  /** Values that have a row of scratch memory. */
  private final List<Integer> scratch;

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
    IntStream stores =
        spec.stores().stream().filter(s -> !isRowStore(s)).mapToInt(s -> phase[s.value()]);
    IntStream reduced = reductions.stream().mapToInt(Reduction::phase);
    count = 1 + IntStream.concat(stores, reduced).max().orElse(0);
    for (int p = 0; p < count; p++) {
      needed.add(new TreeSet<>());
    }
    for (int p = count - 1; p >= 0; p--) {
      findNeeded(p);
    }
    scratch = results(v -> kept[v] && storeOf(v) < 0);
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
    for (int v : results(this::isReduction)) {
      Op.Reduce op = (Op.Reduce) spec.instruction(v).op();
      Mode mode = op.kind() == Op.Reduce.Kind.SUM ? Mode.SUM : Mode.MAX;
      int value = spec.instruction(v).arguments().get(0);
      slots.put(v, reductions.size());
      reductions.add(new Reduction(value, mode, reductions.size(), phase[v] - 1));
    }
  }

  /** Finds what pass {@code p} needs; later passes have marked what it must keep. */
  private void findNeeded(int p) {
    storesThat(store -> !isRowStore(store) && phase[store.value()] == p)
        .forEach(s -> need(spec.stores().get(s).value(), p));
    reductions(p).forEach(reduction -> need(reduction.value(), p));
    results(v -> kept[v] && phase[v] == p).forEach(v -> need(v, p));
  }

  /** Results of instructions that pass a test, in order. */
  private List<Integer> results(IntPredicate test) {
    return IntStream.range(firstInstruction, phase.length).filter(test).boxed().toList();
  }

  /** Indexes of the stores that pass a test. */
  private List<Integer> storesThat(Predicate<Store> test) {
    return IntStream.range(0, spec.stores().size())
        .filter(s -> test.test(spec.stores().get(s)))
        .boxed()
        .toList();
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

  /**
   * Whether it costs no more to compute the value again, from loads and row values, than to read it
   * back, which takes a load, and to keep it before, which takes a store unless somebody else wants
   * the value there. A load or store counts as two ops. One op never costs more.
   */
  private boolean isCheap(int value) {
    Set<Integer> again = new HashSet<>();
    if (!takesCheapOps(value, again)) {
      return false;
    }
    long loads = again.stream().filter(v -> v < firstInstruction).count();
    long ops = again.size() - loads;
    return ops == 1 || storeOf(value) < 0 && ACCESS_WORK * loads + ops <= KEEPING_WORK;
  }

  /** Collects the loads and ops that give a value; false where one of the ops is slow. */
  private boolean takesCheapOps(int value, Set<Integer> found) {
    if (row[value] || !found.add(value) || value < firstInstruction) {
      return true;
    }
    Instruction instruction = spec.instruction(value);
    return !instruction.op().isPolynomial()
        && !SLOW.contains(instruction.op())
        && instruction.arguments().stream().allMatch(a -> takesCheapOps(a, found));
  }

  private boolean isReduction(int value) {
    return value >= firstInstruction && spec.instruction(value).op() instanceof Op.Reduce;
  }

  /** Whether one number is stored for each row. */
  private boolean isRowStore(Store store) {
    return store.mode() == Mode.WRITE && store.access() == Access.BROADCAST;
  }

  /** Number of passes over the inner loop. */
  int count() {
    return count;
  }

  /** Elements that pass {@code p} reads from their {@link #home}: loads and kept values. */
  List<Integer> reads(int p) {
    return needed.get(p).stream().filter(v -> isRead(v, p)).toList();
  }

  private boolean isRead(int value, int p) {
    return value < firstInstruction || kept[value] && phase[value] < p;
  }

  /**
   * If {@code value} is a {@code SELECT} by a comparison that pass {@code p} computes and nothing
   * else reads, the value of this comparison; otherwise -1. Such a comparison needs no result in
   * numbers.
   */
  int comparisonOf(int value, int p) {
    if (spec.instruction(value).op() != Op.Ternary.SELECT) {
      return -1;
    }
    int condition = spec.instruction(value).arguments().get(0);
    boolean isHere = condition >= firstInstruction && computed(p).contains(condition);
    boolean isComparison = isHere && COMPARISONS.contains(spec.instruction(condition).op());
    return isComparison && uses(condition) == 1 ? condition : -1;
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

  /** Elements that pass {@code p} computes, in order. */
  List<Integer> computed(int p) {
    return needed.get(p).stream().filter(v -> !isRead(v, p)).toList();
  }

  /** Elements that pass {@code p} writes to scratch memory. */
  List<Integer> saved(int p) {
    return scratch.stream().filter(v -> phase[v] == p).toList();
  }

  /** Indexes of the stores that pass {@code p} writes or adds to element by element. */
  List<Integer> stores(int p) {
    return storesThat(
        store -> !isRowStore(store) && !store.reducesLanes() && phase[store.value()] == p);
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
    return results(v -> row[v] && phase[v] == p);
  }

  /** Loads of one number for each row, from which row values are computed. */
  Set<Integer> gathered() {
    Set<Integer> found = new TreeSet<>();
    results(v -> row[v] && !isReduction(v))
        .forEach(v -> found.addAll(spec.instruction(v).arguments()));
    found.removeIf(value -> value >= spec.loads().size());
    return found;
  }

  /** Bytes of the row values of a block: {@link ReductionLanes#COUNT} numbers for each. */
  int rowValueBytes() {
    return ReductionLanes.BYTES * keptRowValues().size();
  }

  /** Bytes from the row values of a block to the numbers of {@code value}. */
  long rowValueAt(int value) {
    return (long) ReductionLanes.BYTES * keptRowValues().indexOf(value);
  }

  private List<Integer> keptRowValues() {
    List<Integer> found = new ArrayList<>(gathered());
    found.addAll(results(v -> row[v]));
    return found;
  }

  /** Indexes of the stores of row values. */
  List<Integer> rowStores() {
    return storesThat(this::isRowStore);
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
    Set<Integer> places = new TreeSet<>();
    reads(p).forEach(value -> places.add(home(value)));
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

  /** Ops and operands of all passes for one vector. */
  int work() {
    return IntStream.range(0, count).map(this::work).sum();
  }

  /** The slot of the reduction that gives row value {@code value}; -1 if an op gives it. */
  int slotOf(int value) {
    return slots.getOrDefault(value, -1);
  }

  /** The place that an element is read from: an operand, or a row of scratch memory. */
  int home(int value) {
    if (value < firstInstruction) {
      return value;
    }
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

  /** Number of rows of scratch memory. */
  int scratchRows() {
    return scratch.size();
  }

  /** The store that writes the value to neighbouring elements, or -1. */
  private int storeOf(int value) {
    Store wanted = new Store(value, Mode.WRITE, Access.CONTIGUOUS);
    return spec.stores().indexOf(wanted);
  }
}
