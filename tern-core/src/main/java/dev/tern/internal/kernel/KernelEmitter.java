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
 * at a time, so that the processor computes parts of several short rows at once, each of which has
 * to wait for its own reductions:
 *
 * <pre>
 *   for each block of rows
 *     for each pass of Phases
 *       for each row of the block
 *         read row values back             // of earlier passes, from scratch memory
 *         pass over the inner loop
 *         compute and keep row values      // of the reductions of this pass
 *         store row values and what was reduced, in the last pass
 * </pre>
 *
 * Short rows of little work and of a length that is known are taken one at a time, by {@link
 * RowEmitter}. Else a pass with reductions, and each of several, is a method of its own: C1 cannot
 * compile very large methods of vector code, and HotSpot then leaves them in a tier where vectors
 * are boxed; and C2 boxes vectors that a loop over rows holds for the row beside accumulators.
 */
final class KernelEmitter {
  private static final ClassDesc SELF = ClassDesc.of("dev.tern.internal.kernel.FusedKernel");
  private static final ClassDesc KERNEL = desc(Kernel.class);
  private static final ClassDesc POINTWISE = desc(Pointwise.class);
  private static final ClassDesc MEMORY = desc(Memory.class);
  private static final ClassDesc LANES = desc(Lanes.class);
  private static final ClassDesc MATH = desc(Math.class);
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
  private static final int STRIDES = 2;
  private static final int N0 = 3;
  private static final int N1 = 4;
  private static final int N = 5;
  private static final int SCALARS = 6;
  private static final int SCRATCH = 7;

  private final KernelSpec spec;
  private final Phases phases;
  private final int lanes;
  private final boolean isWhole;
  private final CodeBuilder code;
  private final Frames frames;
  private final int[] outer;
  private final int[] middle;

  /** Addresses of the row at hand: of operands, then of rows of scratch memory. */
  private final int[] at;

  /** Address of the lanes of the row at hand. */
  private final int lanesAt;

  /** Address of the row values of the row at hand. */
  private final int valuesAt;

  private final int block;
  private final int rowBytes;
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
    boolean blocks = phases.count() > 1 && !isWhole;
    at = blocks ? locals(spec.operands() + phases.scratchRows(), TypeKind.LONG) : middle;
    lanesAt = blocks ? code.allocateLocal(TypeKind.LONG) : SCRATCH;
    valuesAt = code.allocateLocal(TypeKind.LONG);
    block = code.allocateLocal(TypeKind.INT);
    rowBytes = code.allocateLocal(TypeKind.LONG);
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
  private static MethodTypeDesc passType(KernelSpec spec, Phases phases, int phase) {
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
    loop(
        N0,
        () -> {
          for (int k = 0; k < outer.length; k++) {
            code.lload(outer[k]);
            frames.store(J, middle[k]);
          }
          if (isWhole) {
            RowEmitter whole = new RowEmitter(spec, phases, lanes, code, lanesAt, rows);
            loop(
                N1,
                () -> {
                  row(whole);
                  advance(middle, 1);
                });
          } else if (phases.count() == 1) {
            loop(
                N1,
                () -> {
                  row();
                  advance(middle, 1);
                });
          } else {
            blocks();
          }
          advance(outer, 0);
        });
    code.return_();
    frames.write();
  }

  /** Counts a fresh local from 0 to the int local {@code limit}. */
  private void loop(int limit, Runnable body) {
    int index = code.allocateLocal(TypeKind.INT);
    code.iconst_0();
    frames.store(I, index);
    frames.loop(
        end -> code.iload(index).iload(limit).if_icmpge(end),
        () -> {
          body.run();
          code.iinc(index, 1);
        });
  }

  private void advance(int[] addresses, int level) {
    for (int k = 0; k < spec.operands(); k++) {
      code.aload(STRIDES).loadConstant(3 * k + level).laload();
      code.lload(addresses[k]).ladd().lstore(addresses[k]);
    }
  }

