package dev.tern.internal.kernel.emit;

import static dev.tern.internal.kernel.emit.KernelCode.F;
import static dev.tern.internal.kernel.emit.KernelCode.I;
import static dev.tern.internal.kernel.emit.KernelCode.J;
import static dev.tern.internal.kernel.emit.KernelCode.V;
import static dev.tern.internal.kernel.emit.KernelCode.VECTOR;

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
 * Writes the method {@code values} of a kernel that takes blocks of rows, see {@link BlockEmitter}:
 * {@code values(lanes, row values, number of rows, scalars...)}. It combines the lanes of the
 * reductions before a pass, row by row, and computes row values from them by vectors, a lane for
 * each row.
 */
final class RowValueEmitter {
  private final KernelCode kernel;
  private final KernelSpec spec;
  private final KernelPasses phases;
  private final int phase;
  private final CodeBuilder code;
  private final boolean vectors;
  private final int place;

  private RowValueEmitter(KernelCode kernel, int phase) {
    this.kernel = kernel;
    this.phase = phase;
    spec = kernel.spec();
    phases = kernel.phases();
    code = kernel.code();
    vectors = kernel.lanes() > 1;
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

  /** Writes the method before a pass, or after the last. */
  static void emit(KernelCode kernel, int phase) {
    kernel.parameters(type(kernel.spec(), kernel.phases(), phase));
    new RowValueEmitter(kernel, phase).body();
    kernel.end();
  }

  private void body() {
    List<Integer> all = phases.rowValues(phase);
    List<Integer> reduced = all.stream().filter(value -> phases.slotOf(value) >= 0).toList();
    List<Integer> computed = all.stream().filter(value -> phases.slotOf(value) < 0).toList();
    int count = code.parameterSlot(2);
    if (!reduced.isEmpty()) {
      int lanesAt = code.allocateLocal(TypeKind.LONG);
      code.lload(code.parameterSlot(0));
      kernel.frames().store(J, lanesAt);
      code.lload(code.parameterSlot(1));
      kernel.frames().store(J, place);
      kernel.frames().count(1, count, () -> combine(reduced, lanesAt));
    }
    if (!computed.isEmpty()) {
      code.lload(code.parameterSlot(1));
      kernel.frames().store(J, place);
      kernel.frames().count(kernel.lanes(), count, () -> compute(computed));
    }
  }

  private void combine(List<Integer> reduced, int lanesAt) {
    for (int value : reduced) {
      int slot = phases.slotOf(value);
      address(value);
      code.lload(lanesAt);
      kernel.addLanes(slot);
      kernel.combineLanes(phases.reductions().get(slot).mode());
      kernel.setFloat();
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
      kernel.elementwise(instruction, vectors);
      locals[value] = code.allocateLocal(kind);
      code.storeLocal(kind, locals[value]);
      if (vectors) {
        code.aload(locals[value]);
        address(value);
        kernel.vector("store", V, VECTOR, J);
      } else {
        address(value);
        code.fload(locals[value]);
        kernel.setFloat();
      }
    }
    code.lload(place).loadConstant((long) kernel.lanes() * Float.BYTES).ladd().lstore(place);
  }

  private void argument(int value) {
    if (spec.isScalar(value)) {
      int parameter = 3 + scalars(spec, phases, phase).indexOf(value);
      code.fload(code.parameterSlot(parameter));
      if (vectors) {
        kernel.vector("broadcast", VECTOR, F);
      }
      return;
    }
    address(value);
    if (vectors) {
      kernel.vector("load", VECTOR, J);
    } else {
      kernel.getFloat();
    }
  }

  private void address(int value) {
    code.lload(place).loadConstant(phases.rowValueAt(value)).ladd();
  }
}
