package dev.tern.internal.kernel.emit;

import dev.tern.internal.kernel.KernelSpec.Access;
import dev.tern.internal.kernel.ReductionLanes;
import dev.tern.internal.kernel.warmup.HiddenClasses;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Writes the middle loop of a kernel with several passes. It takes a block of rows at a time: while
 * the reductions of one short row end, the processor computes on other rows.
 *
 * <pre>
 * for each block of rows
 *   copy what row values need of BROADCAST operands
 *   for each pass
 *     values(pass)                        // a method: see RowValueEmitter
 *     for each row of the block
 *       pass(strides, n, lanes, places, row values)   // a method: see PassEmitter
 *   values(after the last pass)
 *   for each row of the block
 *     store row values and what was reduced
 * </pre>
 *
 * <p>Scratch memory holds the lanes of each row, then {@link ReductionLanes#COUNT} numbers for each
 * row value, then the rows that are kept.
 */
final class BlockEmitter extends KernelCode {
  private static final ClassDesc MATH = HiddenClasses.desc(Math.class);

  // Locals with addresses for the first row of the block: of operands, and of row values.
  private final int[] first;
  private final int values;

  // Locals for the row at hand: addresses of operands, then of rows of scratch memory; lanes; row
  // values.
  private final int[] at;
  private final int lanesAt;
  private final int valuesAt;

  /** Locals of row values, scalars among them. */
  private final int[] rows;

  // Locals with the rows of a whole block, the rows of this block, the bytes of a scratch row.
  private final int block;
  private final int count;
  private final int rowBytes;

  /** Takes the locals of the operands' addresses, and of row values, scalars among them. */
  BlockEmitter(KernelCode caller, int[] first, int[] rows) {
    super(caller);
    this.first = first;
    this.rows = rows;
    at = locals(spec.operands() + phases.scratchRows(), TypeKind.LONG);
    lanesAt = code.allocateLocal(TypeKind.LONG);
    values = code.allocateLocal(TypeKind.LONG);
    valuesAt = code.allocateLocal(TypeKind.LONG);
    block = code.allocateLocal(TypeKind.INT);
    count = code.allocateLocal(TypeKind.INT);
    rowBytes = code.allocateLocal(TypeKind.LONG);
  }

  void emit() {
    code.iload(KernelEmitter.N).invokestatic(LANES, "rowsAtATime", MethodTypeDesc.of(I, I));
    frames.store(I, block);
    code.lload(KernelEmitter.SCRATCH);
    code.iload(block).loadConstant(phases.laneBytes()).imul().i2l().ladd();
    frames.store(J, values);
    code.iload(KernelEmitter.N).loadConstant(ReductionLanes.COUNT - 1).iadd();
    code.loadConstant(-ReductionLanes.COUNT).iand().i2l().loadConstant((long) Float.BYTES).lmul();
    frames.store(J, rowBytes);
    int left = code.allocateLocal(TypeKind.INT);
    code.iload(KernelEmitter.N1);
    frames.store(I, left);
    frames.loop(
        end -> code.iload(left).ifle(end),
        () -> {
          code.iload(left).iload(block);
          code.invokestatic(MATH, "min", MethodTypeDesc.of(I, I, I));
          frames.store(I, count);
          rows();
          for (int k = 0; k < first.length; k++) {
            code.aload(KernelEmitter.STRIDES).loadConstant(3 * k + 1).laload();
            code.iload(count).i2l().lmul().lload(first[k]).ladd().lstore(first[k]);
          }
          code.iload(left).iload(count).isub().istore(left);
        });
  }

  /** The rows of a block. */
  private void rows() {
    Set<Integer> gathered = phases.gathered();
    if (!gathered.isEmpty()) {
      eachRow(gathered, () -> gathered.forEach(this::keep));
    }
    for (int phase = 0; phase < phases.count(); phase++) {
      int each = phase;
      callValues(phase);
      eachRow(usedBy(phase), () -> callPass(each));
    }
    callValues(phases.count());
    Set<Integer> results = results();
    if (!results.isEmpty()) {
      eachRow(results, this::end);
    }
  }

  /** Operands and rows of scratch memory that a pass reads or writes. */
  private Set<Integer> usedBy(int phase) {
    Set<Integer> used = new TreeSet<>(phases.places(phase));
    phases.rowsUsed(phase).stream().filter(this::isLoad).forEach(used::add);
    return used;
  }

  private boolean isLoad(int value) {
    return value < spec.loads().size();
  }

  /** Operands that are stored to once for each row. */
  private Set<Integer> results() {
    return IntStream.range(spec.loads().size(), spec.operands())
        .filter(k -> spec.access(k) == Access.BROADCAST)
        .boxed()
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private void eachRow(Set<Integer> places, Runnable body) {
    for (int place : places) {
      if (place < first.length) {
        code.lload(first[place]);
      } else {
        long row = (long) place - first.length;
        code.lload(values).loadConstant((long) phases.rowValueBytes()).ladd();
        code.lload(rowBytes).loadConstant(row).lmul().ladd();
      }
      frames.store(J, at[place]);
    }
    code.lload(KernelEmitter.SCRATCH);
    frames.store(J, lanesAt);
    code.lload(values);
    frames.store(J, valuesAt);
    frames.count(
        1,
        count,
        () -> {
          body.run();
          nextRow(places);
        });
  }

  private void nextRow(Set<Integer> places) {
    for (int place : places) {
      if (place < first.length) {
        code.aload(KernelEmitter.STRIDES).loadConstant(3 * place + 1).laload();
      } else {
        code.lload(rowBytes).loadConstant((long) phases.scratchRows()).lmul();
      }
      code.lload(at[place]).ladd().lstore(at[place]);
    }
    code.lload(lanesAt).loadConstant((long) phases.laneBytes()).ladd().lstore(lanesAt);
    code.lload(valuesAt).loadConstant((long) Float.BYTES).ladd().lstore(valuesAt);
  }

  /** Copies the row's number of a BROADCAST operand to the row values. */
  private void keep(int load) {
    code.lload(valuesAt).loadConstant(phases.rowValueAt(load)).ladd();
    code.lload(at[load]);
    getFloat();
    setFloat();
  }

  private void callPass(int phase) {
    code.aload(KernelEmitter.STRIDES).iload(KernelEmitter.N).lload(lanesAt);
    phases.places(phase).forEach(place -> code.lload(at[place]));
    phases.rowsUsed(phase).forEach(this::rowValue);
    code.invokestatic(SELF, "pass" + phase, KernelEmitter.passType(phases, phase));
  }

  /** Leaves a row value of the row at hand on the stack. */
  private void rowValue(int value) {
    if (spec.isScalar(value)) {
      code.fload(rows[value]);
      return;
    }
    if (isLoad(value)) {
      code.lload(at[value]);
    } else {
      code.lload(valuesAt).loadConstant(phases.rowValueAt(value)).ladd();
    }
    getFloat();
  }

  private void end() {
    endReductions(at, lanesAt);
    for (int s : phases.rowStores()) {
      code.lload(at[spec.loads().size() + s]);
      rowValue(spec.stores().get(s).value());
      setFloat();
    }
  }

  private void callValues(int phase) {
    if (!phases.rowValues(phase).isEmpty()) {
      code.lload(KernelEmitter.SCRATCH).lload(values).iload(count);
      RowValueEmitter.scalars(spec, phases, phase).forEach(scalar -> code.fload(rows[scalar]));
      code.invokestatic(SELF, "values" + phase, RowValueEmitter.type(spec, phases, phase));
    }
  }
}