  /** All rows, a block at a time. */
  private void blocks() {
    code.iload(N).invokestatic(LANES, "rowsAtATime", MethodTypeDesc.of(I, I));
    frames.store(I, block);
    code.iload(N).loadConstant(Lanes.COUNT - 1).iadd().loadConstant(-Lanes.COUNT).iand();
    code.i2l().loadConstant((long) Float.BYTES).lmul();
    frames.store(J, rowBytes);
    int left = code.allocateLocal(TypeKind.INT);
    int count = code.allocateLocal(TypeKind.INT);
    code.iload(N1);
    frames.store(I, left);
    frames.loop(
        end -> code.iload(left).ifle(end),
        () -> {
          code.iload(left).iload(block);
          code.invokestatic(MATH, "min", MethodTypeDesc.of(I, I, I));
          frames.store(I, count);
          for (int phase = 0; phase < phases.count(); phase++) {
            int each = phase;
            eachRow(count, () -> before(each));
            if (each < phases.count() - 1 || hasEnd()) {
              eachRow(count, () -> after(each));
            }
          }
          for (int k = 0; k < middle.length; k++) {
            code.lload(at[k]).lstore(middle[k]);
          }
          code.iload(left).iload(count).isub().istore(left);
        });
  }

  /** Whether there is anything to do for a row after its last pass. */
  private boolean hasEnd() {
    return spec.laneStores() > 0
        || !phases.rowStores().isEmpty()
        || !phases.rowValues(phases.count()).isEmpty();
  }

  private void eachRow(int count, Runnable body) {
    firstRow();
    loop(
        count,
        () -> {
          body.run();
          nextRow();
        });
  }

  private void firstRow() {
    for (int k = 0; k < middle.length; k++) {
      code.lload(middle[k]);
      frames.store(J, at[k]);
    }
    code.lload(SCRATCH);
    frames.store(J, lanesAt);
    code.lload(SCRATCH).iload(block).loadConstant(spec.laneBytes()).imul().i2l().ladd();
    frames.store(J, valuesAt);
    for (int r = spec.operands(); r < at.length; r++) {
      int bytes = spec.laneBytes() + phases.rowValueBytes();
      code.lload(SCRATCH).iload(block).loadConstant(bytes).imul().i2l().ladd();
      code.lload(rowBytes).loadConstant((long) r - spec.operands()).lmul().ladd();
      frames.store(J, at[r]);
    }
  }

  private void nextRow() {
    advance(at, 1);
    code.lload(lanesAt).loadConstant((long) spec.laneBytes()).ladd().lstore(lanesAt);
    code.lload(valuesAt).loadConstant((long) phases.rowValueBytes()).ladd().lstore(valuesAt);
    for (int r = spec.operands(); r < at.length; r++) {
      code.lload(rowBytes).loadConstant((long) phases.scratchRows()).lmul();
      code.lload(at[r]).ladd().lstore(at[r]);
    }
  }

  /** All passes over the row at hand, by code for its length. */
  private void row(RowEmitter whole) {
    rowLoads();
    whole.begin(at);
    for (int phase = 0; phase < phases.count(); phase++) {
      rowValues(phase, false);
      whole.pass(phase);
    }
    rowValues(phases.count(), false);
    endLanes();
    rowStores();
  }

  /** The one pass over the row at hand, and what comes before and after it. */
  private void row() {
    rowLoads();
    rowValues(0, false);
    pass(0);
    rowValues(1, false);
    endLanes();
    rowStores();
  }

  /** A pass of several over the row at hand, and the row values that it needs. */
  private void before(int phase) {
    rowLoads();
    if (phase == 0) {
      rowValues(0, true);
    } else {
      phases.rowValuesUpTo(phase).forEach(this::reload);
    }
    pass(phase);
  }

  /** The row values of the row's reductions in a pass of several, and what is stored at the end. */
  private void after(int phase) {
    rowLoads();
    phases.rowValuesUpTo(phase).forEach(this::reload);
    rowValues(phase + 1, phase < phases.count() - 1);
    if (phase == phases.count() - 1) {
      endLanes();
      rowStores();
    }
  }

