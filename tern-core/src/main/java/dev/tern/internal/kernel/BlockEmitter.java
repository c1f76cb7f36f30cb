package dev.tern.internal.kernel;

import dev.tern.internal.kernel.KernelSpec.Access;
import dev.tern.internal.kernel.KernelSpec.Instruction;
import dev.tern.internal.kernel.KernelSpec.Mode;
import dev.tern.internal.kernel.KernelSpec.Store;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Writes the middle loop of a kernel of several passes, over a block of rows at a time: each short
 * row has to wait for its own reductions, and the processor computes parts of several meanwhile.
 *
 * <pre>
 * for each block of rows
 *   keep what row values need of the BROADCAST operands, for each row
 *   for each pass of Phases
 *     values(pass)                        // a method: see below
 *     for each row of the block
 *       pass(strides, n, lanes, places, row values)   // a method: see PassEmitter
 *   values(after the last pass)
 *   for each row of the block
 *     store row values and what was reduced
 * </pre>
 *
 * <p>The method {@code values} combines the lanes of the reductions before a pass, row by row, and
 * computes row values of them by vectors, a lane for a row. Scratch memory holds the lanes of each
 * row, then {@link Lanes#COUNT} numbers for each row value, then the rows that are kept.
 */
final class BlockEmitter {
  private static final ClassDesc LANES = KernelEmitter.desc(Lanes.class);
  private static final ClassDesc MATH = KernelEmitter.desc(Math.class);
  private static final ClassDesc VECTOR = ClassDesc.of("jdk.incubator.vector.FloatVector");
  private static final ClassDesc F = ConstantDescs.CD_float;
  private static final ClassDesc J = ConstantDescs.CD_long;
  private static final ClassDesc I = ConstantDescs.CD_int;
  private static final ClassDesc V = ConstantDescs.CD_void;

  private final KernelSpec spec;
  private final Phases phases;
  private final int lanes;
  private final CodeBuilder code;
  private final Frames frames;

  /** Addresses of the block's first row. */
  private final int[] first;

  /** Addresses of the row at hand: of operands, then of rows of scratch memory. */
  private final int[] at;

  /** Row values of the row at hand, scalars among them. */
  private final int[] rows;

  /** Address of the lanes of the row at hand. */
  private final int lanesAt;

  /** Address of the first row's row values, and of those of the row at hand. */
  private final int values;

  private final int valuesAt;
  private final int block;
  private final int count;
  private final int rowBytes;

  /**
   * @param first the locals of the operands' addresses
   * @param rows the locals of row values, scalars among them
   */
  BlockEmitter(
      KernelSpec spec,
      Phases phases,
      int lanes,
      CodeBuilder code,
      Frames frames,
      int[] first,
      int[] rows) {
    this.spec = spec;
    this.phases = phases;
    this.lanes = lanes;
    this.code = code;
    this.frames = frames;
    this.first = first;
    this.rows = rows;
    at = new int[spec.operands() + phases.scratchRows()];
    Arrays.setAll(at, k -> code.allocateLocal(TypeKind.LONG));
    lanesAt = code.allocateLocal(TypeKind.LONG);
    values = code.allocateLocal(TypeKind.LONG);
    valuesAt = code.allocateLocal(TypeKind.LONG);
    block = code.allocateLocal(TypeKind.INT);
    count = code.allocateLocal(TypeKind.INT);
    rowBytes = code.allocateLocal(TypeKind.LONG);
  }

  /** The loop over all rows. */
  void emit() {
    code.iload(KernelEmitter.N).invokestatic(LANES, "rowsAtATime", MethodTypeDesc.of(I, I));
    frames.store(I, block);
    code.lload(KernelEmitter.SCRATCH);
    code.iload(block).loadConstant(spec.laneBytes()).imul().i2l().ladd();
    frames.store(J, values);
    code.iload(KernelEmitter.N).loadConstant(Lanes.COUNT - 1).iadd();
    code.loadConstant(-Lanes.COUNT).iand().i2l().loadConstant((long) Float.BYTES).lmul();
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

  /** Operands and kept rows that a pass meets. */
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
    Set<Integer> results = new TreeSet<>();
    for (int s = 0; s < spec.stores().size(); s++) {
      if (spec.stores().get(s).access() == Access.BROADCAST) {
        results.add(spec.loads().size() + s);
      }
    }
    return results;
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
    code.lload(lanesAt).loadConstant((long) spec.laneBytes()).ladd().lstore(lanesAt);
    code.lload(valuesAt).loadConstant((long) Float.BYTES).ladd().lstore(valuesAt);
  }

  /** Keeps the row's number of a BROADCAST operand. */
  private void keep(int load) {
    code.lload(valuesAt).loadConstant(phases.rowValueAt(load)).ladd();
    code.lload(at[load]);
    memory("getFloat", MethodTypeDesc.of(F, J));
    memory("setFloat", MethodTypeDesc.of(V, J, F));
  }

  private void callPass(int phase) {
    code.aload(KernelEmitter.STRIDES).iload(KernelEmitter.N).lload(lanesAt);
    phases.places(phase).forEach(place -> code.lload(at[place]));
    phases.rowsUsed(phase).forEach(this::rowValue);
    code.invokestatic(
        KernelEmitter.SELF, "pass" + phase, KernelEmitter.passType(spec, phases, phase));
  }

  /** Leaves a value of the row at hand on the stack. */
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
    memory("getFloat", MethodTypeDesc.of(F, J));
  }

  private void end() {
    int slot = 0;
    for (int s = 0; s < spec.stores().size(); s++) {
      Store store = spec.stores().get(s);
      int target = at[spec.loads().size() + s];
      if (store.reducesLanes()) {
        code.lload(target).lload(target);
        memory("getFloat", MethodTypeDesc.of(F, J));
        code.lload(lanesAt).loadConstant((long) slot++ * Lanes.BYTES).ladd();
        KernelEmitter.combineLanes(code, lanes, store.mode());
        KernelEmitter.combine(code, store.mode());
        memory("setFloat", MethodTypeDesc.of(V, J, F));
      } else if (store.access() == Access.BROADCAST) {
        code.lload(target);
        rowValue(store.value());
        memory("setFloat", MethodTypeDesc.of(V, J, F));
      }
    }
  }

  private void memory(String name, MethodTypeDesc type) {
    KernelEmitter.memory(code, lanes, name, type);
  }

  private void callValues(int phase) {
    if (!phases.rowValues(phase).isEmpty()) {
      code.lload(KernelEmitter.SCRATCH).lload(values).iload(count);
      scalarsOf(spec, phases, phase).forEach(scalar -> code.fload(rows[scalar]));
      code.invokestatic(KernelEmitter.SELF, "values" + phase, valuesType(spec, phases, phase));
    }
  }

  /** Scalars that the row values before a pass are computed of. */
  private static List<Integer> scalarsOf(KernelSpec spec, Phases phases, int phase) {
    return phases.rowValues(phase).stream()
        .filter(value -> phases.slotOf(value) < 0)
        .flatMap(value -> spec.instruction(value).arguments().stream())
        .filter(spec::isScalar)
        .distinct()
        .toList();
  }

  /** The type of the method {@code values}: of lanes, row values, number of rows, scalars. */
  static MethodTypeDesc valuesType(KernelSpec spec, Phases phases, int phase) {
    List<ClassDesc> types = new ArrayList<>(List.of(J, J, I));
    types.addAll(Collections.nCopies(scalarsOf(spec, phases, phase).size(), F));
    return MethodTypeDesc.of(V, types);
  }

  /** The method {@code values} before a pass, or after the last. */
  static void values(KernelSpec spec, Phases phases, int phase, int lanes, CodeBuilder code) {
    Frames frames = new Frames(code);
    MethodTypeDesc type = valuesType(spec, phases, phase);
    for (int i = 0; i < type.parameterCount(); i++) {
      frames.assigned(code.parameterSlot(i), type.parameterType(i));
    }
    new RowValues(spec, phases, phase, lanes, code, frames).emit();
    code.return_();
    frames.write();
  }

  /** Writes the body of the method {@code values}. */
  private record RowValues(
      KernelSpec spec, Phases phases, int phase, int lanes, CodeBuilder code, Frames frames) {
    void emit() {
      List<Integer> all = phases.rowValues(phase);
      List<Integer> reduced = all.stream().filter(value -> phases.slotOf(value) >= 0).toList();
      List<Integer> computed = all.stream().filter(value -> phases.slotOf(value) < 0).toList();
      int place = code.allocateLocal(TypeKind.LONG);
      int count = code.parameterSlot(2);
      if (!reduced.isEmpty()) {
        int lanesAt = code.allocateLocal(TypeKind.LONG);
        code.lload(code.parameterSlot(0));
        frames.store(J, lanesAt);
        code.lload(code.parameterSlot(1));
        frames.store(J, place);
        frames.count(1, count, () -> combine(reduced, lanesAt, place));
      }
      if (!computed.isEmpty()) {
        code.lload(code.parameterSlot(1));
        frames.store(J, place);
        frames.count(lanes, count, () -> compute(computed, place));
      }
    }

    private void combine(List<Integer> reduced, int lanesAt, int place) {
      for (int value : reduced) {
        int slot = phases.slotOf(value);
        Mode mode = phases.reductions().get(slot).mode();
        code.lload(place).loadConstant(phases.rowValueAt(value)).ladd();
        code.lload(lanesAt).loadConstant((long) slot * Lanes.BYTES).ladd();
        KernelEmitter.combineLanes(code, lanes, mode);
        KernelEmitter.memory(code, lanes, "setFloat", MethodTypeDesc.of(V, J, F));
      }
      code.lload(lanesAt).loadConstant((long) spec.laneBytes()).ladd().lstore(lanesAt);
      code.lload(place).loadConstant((long) Float.BYTES).ladd().lstore(place);
    }

    private void compute(List<Integer> computed, int place) {
      TypeKind kind = lanes > 1 ? TypeKind.REFERENCE : TypeKind.FLOAT;
      int[] locals = new int[spec.values()];
      for (int value : computed) {
        Instruction instruction = spec.instruction(value);
        for (int argument : instruction.arguments()) {
          if (locals[argument] > 0) {
            code.loadLocal(kind, locals[argument]);
          } else {
            argument(argument, place);
          }
        }
        KernelEmitter.elementwise(code, lanes, instruction);
        locals[value] = code.allocateLocal(kind);
        code.storeLocal(kind, locals[value]);
        if (lanes > 1) {
          code.aload(locals[value]);
          address(value, place);
          VectorCode.insert(code, "store", MethodTypeDesc.of(V, VECTOR, J));
        } else {
          address(value, place);
          code.fload(locals[value]);
          KernelEmitter.memory(code, lanes, "setFloat", MethodTypeDesc.of(V, J, F));
        }
      }
      code.lload(place).loadConstant((long) lanes * Float.BYTES).ladd().lstore(place);
    }

    private void argument(int value, int place) {
      if (spec.isScalar(value)) {
        int parameter = 3 + scalarsOf(spec, phases, phase).indexOf(value);
        code.fload(code.parameterSlot(parameter));
        if (lanes > 1) {
          VectorCode.insert(code, "broadcast", MethodTypeDesc.of(VECTOR, F));
        }
        return;
      }
      address(value, place);
      if (lanes > 1) {
        VectorCode.insert(code, "load", MethodTypeDesc.of(VECTOR, J));
      } else {
        KernelEmitter.memory(code, lanes, "getFloat", MethodTypeDesc.of(F, J));
      }
    }

    private void address(int value, int place) {
      code.lload(place).loadConstant(phases.rowValueAt(value)).ladd();
    }
  }
}
