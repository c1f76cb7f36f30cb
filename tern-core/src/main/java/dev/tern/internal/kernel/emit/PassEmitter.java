package dev.tern.internal.kernel.emit;

import dev.tern.internal.ir.Op;
import dev.tern.internal.kernel.KernelSpec;
import dev.tern.internal.kernel.KernelSpec.Access;
import dev.tern.internal.kernel.KernelSpec.Instruction;
import dev.tern.internal.kernel.KernelSpec.Mode;
import dev.tern.internal.kernel.KernelSpec.Store;
import dev.tern.internal.kernel.ReductionLanes;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;

/**
 * Writes one pass of a kernel over its inner loop. A vector kernel has three loops, a scalar kernel
 * the last one only:
 *
 * <pre>
 * start the accumulators
 * for (i = 0; i + step &lt;= n; i += step)      // several vectors at a time
 *   load, compute, store, accumulate
 * store the accumulators in lanes
 * for (; i + vector &lt;= n; i += vector)       // one vector at a time
 *   load, compute, store, add to the lanes
 * for (; i &lt; n; i++)                         // one element at a time
 *   load, compute, store, add to the lanes
 * </pre>
 *
 * <p>If the length is known ({@link KernelSpec#row()}), some lanes of one vector take the place of
 * the last loop, and a short pass of little work has no loop at all.
 *
 * <p>The accumulators of a reduction have {@link ReductionLanes#COUNT} lanes in all. The first loop
 * takes one vector for each accumulator. The others add to lanes in memory, because the JIT would
 * box vectors that go from one loop to the next. Where the first loop would be too much code, there
 * is only a loop that takes one vector at a time; it exchanges the accumulators after each.
 *
 * <p>Each op is a static call to {@code Pointwise}, which the JIT inlines, or a copy of the method
 * of {@code VectorOps}.
 */
final class PassEmitter extends KernelCode {
  /**
   * Locals of the method that the pass is written into: the strides, the length n of the inner
   * loop, the address of the lanes, the address where each operand and row of scratch memory
   * begins, and the row values, scalars among them.
   */
  record Frame(int strides, int n, int scratch, int[] places, int[] rows) {}

  /** Most ops and operands of a loop that takes two vectors at a time. */
  private static final int UNROLLED_WORK = 32;

  /** Most ops and operands, times vectors, of a pass without a loop. */
  private static final int STRAIGHT_WORK = 64;

  /** Most ops and operands, times vectors, of a loop that takes a vector for each accumulator. */
  private static final int REDUCED_WORK = 96;

  private final int phase;
  private final Frame frame;
  private final List<KernelPasses.Reduction> reductions;
  private final int[] starts;
  private final int offset;
  private final int[] scalarValues;
  private final int[] vectorValues;
  private final int[][] accumulators;
  private final int counter;

  /** Whether the code that is being written is for some lanes only. */
  private boolean isPart;

  PassEmitter(KernelCode caller, int phase, Frame frame) {
    super(caller);
    this.phase = phase;
    this.frame = frame;
    reductions = phases.reductions(phase);
    starts = locals(frame.places().length, TypeKind.LONG);
    offset = code.allocateLocal(TypeKind.LONG);
    scalarValues = locals(frame.rows().length, TypeKind.FLOAT);
    vectorValues = lanes > 1 ? locals(scalarValues.length, TypeKind.REFERENCE) : new int[0];
    accumulators = new int[lanes > 1 ? phases.reductions().size() : 0][];
    for (int r = 0; r < accumulators.length; r++) {
      accumulators[r] = locals(ReductionLanes.COUNT / lanes, TypeKind.REFERENCE);
    }
    counter = code.allocateLocal(TypeKind.INT);
  }

