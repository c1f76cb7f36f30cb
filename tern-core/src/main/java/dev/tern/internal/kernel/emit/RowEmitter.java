package dev.tern.internal.kernel.emit;

import dev.tern.internal.kernel.KernelSpec;
import dev.tern.internal.kernel.KernelSpec.Instruction;
import dev.tern.internal.kernel.KernelSpec.Mode;
import dev.tern.internal.kernel.KernelSpec.Store;
import dev.tern.internal.kernel.ReductionLanes;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.util.Arrays;
import java.util.List;

/**
 * Writes the passes of a kernel of little work over short rows of a known length, {@link
 * KernelSpec#row()}. The code has no loop: it holds the row in vectors from the first pass to the
 * last, so each element is loaded and computed once. Elements go to the same {@link ReductionLanes}
 * as in the loops of {@link PassEmitter}, so results have the same bits.
 */
final class RowEmitter extends KernelCode {
  /** Most ops and operands of all passes, times vectors: the JIT is slow on longer code. */
  private static final int MOST_WORK = 96;

  /** Ops that a maximum costs for each vector. */
  private static final int MAX_WORK = 4;

  /** Ops that it costs to combine the lanes of a reduction. */
  private static final int COMBINE_WORK = 8;

  private static final int NONE = -1;

  private final int scratch;
  private final int[] rows;
  private final int[] starts;

  /** The local of each vector of each value; {@link #NONE} where the row at hand has none yet. */
  private final int[][] vectors;

  /** Takes the locals of the address of the lanes, and of row values, scalars among them. */
  RowEmitter(KernelCode caller, int scratch, int[] rows) {
    super(caller);
    this.scratch = scratch;
    this.rows = rows;
    starts = locals(spec.operands(), TypeKind.LONG);
    vectors = new int[spec.values()][vectors(spec, lanes)];
  }

  /** Vectors that hold a row, the last perhaps in part. */
  private static int vectors(KernelSpec spec, int lanes) {
    return (spec.row() + lanes - 1) / lanes;
  }

  /** Whether the rows of a kernel are held in vectors. */
  static boolean takes(KernelSpec spec, KernelPasses phases, int lanes) {
    if (spec.row() == 0 || lanes == 1) {
      return false;
    }
    int work = phases.work();
    for (KernelPasses.Reduction reduction : phases.reductions()) {
      work += reduction.mode() == Mode.SUM ? 1 : MAX_WORK;
    }
    int combining = COMBINE_WORK * phases.reductions().size();
    return work * vectors(spec, lanes) + combining <= MOST_WORK;
  }

  /** Begins a row; {@code at} are the locals of the operands' addresses. */
  void begin(int[] at) {
    for (int[] each : vectors) {
      Arrays.fill(each, NONE);
    }
    for (int k = 0; k < starts.length; k++) {
      code.lload(at[k]);
      checkAddress();
      code.lstore(starts[k]);
    }
  }

  /** One pass; the row values that it needs have been computed. */
  void pass(int phase) {
    for (int value : phases.rowsUsed(phase)) {
      if (vectors[value][0] == NONE) {
        Arrays.fill(vectors[value], broadcast(rows[value]));
      }
    }
    List<KernelPasses.Reduction> reductions = phases.reductions(phase);
    int[][] accumulators = new int[reductions.size()][ReductionLanes.COUNT / lanes];
    for (int r = 0; r < accumulators.length; r++) {
      begin(accumulators[r], reductions.get(r).mode());
    }
    for (int u = 0; u < vectors(spec, lanes); u++) {
      elements(phase, u);
      for (int r = 0; r < accumulators.length; r++) {
        int accumulator = accumulators[r][u % accumulators[r].length];
        code.aload(accumulator).aload(vectors[reductions.get(r).value()][u]);
        boolean sum = reductions.get(r).mode() == Mode.SUM;
        insertFor(u, sum ? "add" : "raise", VECTOR, VECTOR, VECTOR);
        code.astore(accumulator);
      }
    }
    for (int r = 0; r < accumulators.length; r++) {
      end(accumulators[r], reductions.get(r));
    }
  }

  private int broadcast(int row) {
    code.fload(row);
    vector("broadcast", VECTOR, F);
    return stored();
  }

  private void begin(int[] accumulators, Mode mode) {
    for (int u = 0; u < accumulators.length; u++) {
      startOf(mode);
      accumulators[u] = stored();
    }
  }

  private void end(int[] accumulators, KernelPasses.Reduction reduction) {
    for (int u = 0; u < accumulators.length; u++) {
      code.aload(accumulators[u]);
      if (reduction.mode() == Mode.MAX) {
        vector("ofKey", VECTOR, VECTOR);
      }
      long lane = (long) reduction.slot() * ReductionLanes.COUNT + (long) u * lanes;
      code.lload(scratch).loadConstant(lane * Float.BYTES).ladd();
      vector("store", V, VECTOR, J);
    }
  }

  private void elements(int phase, int u) {
    for (int value : phases.reads(phase)) {
      if (vectors[value][u] == NONE) {
        load(value, u);
        vectors[value][u] = stored();
      }
    }
    for (int value : phases.computed(phase)) {
      if (vectors[value][u] == NONE) {
        compute(value, u);
      }
    }
    for (int s : phases.stores(phase)) {
      store(spec.stores().get(s), spec.loads().size() + s, u);
    }
  }

  private void compute(int value, int u) {
    Instruction instruction = spec.instruction(value);
    instruction.arguments().forEach(argument -> code.aload(vectors[argument][u]));
    elementwise(instruction, true);
    vectors[value][u] = stored();
  }

  private void store(Store store, int operand, int u) {
    code.aload(vectors[store.value()][u]);
    if (store.mode() != Mode.WRITE) {
      load(operand, u);
      code.swap();
      vector(store.mode() == Mode.SUM ? "add" : "max", VECTOR, VECTOR, VECTOR);
    }
    address(operand, u);
    insertFor(u, "store", V, VECTOR, J);
  }

  private void load(int operand, int u) {
    address(operand, u);
    insertFor(u, "load", VECTOR, J);
  }

  private void address(int operand, int u) {
    code.lload(starts[operand]).loadConstant((long) u * lanes * Float.BYTES).ladd();
  }

  /** Writes the method for vector {@code u}: for some of its lanes where the row ends within it. */
  private void insertFor(int u, String name, ClassDesc result, ClassDesc... arguments) {
    if (spec.row() >= (u + 1) * lanes) {
      vector(name, result, arguments);
    } else {
      someLanes(name, result, arguments);
    }
  }

  /** Moves what is on the stack into a new local. */
  private int stored() {
    int local = code.allocateLocal(TypeKind.REFERENCE);
    code.astore(local);
    return local;
  }
}
