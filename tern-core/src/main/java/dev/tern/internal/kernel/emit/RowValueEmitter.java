package dev.tern.internal.kernel.emit;

import dev.tern.internal.kernel.KernelSpec;
import dev.tern.internal.kernel.KernelSpec.Instruction;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Writes the method {@code values(lanes, row values, number of rows, scalars...)} of a kernel that
 * takes blocks of rows, see {@link BlockEmitter}. Before a pass it combines the lanes of
 * reductions, row by row. From them it computes the row values of the pass by vectors with a lane
 * for each row.
 */
final class RowValueEmitter extends KernelCode {
  private final int phase;
  private final boolean vectors;
  private final int place;

  /** Begins the method before pass {@code phase}, or after the last. */
  RowValueEmitter(KernelSpec spec, KernelPasses phases, int lanes, CodeBuilder code, int phase) {
    super(spec, phases, lanes, code);
    this.phase = phase;
    vectors = lanes > 1;
    parameters(type(spec, phases, phase));
    place = code.allocateLocal(TypeKind.LONG);
  }

  /** Scalars that the row values before a pass are computed from. */
  static List<Integer> scalars(KernelSpec spec, KernelPasses phases, int phase) {
    return phases.rowValues(phase).stream()
        .filter(value -> phases.slotOf(value) < 0)
        .flatMap(value -> spec.instruction(value).arguments().stream())
        .filter(spec::isScalar)
        .distinct()
        .toList();
  }

  /** The type of the method before a pass, or after the last. */
  static MethodTypeDesc type(KernelSpec spec, KernelPasses phases, int phase) {
    List<ClassDesc> types = new ArrayList<>(List.of(J, J, I));
    types.addAll(Collections.nCopies(scalars(spec, phases, phase).size(), F));
    return MethodTypeDesc.of(V, types);
  }

  void emit() {
    List<Integer> all = phases.rowValues(phase);
    List<Integer> reduced = all.stream().filter(value -> phases.slotOf(value) >= 0).toList();
    List<Integer> computed = all.stream().filter(value -> phases.slotOf(value) < 0).toList();
    int count = code.parameterSlot(2);
    if (!reduced.isEmpty()) {
      int lanesAt = code.allocateLocal(TypeKind.LONG);
      code.lload(code.parameterSlot(0));
      frames.store(J, lanesAt);
      code.lload(code.parameterSlot(1));
      frames.store(J, place);
      frames.count(1, count, () -> combine(reduced, lanesAt));
    }
    if (!computed.isEmpty()) {
      code.lload(code.parameterSlot(1));
      frames.store(J, place);
      frames.count(lanes, count, () -> compute(computed));
    }
    endMethod();
  }

  private void combine(List<Integer> reduced, int lanesAt) {
    for (int value : reduced) {
      int slot = phases.slotOf(value);
      address(value);
      code.lload(lanesAt);
      addLanes(slot);
      combineLanes(phases.reductions().get(slot).mode());
      setFloat();
    }
    code.lload(lanesAt).loadConstant((long) phases.laneBytes()).ladd().lstore(lanesAt);
    code.lload(place).loadConstant((long) Float.BYTES).ladd().lstore(place);
  }

  private void compute(List<Integer> computed) {
    TypeKind kind = vectors ? TypeKind.REFERENCE : TypeKind.FLOAT;
    int[] locals = new int[spec.values()];
    for (int value : computed) {
      Instruction instruction = spec.instruction(value);
      for (int argument : instruction.arguments()) {
        if (locals[argument] > 0) {
          code.loadLocal(kind, locals[argument]);
        } else {
          argument(argument);
        }
      }
      elementwise(instruction, vectors);
      locals[value] = code.allocateLocal(kind);
      code.storeLocal(kind, locals[value]);
      if (vectors) {
        code.aload(locals[value]);
        address(value);
        vector("store", V, VECTOR, J);
      } else {
        address(value);
        code.fload(locals[value]);
        setFloat();
      }
    }
    code.lload(place).loadConstant((long) lanes * Float.BYTES).ladd().lstore(place);
  }

  private void argument(int value) {
    if (spec.isScalar(value)) {
      int parameter = 3 + scalars(spec, phases, phase).indexOf(value);
      code.fload(code.parameterSlot(parameter));
      if (vectors) {
        vector("broadcast", VECTOR, F);
      }
      return;
    }
    address(value);
    if (vectors) {
      vector("load", VECTOR, J);
    } else {
      getFloat();
    }
  }

  private void address(int value) {
    code.lload(place).loadConstant(phases.rowValueAt(value)).ladd();
  }
}