  void emit() {
    for (int place : phases.places(phase)) {
      code.lload(frame.places()[place]);
      checkAddress();
      frames.store(J, starts[place]);
    }
    for (int value : phases.rowsUsed(phase)) {
      scalarValues[value] = frame.rows()[value];
    }
    beginLanes();
    code.iconst_0();
    frames.store(I, counter);
    if (lanes > 1 && isStraight()) {
      straight();
    } else if (lanes > 1 && reductions.isEmpty()) {
      pointwiseLoops();
    } else if (lanes > 1) {
      reducingLoops();
    }
    if (lanes == 1 || spec.row() == 0) {
      elements(1, this::scalarElement);
    }
  }

  /** Whether the whole row is taken without a loop. */
  private boolean isStraight() {
    int vectors = (spec.row() + lanes - 1) / lanes;
    return spec.row() > 0 && phases.work(phase) * vectors <= STRAIGHT_WORK;
  }

  private void straight() {
    code.lconst_0().lstore(offset);
    rowVectors();
    int turn = ReductionLanes.COUNT / lanes;
    BiConsumer<KernelPasses.Reduction, Integer> add =
        (reduction, u) -> addToRegister(reduction, u % turn);
    int whole = spec.row() / lanes;
    for (int u = 0; u < whole; u++) {
      vectorElement(u, add);
    }
    someLanes(whole, add);
    flushAccumulators();
  }

  private void beginLanes() {
    for (KernelPasses.Reduction reduction : reductions) {
      if (lanes == 1) {
        lanesAddress(reduction.slot());
        code.loadConstant(reduction.mode() == Mode.SUM ? 0f : Float.NEGATIVE_INFINITY);
        code.invokestatic(LANES, "fill", MethodTypeDesc.of(V, J, F));
      } else {
        for (int accumulator : accumulators[reduction.slot()]) {
          startOf(reduction.mode());
          frames.store(VECTOR, accumulator);
        }
      }
    }
  }

  /** Stores the accumulators in lanes, the first at the lane that the next element belongs to. */
  private void flushAccumulators() {
    for (KernelPasses.Reduction reduction : reductions) {
      int[] set = accumulators[reduction.slot()];
      for (int u = 0; u < set.length; u++) {
        code.aload(set[u]);
        vector("known", VECTOR, VECTOR);
        if (reduction.mode() == Mode.MAX) {
          vector("ofKey", VECTOR, VECTOR);
        }
        laneAddress(reduction.slot(), u * lanes);
        vector("store", V, VECTOR, J);
      }
    }
  }

  /** Address of the lane that element {@code counter + ahead} belongs to. */
  private void laneAddress(int slot, int ahead) {
    lanesAddress(slot);
    code.iload(counter).loadConstant(ahead).iadd();
    code.loadConstant(ReductionLanes.COUNT - 1).iand().iconst_2().ishl().i2l().ladd();
  }

  /** A loop that takes {@code step} elements at a time while as many are left. */
  private void elements(int step, Runnable body) {
    frames.loop(
        end -> {
          code.iload(counter).loadConstant(step).iadd();
          length();
          code.if_icmpgt(end);
        },
        () -> {
          offset();
          body.run();
          code.iinc(counter, step);
        });
  }

  private void length() {
    if (spec.row() > 0) {
      code.loadConstant(spec.row());
    } else {
      code.iload(frame.n());
    }
  }

  /**
   * Whole vectors: two at a time, as the loop itself costs time, then one. Long code is not
   * doubled.
   */
  private void pointwiseLoops() {
    if (!isMuch()) {
      vectorLoop(2, this::addToRegister);
    }
    if (spec.row() == 0 || isMuch() || spec.row() / lanes % 2 > 0) {
      vectorLoop(1, this::addToRegister);
    }
    rest(this::addToRegister);
  }

  private void reducingLoops() {
    int turn = ReductionLanes.COUNT / lanes;
    boolean whole = phases.work(phase) * turn <= REDUCED_WORK;
    vectorLoop(whole ? turn : 1, whole ? this::addToRegister : this::addInTurn);
    flushAccumulators();
    if (whole && turn > 1 && (spec.row() == 0 || spec.row() / lanes % turn > 0)) {
      vectorLoop(1, this::addToMemory);
    }
    rest(this::addToMemory);
  }

