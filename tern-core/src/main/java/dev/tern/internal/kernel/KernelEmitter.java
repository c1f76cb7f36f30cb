package dev.tern.internal.kernel;

import dev.tern.internal.ir.Pointwise;
import dev.tern.internal.kernel.KernelSpec.Access;
import dev.tern.internal.kernel.KernelSpec.Instruction;
import dev.tern.internal.kernel.KernelSpec.Mode;
import dev.tern.internal.kernel.KernelSpec.Store;
import dev.tern.internal.memory.Memory;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.TypeKind;
import java.lang.classfile.attribute.SourceFileAttribute;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;

/**
 * Writes a {@link KernelSpec} as a class that implements {@link Kernel}. The shape of its code:
 *
 * <pre>
 * for (i0 = 0; i0 &lt; n0; i0++)            // operand addresses advance by their outer strides
 *   for (i1 = 0; i1 &lt; n1; i1++)          // ... by their middle strides
 *     load BROADCAST operands, compute row values
 *     pass over the inner loop              // see PassEmitter
 *     store row values and what was reduced
 * </pre>
 *
 * Where {@link Phases} says that a row takes several passes, the middle loop takes a block of rows
 * at a time: see {@link BlockEmitter}.
 *
 * <p>Short rows of little work and of a length that is known are taken one at a time, by {@link
 * RowEmitter}. Else a pass with reductions, and each of several, is a method of its own: C1 cannot
 * compile very large methods of vector code, and HotSpot then leaves them in a tier where vectors
 * are boxed; and C2 boxes vectors that a loop over rows holds for the row beside accumulators.
 */
final class KernelEmitter {
  static final ClassDesc SELF = ClassDesc.of("dev.tern.internal.kernel.FusedKernel");
  private static final ClassDesc KERNEL = desc(Kernel.class);
  private static final ClassDesc POINTWISE = desc(Pointwise.class);
  private static final ClassDesc MEMORY = desc(Memory.class);
  private static final ClassDesc LANES = desc(Lanes.class);
  private static final ClassDesc VECTOR = ClassDesc.of("jdk.incubator.vector.FloatVector");
  private static final ClassDesc F = ConstantDescs.CD_float;
  private static final ClassDesc J = ConstantDescs.CD_long;
  private static final ClassDesc I = ConstantDescs.CD_int;
  private static final ClassDesc V = ConstantDescs.CD_void;
  private static final MethodTypeDesc RUN =
      MethodTypeDesc.of(V, J.arrayType(), J.arrayType(), I, I, I, F.arrayType(), J);

  /** Bytes of code: HotSpot's HugeMethodLimit. */
  private static final int HUGE_METHOD = 8000;

  // Locals of run(): 0 is this.
  private static final int ADDRESSES = 1;
  static final int STRIDES = 2;
  private static final int N0 = 3;
  static final int N1 = 4;
  static final int N = 5;
  private static final int SCALARS = 6;
  static final int SCRATCH = 7;

  private final KernelSpec spec;
  private final Phases phases;
  private final int lanes;
  private final boolean isWhole;
  private final CodeBuilder code;
  private final Frames frames;
  private final int[] outer;
  private final int[] middle;

  private final int[] rows;

  private KernelEmitter(KernelSpec spec, Phases phases, int lanes, CodeBuilder code) {
    this.spec = spec;
    this.phases = phases;
    this.lanes = lanes;
    this.code = code;
    frames = new Frames(code);
    int slot = 1;
    for (ClassDesc parameter : RUN.parameterList()) {
      frames.assigned(slot, parameter);
      slot += TypeKind.from(parameter).slotSize();
    }
    outer = locals(spec.operands(), TypeKind.LONG);
    middle = locals(spec.operands(), TypeKind.LONG);
    isWhole = RowEmitter.takes(spec, phases, lanes);
    rows = locals(spec.values(), TypeKind.FLOAT);
  }

  /** The class file of the kernel; {@code lanes} is the vector length, 1 for scalar code. */
  static byte[] emit(KernelSpec spec, int lanes) {
    Phases phases = new Phases(spec);
    return ClassFile.of(ClassFile.StackMapsOption.DROP_STACK_MAPS)
        .build(
            SELF,
            type -> {
              type.withInterfaceSymbols(KERNEL);
              type.withFlags(ClassFile.ACC_FINAL | ClassFile.ACC_SUPER);
              // Stack traces and profiles then show the expression in place of a file name.
              type.with(SourceFileAttribute.of(sourceName(spec)));
              method(
                  type,
                  ConstantDescs.INIT_NAME,
                  ConstantDescs.MTD_void,
                  ClassFile.ACC_PUBLIC,
                  init ->
                      init.aload(0)
                          .invokespecial(
                              ConstantDescs.CD_Object,
                              ConstantDescs.INIT_NAME,
                              ConstantDescs.MTD_void)
                          .return_());
              method(
                  type,
                  "run",
                  RUN,
                  ClassFile.ACC_PUBLIC,
                  run -> new KernelEmitter(spec, phases, lanes, run).body());
              boolean apart = !isInline(phases) && !RowEmitter.takes(spec, phases, lanes);
              for (int phase = 0; phase < phases.count() && apart; phase++) {
                int each = phase;
                method(
                    type,
                    "pass" + phase,
                    passType(spec, phases, phase),
                    ClassFile.ACC_PRIVATE | ClassFile.ACC_STATIC,
                    pass -> pass(spec, phases, each, lanes, pass));
              }
              for (int phase = 0; phase <= phases.count() && apart; phase++) {
                int each = phase;
                if (phases.count() > 1 && !phases.rowValues(phase).isEmpty()) {
                  method(
                      type,
                      "values" + phase,
                      BlockEmitter.valuesType(spec, phases, phase),
                      ClassFile.ACC_PRIVATE | ClassFile.ACC_STATIC,
                      values -> BlockEmitter.values(spec, phases, each, lanes, values));
                }
              }
            });
  }

