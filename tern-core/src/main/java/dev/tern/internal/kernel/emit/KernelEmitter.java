package dev.tern.internal.kernel.emit;

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
import java.util.function.IntConsumer;

/**
 * Writes a {@link KernelSpec} as a class that implements {@link Kernel}. Its code has this form:
 *
 * <pre>
 * for (i0 = 0; i0 &lt; n0; i0++)            // operand addresses advance by their outer strides
 *   for (i1 = 0; i1 &lt; n1; i1++)          // ... by their middle strides
 *     load BROADCAST operands, compute row values
 *     pass over the inner loop              // see PassEmitter
 *     store row values and what was reduced
 * </pre>
 *
 * <p>Two kinds of kernel differ. Where a row needs several passes, {@link BlockEmitter} writes the
 * middle loop, which takes a block of rows at a time. Where rows are short, of a known length and
 * of little work, {@link RowEmitter} writes their passes without a loop.
 *
 * <p>A pass with reductions, and each of several passes, is a method of its own for two reasons. C1
 * cannot compile very large methods of vector code, and HotSpot then leaves them in a tier that
 * boxes vectors. C2 boxes the vectors of row values if accumulators are live in the same loop.
 */
final class KernelEmitter extends KernelCode {
  private static final MethodTypeDesc RUN =
      MethodTypeDesc.of(V, J.arrayType(), J.arrayType(), I, I, I, F.arrayType(), J);

  /** HotSpot interprets methods of as many bytes of code or more ({@code HugeMethodLimit}). */
  private static final int HUGE_METHOD = 8000;

  // Locals of run(): 0 is this.
  private static final int ADDRESSES = 1;
  static final int STRIDES = 2;
  private static final int N0 = 3;
  static final int N1 = 4;
  static final int N = 5;
  private static final int SCALARS = 6;
  static final int SCRATCH = 7;

  private final boolean isWhole;
  private final int[] outer;
  private final int[] middle;
  private final int[] rows;

  private KernelEmitter(KernelSpec spec, KernelPasses phases, int lanes, CodeBuilder code) {
    super(spec, phases, lanes, code);
    parameters(RUN);
    outer = locals(spec.operands(), TypeKind.LONG);
    middle = locals(spec.operands(), TypeKind.LONG);
    isWhole = RowEmitter.takes(spec, phases, lanes);
    rows = locals(spec.values(), TypeKind.FLOAT);
  }

  /** The class file of the kernel; {@code lanes} is the vector length, 1 for scalar code. */
  static byte[] emit(KernelSpec spec, int lanes) {
    KernelPasses phases = new KernelPasses(spec);
    return ClassFile.of(ClassFile.StackMapsOption.DROP_STACK_MAPS)
        .build(
            SELF,
            type -> {
              type.withInterfaceSymbols(HiddenClasses.desc(Kernel.class));
              type.withFlags(ClassFile.ACC_FINAL | ClassFile.ACC_SUPER);
              // Stack traces and profiles then show the expression in place of a file name.
              String text = spec.expression();
              String name = text.length() <= 200 ? text : text.substring(0, 200) + "...";
              type.with(SourceFileAttribute.of(name));
              String init = ConstantDescs.INIT_NAME;
              method(type, init, ConstantDescs.MTD_void, HiddenClasses::constructor);
              method(type, "run", RUN, run -> new KernelEmitter(spec, phases, lanes, run).body());
              if (hasPasses(spec, phases, lanes)) {
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
          code -> passMethod(new KernelCode(spec, phases, lanes, code), each));
    }
    for (int phase = 0; phase <= phases.count(); phase++) {
      int each = phase;
      if (phases.count() > 1 && !phases.rowValues(phase).isEmpty()) {
        method(
            type,
            "values" + phase,
            RowValueEmitter.type(spec, phases, phase),
            values -> new RowValueEmitter(spec, phases, lanes, values, each).emit());
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

  /** Whether passes of the kernel are methods of their own. */
  static boolean hasPasses(byte[] kernel) {
    return ClassFile.of().parse(kernel).methods().stream()
        .anyMatch(method -> method.methodName().equalsString("pass0"));
  }

  private static boolean hasPasses(KernelSpec spec, KernelPasses phases, int lanes) {
    return !isInline(phases) && !RowEmitter.takes(spec, phases, lanes);
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

  private static void passMethod(KernelCode method, int phase) {
    KernelPasses phases = method.phases;
    CodeBuilder code = method.code;
    int[] places = new int[method.spec.operands() + phases.scratchRows()];
    int[] rows = new int[method.spec.values()];
    int parameter = 3;
    for (int place : phases.places(phase)) {
      places[place] = code.parameterSlot(parameter++);
    }
    for (int value : phases.rowsUsed(phase)) {
      rows[value] = code.parameterSlot(parameter++);
    }
    method.parameters(passType(phases, phase));
    method.frames.returnBelow(0, code.parameterSlot(1));
    PassEmitter.Frame frame =
        new PassEmitter.Frame(
            code.parameterSlot(0), code.parameterSlot(1), code.parameterSlot(2), places, rows);
    new PassEmitter(method, phase, frame).emit();
    method.endMethod();
  }

  /** Whether HotSpot will compile all methods of the kernel. */
  static boolean isCompilable(byte[] kernel) {
    return ClassFile.of().parse(kernel).methods().stream()
        .flatMap(method -> method.findAttribute(Attributes.code()).stream())
        .allMatch(method -> method.codeLength() < HUGE_METHOD);
  }

  private void body() {
    frames.returnBelow(1, N1);
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
            RowEmitter whole = new RowEmitter(this, SCRATCH, rows);
            eachRow(() -> row(() -> whole.begin(middle), whole::pass));
          } else if (phases.count() == 1) {
            eachRow(() -> row(() -> {}, this::pass));
          } else {
            new BlockEmitter(this, middle, rows).emit();
          }
          advance(outer, 0);
        });
    endMethod();
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

  /** All passes over the row at hand, and what comes before, between and after them. */
  private void row(Runnable begin, IntConsumer pass) {
    for (int k = 0; k < spec.loads().size(); k++) {
      if (spec.loads().get(k) == Access.BROADCAST) {
        code.lload(middle[k]);
        getFloat();
        frames.store(F, rows[k]);
      }
    }
    begin.run();
    for (int phase = 0; phase < phases.count(); phase++) {
      rowValues(phase);
      pass.accept(phase);
    }
    rowValues(phases.count());
    endReductions(middle, SCRATCH);
    for (int s : phases.rowStores()) {
      code.lload(middle[spec.loads().size() + s]);
      code.fload(rows[spec.stores().get(s).value()]);
      setFloat();
    }
  }

  private void pass(int phase) {
    if (isInline(phases)) {
      PassEmitter.Frame frame = new PassEmitter.Frame(STRIDES, N, SCRATCH, middle, rows);
      new PassEmitter(this, phase, frame).emit();
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
        addLanes(slot);
        combineLanes(phases.reductions().get(slot).mode());
      } else {
        Instruction instruction = spec.instruction(value);
        instruction.arguments().forEach(argument -> code.fload(rows[argument]));
        elementwise(instruction, false);
      }
      frames.store(F, rows[value]);
    }
  }
}