  /** Whether two copies of the loop's body would be much work for the JIT. */
  private boolean isMuch() {
    return phases.work(phase) > UNROLLED_WORK;
  }

  /** The end of a row of known length that fills a vector in part. */
  private void rest(BiConsumer<KernelPasses.Reduction, Integer> add) {
    if (spec.row() % lanes > 0) {
      offset();
      rowVectors();
      someLanes(0, add);
    }
  }

  /** Vector {@code u} from the counter on, if a row of known length ends within it. */
  private void someLanes(int u, BiConsumer<KernelPasses.Reduction, Integer> add) {
    if (spec.row() % lanes > 0) {
      isPart = true;
      vectorElement(u, add);
      isPart = false;
    }
  }

  private void vectorLoop(int vectors, BiConsumer<KernelPasses.Reduction, Integer> add) {
    elements(
        lanes * vectors,
        () -> {
          rowVectors();
          for (int u = 0; u < vectors; u++) {
            vectorElement(u, add);
          }
        });
  }

  /**
   * Copies row values into all lanes of vectors. This stands in the loop, from where the JIT moves
   * it out. Before the loop, the JIT would box the vectors when a row is too short for the loop.
   */
  private void rowVectors() {
    for (int value : phases.rowsUsed(phase)) {
      code.fload(scalarValues[value]);
      vector("broadcast", VECTOR, F);
      code.astore(vectorValues[value]);
    }
  }

  private void vectorElement(int u, BiConsumer<KernelPasses.Reduction, Integer> add) {
    for (int value : phases.reads(phase)) {
      vectorLoad(phases.home(value), u);
      code.astore(vectorValues[value]);
    }
    List<Integer> computed = phases.computed(phase);
    Set<Integer> folded = new HashSet<>();
    computed.forEach(value -> folded.add(phases.comparisonOf(value, phase)));
    for (int value : computed) {
      if (phases.comparisonOf(value, phase) >= 0) {
        vectorChoice(value);
      } else if (!folded.contains(value)) {
        instruction(value, true);
      }
    }
    for (int value : phases.saved(phase)) {
      code.aload(vectorValues[value]);
      vectorStore(phases.home(value), u);
    }
    for (int s : phases.stores(phase)) {
      Store store = spec.stores().get(s);
      int operand = spec.loads().size() + s;
      code.aload(vectorValues[store.value()]);
      if (store.mode() != Mode.WRITE) {
        vectorLoad(operand, u);
        code.swap();
        insert(store.mode() == Mode.SUM ? "add" : "max", VECTOR, VECTOR, VECTOR);
      }
      vectorStore(operand, u);
    }
    reductions.forEach(reduction -> add.accept(reduction, u));
  }

  private void addToRegister(KernelPasses.Reduction reduction, int u) {
    int accumulator = accumulators[reduction.slot()][u];
    code.aload(accumulator);
    vector("known", VECTOR, VECTOR);
    code.aload(vectorValues[reduction.value()]);
    insert(reduction.mode() == Mode.SUM ? "add" : "raise", VECTOR, VECTOR, VECTOR);
    code.astore(accumulator);
  }

  /** Adds to the first accumulator, then moves it behind the others. */
  private void addInTurn(KernelPasses.Reduction reduction, int u) {
    addToRegister(reduction, u);
    int[] set = accumulators[reduction.slot()];
    for (int i = 0; i < set.length; i++) {
      code.aload(set[(i + 1) % set.length]);
    }
    for (int i = set.length - 1; i >= 0; i--) {
      code.astore(set[i]);
    }
  }

  private void addToMemory(KernelPasses.Reduction reduction, int u) {
    laneAddress(reduction.slot(), u * lanes);
    vector("load", VECTOR, J);
    code.aload(vectorValues[reduction.value()]);
    insert(reduction.mode() == Mode.SUM ? "add" : "max", VECTOR, VECTOR, VECTOR);
    laneAddress(reduction.slot(), u * lanes);
    vector("store", V, VECTOR, J);
  }

