package dev.tern.internal.kernel.emit;

import static dev.tern.internal.kernel.emit.KernelCode.F;
import static dev.tern.internal.kernel.emit.KernelCode.I;
import static dev.tern.internal.kernel.emit.KernelCode.J;
import static dev.tern.internal.kernel.emit.KernelCode.SELF;
import static dev.tern.internal.kernel.emit.KernelCode.V;

import dev.tern.internal.kernel.Kernel;
import dev.tern.internal.kernel.KernelSpec;
import dev.tern.internal.kernel.KernelSpec.Access;
import dev.tern.internal.kernel.KernelSpec.Instruction;
import dev.tern.internal.kernel.warmup.HiddenClasses;
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
 * <p>Where {@link KernelPasses} says that a row takes several passes, the middle loop takes a block
 * of rows at a time: see {@link BlockEmitter}. Short rows of little work and of a known length are
 * taken one at a time, without a loop: see {@link RowEmitter}.
 *
 * <p>Otherwise a pass with reductions, and each of several passes, is a method of its own. C1
 * cannot compile very large methods of vector code, and HotSpot then leaves them in a tier where
 * vectors are boxed. C2 boxes vectors that a loop over rows holds for the row beside accumulators.
 */
final class KernelEmitter {
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

  private final KernelCode kernel;
  private final KernelSpec spec;
  private final KernelPasses phases;
  private final CodeBuilder code;
  private final LoopFrames frames;
  private final boolean isWhole;
  private final int[] outer;
  private final int[] middle;
  private final int[] rows;

  private KernelEmitter(KernelCode kernel) {
    this.kernel = kernel;
    spec = kernel.spec();
    phases = kernel.phases();
    code = kernel.code();
    frames = kernel.frames();
    int slot = 1;
    for (ClassDesc parameter : RUN.parameterList()) {
      frames.assigned(slot, parameter);
      slot += TypeKind.from(parameter).slotSize();
    }
    outer = kernel.locals(spec.operands(), TypeKind.LONG);
    middle = kernel.locals(spec.operands(), TypeKind.LONG);
    isWhole = RowEmitter.takes(spec, phases, kernel.lanes());
    rows = kernel.locals(spec.values(), TypeKind.FLOAT);
  }

  /** The class file of the kernel; {@code lanes} is the vector length, 1 for scalar code. */
  static byte[] emit(KernelSpec spec, int lanes) {
    KernelPasses phases = new KernelPasses(spec);
    return ClassFile.of(ClassFile.StackMapsOption.DROP_STACK_MAPS)
        .build(
            SELF,
            type -> {
              type.withInterfaceSymbols(KernelCode.desc(Kernel.class));
              type.withFlags(ClassFile.ACC_FINAL | ClassFile.ACC_SUPER);
              // Stack traces and profiles then show the expression in place of a file name.
              type.with(SourceFileAttribute.of(sourceName(spec)));
              method(
                  type,
                  ConstantDescs.INIT_NAME,
                  ConstantDescs.MTD_void,
                  HiddenClasses::constructor);
              method(
                  type,
                  "run",
                  RUN,
                  run -> new KernelEmitter(new KernelCode(spec, phases, lanes, run)).body());
              if (!isInline(phases) && !RowEmitter.takes(spec, phases, lanes)) {
                passes(type, spec, phases, lanes);
              }
            });
  }

  /** Writes the methods of passes, and of row values where there are several passes. */
  private static void passes(ClassBuilder type, KernelSpec spec, KernelPasses phases, int lanes) {
    for (int phase = 0; phase < phases.count(); phase++) {
      int each = phase;
      method(
          type,
          "pass" + phase,
          passType(phases, phase),
          pass -> pass(new KernelCode(spec, phases, lanes, pass), each));
    }
    for (int phase = 0; phase <= phases.count(); phase++) {
      int each = phase;
      if (phases.count() > 1 && !phases.rowValues(phase).isEmpty()) {
        method(
            type,
            "values" + phase,
            RowValueEmitter.type(spec, phases, phase),
            values -> RowValueEmitter.emit(new KernelCode(spec, phases, lanes, values), each));
      }
    }
  }