  private static void method(
      ClassBuilder type,
      String name,
      MethodTypeDesc descriptor,
      int flags,
      Consumer<CodeBuilder> body) {
    type.withMethodBody(
        name,
        descriptor,
        flags,
        code -> {
          code.lineNumber(1);
          body.accept(code);
        });
  }

  /** Whether the one pass is written into the loops over rows. */
  private static boolean isInline(Phases phases) {
    return phases.count() == 1 && phases.reductions().isEmpty();
  }

  /** Strides, length and scratch, the places of the pass in order, its row values in order. */
  static MethodTypeDesc passType(KernelSpec spec, Phases phases, int phase) {
    List<ClassDesc> types = new ArrayList<>(List.of(J.arrayType(), I, J));
    types.addAll(Collections.nCopies(phases.places(phase).size(), J));
    types.addAll(Collections.nCopies(phases.rowsUsed(phase).size(), F));
    return MethodTypeDesc.of(V, types);
  }

  private static void pass(KernelSpec spec, Phases phases, int phase, int lanes, CodeBuilder code) {
    int[] places = new int[spec.operands() + phases.scratchRows()];
    int[] rows = new int[spec.values()];
    int parameter = 3;
    for (int place : phases.places(phase)) {
      places[place] = code.parameterSlot(parameter++);
    }
    for (int value : phases.rowsUsed(phase)) {
      rows[value] = code.parameterSlot(parameter++);
    }
    Frames frames = new Frames(code);
    List<ClassDesc> types = passType(spec, phases, phase).parameterList();
    for (int i = 0; i < types.size(); i++) {
      frames.assigned(code.parameterSlot(i), types.get(i));
    }
    PassEmitter.Frame frame =
        new PassEmitter.Frame(
            frames,
            code.parameterSlot(0),
            code.parameterSlot(1),
            code.parameterSlot(2),
            places,
            rows);
    new PassEmitter(spec, phases, phase, lanes, code, frame).emit();
    code.return_();
    frames.write();
  }

  /** Whether HotSpot will compile the kernel: it leaves huge methods to the interpreter. */
  static boolean isCompilable(byte[] kernel) {
    return ClassFile.of().parse(kernel).methods().stream()
        .flatMap(method -> method.findAttribute(Attributes.code()).stream())
        .allMatch(method -> method.codeLength() < HUGE_METHOD);
  }

  private static String sourceName(KernelSpec spec) {
    String text = spec.expression();
    return text.length() <= 200 ? text : text.substring(0, 200) + "...";
  }

  private void body() {
    for (int k = 0; k < outer.length; k++) {
      code.aload(ADDRESSES).loadConstant(k).laload();
      frames.store(J, outer[k]);
    }
    for (int c = 0; c < spec.scalars(); c++) {
      code.aload(SCALARS).loadConstant(c).faload();
      frames.store(F, rows[spec.loads().size() + c]);
    }
    frames.count(
        1,
        N0,
        () -> {
          for (int k = 0; k < outer.length; k++) {
            code.lload(outer[k]);
            frames.store(J, middle[k]);
          }
          if (isWhole) {
            RowEmitter whole = new RowEmitter(spec, phases, lanes, code, SCRATCH, rows);
            frames.count(
                1,
                N1,
                () -> {
                  row(whole);
                  advance(middle, 1);
                });
          } else if (phases.count() == 1) {
            frames.count(
                1,
                N1,
                () -> {
                  row();
                  advance(middle, 1);
                });
          } else {
            new BlockEmitter(spec, phases, lanes, code, frames, middle, rows).emit();
          }
          advance(outer, 0);
        });
    code.return_();
    frames.write();
  }

  private void advance(int[] addresses, int level) {
    for (int k = 0; k < spec.operands(); k++) {
      code.aload(STRIDES).loadConstant(3 * k + level).laload();
      code.lload(addresses[k]).ladd().lstore(addresses[k]);
    }
  }