  private void vectorLoad(int place, int u) {
    elementAddress(place, u * lanes);
    insert("load", VECTOR, J);
  }

  private void vectorStore(int place, int u) {
    elementAddress(place, u * lanes);
    insert("store", V, VECTOR, J);
  }

  private void scalarElement() {
    for (int value : phases.reads(phase)) {
      scalarLoad(phases.home(value));
      code.fstore(scalarValues[value]);
    }
    for (int value : phases.computed(phase)) {
      instruction(value, false);
    }
    scalarStores();
  }

  private void scalarStores() {
    for (int value : phases.saved(phase)) {
      elementAddress(phases.home(value), 0);
      code.fload(scalarValues[value]);
      setFloat();
    }
    for (int s : phases.stores(phase)) {
      Store store = spec.stores().get(s);
      int operand = spec.loads().size() + s;
      elementAddress(operand, 0);
      if (store.mode() == Mode.WRITE) {
        code.fload(scalarValues[store.value()]);
      } else {
        scalarLoad(operand);
        code.fload(scalarValues[store.value()]);
        combine(store.mode());
      }
      setFloat();
    }
    for (KernelPasses.Reduction reduction : reductions) {
      code.fload(scalarValues[reduction.value()]);
      lanesAddress(reduction.slot());
      code.iload(counter);
      String name = reduction.mode() == Mode.SUM ? "sum" : "max";
      code.invokestatic(LANES, name, MethodTypeDesc.of(V, F, J, I));
    }
  }

  private void scalarLoad(int place) {
    elementAddress(place, 0);
    getFloat();
  }

  /** Writes the method of {@code VectorOps}, for some lanes where the vector is not full. */
  private void insert(String name, ClassDesc result, ClassDesc... arguments) {
    if (isPart) {
      someLanes(name, result, arguments);
    } else {
      vector(name, result, arguments);
    }
  }

  /** A choice by a comparison that nothing else reads: the blend takes its mask. */
  private void vectorChoice(int target) {
    Instruction comparison = spec.instruction(phases.comparisonOf(target, phase));
    List<Integer> choices = spec.instruction(target).arguments().subList(1, 3);
    comparison.arguments().forEach(argument -> code.aload(vectorValues[argument]));
    choices.forEach(argument -> code.aload(vectorValues[argument]));
    String name =
        switch (comparison.op()) {
          case Op.Binary.LT -> "selectLt";
          case Op.Binary.LE -> "selectLe";
          default -> "selectEq";
        };
    vector(name, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR);
    code.astore(vectorValues[target]);
  }

  private void instruction(int target, boolean vectors) {
    Instruction instruction = spec.instruction(target);
    TypeKind kind = vectors ? TypeKind.REFERENCE : TypeKind.FLOAT;
    int[] values = vectors ? vectorValues : scalarValues;
    instruction.arguments().forEach(argument -> code.loadLocal(kind, values[argument]));
    elementwise(instruction, vectors);
    code.storeLocal(kind, values[target]);
  }

  private void lanesAddress(int slot) {
    code.lload(frame.scratch());
    addLanes(slot);
  }

  /**
   * Computes the bytes from the start of a row to element {@code counter}. The mask tells the JIT
   * that they are not negative; as the row's address is checked too, accesses need no test.
   */
  private void offset() {
    code.iload(counter).loadConstant(Integer.MAX_VALUE).iand().i2l().iconst_2().lshl();
    code.lstore(offset);
  }

  /** Address of element {@code counter + ahead} of a place. */
  private void elementAddress(int place, int ahead) {
    code.lload(starts[place]);
    if (access(place) == Access.STRIDED) {
      code.iload(counter).i2l();
      code.aload(frame.strides()).loadConstant(3 * place + 2).laload().lmul();
    } else {
      code.lload(offset);
    }
    code.ladd();
    if (ahead > 0) {
      code.loadConstant((long) ahead * Float.BYTES).ladd();
    }
  }
}