  private static void method(
      ClassBuilder type, String name, MethodTypeDesc descriptor, Consumer<CodeBuilder> body) {
    boolean isPublic = name.equals("run") || name.equals(ConstantDescs.INIT_NAME);
    type.withMethodBody(
        name,
        descriptor,
        isPublic ? ClassFile.ACC_PUBLIC : ClassFile.ACC_PRIVATE | ClassFile.ACC_STATIC,
        code -> {
          code.lineNumber(1);
          body.accept(code);
        });
  }

  /** Whether the one pass is written into the loops over rows. */
  private static boolean isInline(KernelPasses phases) {
    return phases.count() == 1 && phases.reductions().isEmpty();
  }

  /** The type of a pass: strides, length, scratch, then its places and its row values in order. */
  static MethodTypeDesc passType(KernelPasses phases, int phase) {
    List<ClassDesc> types = new ArrayList<>(List.of(J.arrayType(), I, J));
    types.addAll(Collections.nCopies(phases.places(phase).size(), J));
    types.addAll(Collections.nCopies(phases.rowsUsed(phase).size(), F));
    return MethodTypeDesc.of(V, types);
  }

  private static void pass(KernelCode kernel, int phase) {
    KernelSpec spec = kernel.spec();
    KernelPasses phases = kernel.phases();
    CodeBuilder code = kernel.code();
    int[] places = new int[spec.operands() + phases.scratchRows()];
    int[] rows = new int[spec.values()];
    int parameter = 3;
    for (int place : phases.places(phase)) {
      places[place] = code.parameterSlot(parameter++);
    }
    for (int value : phases.rowsUsed(phase)) {
      rows[value] = code.parameterSlot(parameter++);
    }
    kernel.parameters(passType(phases, phase));
    PassEmitter.Frame frame =
        new PassEmitter.Frame(
            code.parameterSlot(0), code.parameterSlot(1), code.parameterSlot(2), places, rows);
    new PassEmitter(kernel, phase, frame).emit();
    kernel.end();
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
            RowEmitter whole = new RowEmitter(kernel, SCRATCH, rows);
            eachRow(() -> row(whole));
          } else if (phases.count() == 1) {
            eachRow(this::row);
          } else {
            new BlockEmitter(kernel, middle, rows).emit();
          }
          advance(outer, 0);
        });
    kernel.end();
  }

  private void eachRow(Runnable row) {
    frames.count(
        1,
        N1,
        () -> {
          row.run();
          advance(middle, 1);
        });
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
    rowStores();
  }

  /** The one pass over the row at hand, and what comes before and after it. */
  private void row() {
    rowLoads();
    rowValues(0);
    pass(0);
    rowValues(1);
    rowStores();
  }

  private void rowLoads() {
    for (int k = 0; k < spec.loads().size(); k++) {
      if (spec.loads().get(k) == Access.BROADCAST) {
        code.lload(middle[k]);
        kernel.getFloat();
        frames.store(F, rows[k]);
      }
    }
  }

  private void pass(int phase) {
    if (isInline(phases)) {
      PassEmitter.Frame frame = new PassEmitter.Frame(STRIDES, N, SCRATCH, middle, rows);
      new PassEmitter(kernel, phase, frame).emit();
      return;
    }
    code.aload(STRIDES).iload(N).lload(SCRATCH);
    phases.places(phase).forEach(place -> code.lload(middle[place]));
    phases.rowsUsed(phase).forEach(value -> code.fload(rows[value]));
    code.invokestatic(SELF, "pass" + phase, passType(phases, phase));
  }

  /** Computes the row values that a pass needs. */
  private void rowValues(int phase) {
    for (int value : phases.rowValues(phase)) {
      int slot = phases.slotOf(value);
      if (slot >= 0) {
        code.lload(SCRATCH);
        kernel.addLanes(slot);
        kernel.combineLanes(phases.reductions().get(slot).mode());
      } else {
        Instruction instruction = spec.instruction(value);
        instruction.arguments().forEach(argument -> code.fload(rows[argument]));
        kernel.elementwise(instruction, false);
      }
      frames.store(F, rows[value]);
    }
  }

  private void rowStores() {
    kernel.endReductions(middle, SCRATCH);
    for (int s : phases.rowStores()) {
      code.lload(middle[spec.loads().size() + s]);
      code.fload(rows[spec.stores().get(s).value()]);
      kernel.setFloat();
    }
  }
}