  private void rowLoads() {
    for (int k = 0; k < spec.loads().size(); k++) {
      if (spec.loads().get(k) == Access.BROADCAST) {
        code.lload(at[k]);
        memory("getFloat", MethodTypeDesc.of(F, J));
        frames.store(F, rows[k]);
      }
    }
  }

  private void reload(int value) {
    rowValueAddress(value);
    memory("getFloat", MethodTypeDesc.of(F, J));
    frames.store(F, rows[value]);
  }

  private void rowValueAddress(int value) {
    long bytes = (long) Float.BYTES * phases.rowValuesUpTo(phases.count()).indexOf(value);
    code.lload(valuesAt).loadConstant(bytes).ladd();
  }

  private void pass(int phase) {
    if (isInline(phases)) {
      PassEmitter.Frame frame = new PassEmitter.Frame(frames, STRIDES, N, lanesAt, at, rows);
      new PassEmitter(spec, phases, phase, lanes, code, frame).emit();
      return;
    }
    code.aload(STRIDES).iload(N).lload(lanesAt);
    phases.places(phase).forEach(place -> code.lload(at[place]));
    phases.rowsUsed(phase).forEach(value -> code.fload(rows[value]));
    code.invokestatic(SELF, "pass" + phase, passType(spec, phases, phase));
  }

  /** Computes those that a pass needs; {@code keep} for later passes. */
  private void rowValues(int phase, boolean keep) {
    for (int value : phases.rowValues(phase)) {
      int slot = phases.slotOf(value);
      if (slot >= 0) {
        combineLanes(slot, phases.reductions().get(slot).mode());
      } else {
        rowValue(spec.instruction(value));
      }
      frames.store(F, rows[value]);
      if (keep) {
        rowValueAddress(value);
        code.fload(rows[value]);
        memory("setFloat", MethodTypeDesc.of(V, J, F));
      }
    }
  }

  private void rowValue(Instruction instruction) {
    for (int argument : instruction.arguments()) {
      code.fload(rows[argument]);
    }
    List<ClassDesc> types = Collections.nCopies(instruction.arguments().size(), F);
    code.invokestatic(POINTWISE, instruction.method(), MethodTypeDesc.of(F, types));
  }

  private void rowStores() {
    for (int s : phases.rowStores()) {
      code.lload(at[spec.loads().size() + s]);
      code.fload(rows[spec.stores().get(s).value()]);
      memory("setFloat", MethodTypeDesc.of(V, J, F));
    }
  }

  private void endLanes() {
    int r = 0;
    for (int s = 0; s < spec.stores().size(); s++) {
      Store store = spec.stores().get(s);
      if (store.reducesLanes()) {
        int target = at[spec.loads().size() + s];
        code.lload(target).lload(target);
        memory("getFloat", MethodTypeDesc.of(F, J));
        combineLanes(r++, store.mode());
        String combine = store.mode() == Mode.SUM ? "add" : "max";
        code.invokestatic(POINTWISE, combine, MethodTypeDesc.of(F, F, F));
        memory("setFloat", MethodTypeDesc.of(V, J, F));
      }
    }
  }

  /** Leaves the sum, or the largest, of the lanes of a reduction on the stack. */
  private void combineLanes(int slot, Mode mode) {
    lanesAddress(slot);
    String name = mode == Mode.SUM ? "total" : "largest";
    MethodTypeDesc type = MethodTypeDesc.of(F, J);
    if (lanes == 4 || lanes == 8 || lanes == 16) {
      VectorCode.insert(code, name + lanes, type);
    } else {
      code.invokestatic(LANES, name, type);
    }
  }

  private void lanesAddress(int slot) {
    code.lload(lanesAt).loadConstant((long) slot * Lanes.BYTES).ladd();
  }

  private void memory(String name, MethodTypeDesc type) {
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

  private static ClassDesc desc(Class<?> type) {
    return type.describeConstable().orElseThrow();
  }
}