  /** All passes over the row at hand, by code for its length. */
  private void row(RowEmitter whole) {
    rowLoads();
    whole.begin(middle);
    for (int phase = 0; phase < phases.count(); phase++) {
      rowValues(phase);
      whole.pass(phase);
    }
    rowValues(phases.count());
    endLanes();
    rowStores();
  }

  /** The one pass over the row at hand, and what comes before and after it. */
  private void row() {
    rowLoads();
    rowValues(0);
    pass(0);
    rowValues(1);
    endLanes();
    rowStores();
  }

  private void rowLoads() {
    for (int k = 0; k < spec.loads().size(); k++) {
      if (spec.loads().get(k) == Access.BROADCAST) {
        code.lload(middle[k]);
        memory("getFloat", MethodTypeDesc.of(F, J));
        frames.store(F, rows[k]);
      }
    }
  }

  private void pass(int phase) {
    if (isInline(phases)) {
      PassEmitter.Frame frame = new PassEmitter.Frame(frames, STRIDES, N, SCRATCH, middle, rows);
      new PassEmitter(spec, phases, phase, lanes, code, frame).emit();
      return;
    }
    code.aload(STRIDES).iload(N).lload(SCRATCH);
    phases.places(phase).forEach(place -> code.lload(middle[place]));
    phases.rowsUsed(phase).forEach(value -> code.fload(rows[value]));
    code.invokestatic(SELF, "pass" + phase, passType(spec, phases, phase));
  }

  /** Computes those that a pass needs. */
  private void rowValues(int phase) {
    for (int value : phases.rowValues(phase)) {
      int slot = phases.slotOf(value);
      if (slot >= 0) {
        lanesAddress(slot);
        combineLanes(code, lanes, phases.reductions().get(slot).mode());
      } else {
        Instruction instruction = spec.instruction(value);
        instruction.arguments().forEach(argument -> code.fload(rows[argument]));
        elementwise(code, 1, instruction);
      }
      frames.store(F, rows[value]);
    }
  }

  private void rowStores() {
    for (int s : phases.rowStores()) {
      code.lload(middle[spec.loads().size() + s]);
      code.fload(rows[spec.stores().get(s).value()]);
      memory("setFloat", MethodTypeDesc.of(V, J, F));
    }
  }

  private void endLanes() {
    int r = 0;
    for (int s = 0; s < spec.stores().size(); s++) {
      Store store = spec.stores().get(s);
      if (store.reducesLanes()) {
        int target = middle[spec.loads().size() + s];
        code.lload(target).lload(target);
        memory("getFloat", MethodTypeDesc.of(F, J));
        lanesAddress(r++);
        combineLanes(code, lanes, store.mode());
        combine(code, store.mode());
        memory("setFloat", MethodTypeDesc.of(V, J, F));
      }
    }
  }

  /** Replaces the address of lanes on the stack by their sum, or the largest. */
  static void combineLanes(CodeBuilder code, int lanes, Mode mode) {
    String name = mode == Mode.SUM ? "total" : "largest";
    MethodTypeDesc type = MethodTypeDesc.of(F, J);
    if (lanes == 4 || lanes == 8 || lanes == 16) {
      VectorCode.insert(code, name + lanes, type);
    } else {
      code.invokestatic(LANES, name, type);
    }
  }

  /** Replaces two numbers on the stack by their sum, or the larger. */
  static void combine(CodeBuilder code, Mode mode) {
    String name = mode == Mode.SUM ? "add" : "max";
    code.invokestatic(POINTWISE, name, MethodTypeDesc.of(F, F, F));
  }

  /** Replaces arguments on the stack, numbers if {@code lanes} is 1, by the op's result. */
  static void elementwise(CodeBuilder code, int lanes, Instruction instruction) {
    ClassDesc type = lanes > 1 ? VECTOR : F;
    List<ClassDesc> types = Collections.nCopies(instruction.arguments().size(), type);
    MethodTypeDesc method = MethodTypeDesc.of(type, types);
    if (lanes > 1) {
      VectorCode.insert(code, instruction.method(), method);
    } else {
      code.invokestatic(POINTWISE, instruction.method(), method);
    }
  }

  private void lanesAddress(int slot) {
    code.lload(SCRATCH).loadConstant((long) slot * Lanes.BYTES).ladd();
  }

  private void memory(String name, MethodTypeDesc type) {
    memory(code, lanes, name, type);
  }

  /** Calls a method of {@code Memory}, or writes its body into vector code. */
  static void memory(CodeBuilder code, int lanes, String name, MethodTypeDesc type) {
    if (lanes > 1) {
      VectorCode.insertMemory(code, name, type);
    } else {
      code.invokestatic(MEMORY, name, type);
    }
  }

  private int[] locals(int count, TypeKind kind) {
    int[] locals = new int[count];
    Arrays.setAll(locals, i -> code.allocateLocal(kind));
    return locals;
  }

  static ClassDesc desc(Class<?> type) {
    return type.describeConstable().orElseThrow();
  }
}
