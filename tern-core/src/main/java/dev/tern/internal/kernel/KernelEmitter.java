package dev.tern.internal.kernel;

import dev.tern.internal.ir.Pointwise;
import dev.tern.internal.kernel.KernelSpec.Access;
import dev.tern.internal.kernel.KernelSpec.Instruction;
import dev.tern.internal.kernel.KernelSpec.Mode;
import dev.tern.internal.kernel.KernelSpec.Store;
import dev.tern.internal.memory.Memory;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.TypeKind;
import java.lang.classfile.attribute.SourceFileAttribute;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

/**
 * Writes a {@link KernelSpec} as a class that implements {@link Kernel}. The shape of its code:
 *
 * <pre>
 * for (i0 = 0; i0 &lt; n0; i0++)            // operand addresses advance by their outer strides
 *   for (i1 = 0; i1 &lt; n1; i1++)          // ... by their middle strides
 *     load BROADCAST operands; set lane accumulators
 *     for (i = 0; i + step &lt;= n; i += step)  // vector kernels only: step = lanes, or 16 with
 *       load, compute, store                //   reductions over the inner loop (see Lanes)
 *     for (; i &lt; n; i++)                  // the rest, one element at a time
 *       load, compute, store
 *     combine lane accumulators
 * </pre>
 *
 * Each op is one static call to {@link Pointwise}, which the JIT inlines, or a copy of the method
 * of {@code Vectors}.
 */
final class KernelEmitter {
  private static final ClassDesc SELF = ClassDesc.of("dev.tern.internal.kernel.FusedKernel");
  private static final ClassDesc KERNEL = desc(Kernel.class);
  private static final ClassDesc POINTWISE = desc(Pointwise.class);
  private static final ClassDesc MEMORY = desc(Memory.class);
  private static final ClassDesc LANES = desc(Lanes.class);
  private static final ClassDesc VECTORS = ClassDesc.of("dev.tern.internal.kernel.Vectors");
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
  private static final int STRIDES = 2;
  private static final int N0 = 3;
  private static final int N1 = 4;
  private static final int N = 5;
  private static final int SCALARS = 6;
  private static final int SCRATCH = 7;

  private final KernelSpec spec;
  private final int lanes;
  private final int unroll;
  private final CodeBuilder code;
  private final int[] outer;
  private final int[] middle;
  private final int[] scalarValues;
  private final int[] vectorValues;
  private final int[][] accumulators;
  private final int counter;

  private KernelEmitter(KernelSpec spec, int lanes, CodeBuilder code) {
    this.spec = spec;
    this.lanes = lanes;
    this.code = code;
    unroll = spec.laneReductions() > 0 && lanes > 1 ? Lanes.COUNT / lanes : 1;
    outer = locals(spec.operands(), TypeKind.LONG);
    middle = locals(spec.operands(), TypeKind.LONG);
    int values = spec.loads().size() + spec.scalars() + spec.instructions().size();
    scalarValues = locals(values, TypeKind.FLOAT);
    vectorValues = lanes > 1 ? locals(values, TypeKind.REFERENCE) : new int[0];
    accumulators = new int[lanes > 1 ? spec.laneReductions() : 0][];
    for (int r = 0; r < accumulators.length; r++) {
      accumulators[r] = locals(unroll, TypeKind.REFERENCE);
    }
    counter = code.allocateLocal(TypeKind.INT);
  }

  /** The class file of the kernel; {@code lanes} is the vector length, 1 for scalar code. */
  static byte[] emit(KernelSpec spec, int lanes) {
    return ClassFile.of()
        .build(
            SELF,
            type -> {
              type.withInterfaceSymbols(KERNEL);
              type.withFlags(ClassFile.ACC_FINAL | ClassFile.ACC_SUPER);
              // Stack traces and profiles then show the expression in place of a file name.
              type.with(SourceFileAttribute.of(sourceName(spec)));
              type.withMethodBody(
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
              type.withMethodBody(
                  "run",
                  RUN,
                  ClassFile.ACC_PUBLIC,
                  run -> {
                    run.lineNumber(1);
                    new KernelEmitter(spec, lanes, run).body();
                  });
            });
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
      code.aload(ADDRESSES).loadConstant(k).laload().lstore(outer[k]);
    }
    for (int c = 0; c < spec.scalars(); c++) {
      int value = spec.loads().size() + c;
      code.aload(SCALARS).loadConstant(c).faload().fstore(scalarValues[value]);
      broadcast(value);
    }
    loop(
        N0,
        () -> {
          for (int k = 0; k < outer.length; k++) {
            code.lload(outer[k]).lstore(middle[k]);
          }
          loop(
              N1,
              () -> {
                innerLoop();
                advance(middle, 1);
              });
          advance(outer, 0);
        });
    code.return_();
  }

  /** Counts a fresh local from 0 to the int local {@code limit}. */
  private void loop(int limit, Runnable body) {
    int index = code.allocateLocal(TypeKind.INT);
    Label head = code.newLabel();
    Label end = code.newLabel();
    code.iconst_0().istore(index);
    code.labelBinding(head);
    code.iload(index).iload(limit).if_icmpge(end);
    body.run();
    code.iinc(index, 1).goto_(head);
    code.labelBinding(end);
  }

  private void advance(int[] addresses, int level) {
    for (int k = 0; k < addresses.length; k++) {
      code.aload(STRIDES).loadConstant(3 * k + level).laload();
      code.lload(addresses[k]).ladd().lstore(addresses[k]);
    }
  }

  private void innerLoop() {
    for (int k = 0; k < spec.loads().size(); k++) {
      if (spec.loads().get(k) == Access.BROADCAST) {
        code.lload(middle[k]);
        code.invokestatic(MEMORY, "getFloat", MethodTypeDesc.of(F, J)).fstore(scalarValues[k]);
        broadcast(k);
      }
    }
    beginLanes();
    code.iconst_0().istore(counter);
    if (lanes > 1) {
      vectorLoop();
      flushAccumulators();
    }
    scalarLoop();
    endLanes();
  }

  private void broadcast(int value) {
    if (lanes > 1) {
      code.fload(scalarValues[value]);
      call(VECTORS, "broadcast", MethodTypeDesc.of(VECTOR, F));
      code.astore(vectorValues[value]);
    }
  }

  private void beginLanes() {
    int r = 0;
    for (Store store : spec.stores()) {
      if (store.reducesLanes()) {
        float identity = store.mode() == Mode.SUM ? 0f : Float.NEGATIVE_INFINITY;
        if (lanes == 1) {
          lanesAddress(r);
          code.loadConstant(identity);
          code.invokestatic(LANES, "fill", MethodTypeDesc.of(V, J, F));
        } else {
          for (int accumulator : accumulators[r]) {
            code.loadConstant(identity);
            call(VECTORS, "broadcast", MethodTypeDesc.of(VECTOR, F));
            code.astore(accumulator);
          }
        }
        r++;
      }
    }
  }

  private void flushAccumulators() {
    for (int r = 0; r < accumulators.length; r++) {
      for (int u = 0; u < unroll; u++) {
        code.aload(accumulators[r][u]);
        lanesAddress(r);
        code.loadConstant((long) u * lanes * Float.BYTES).ladd();
        call(VECTORS, "store", MethodTypeDesc.of(V, VECTOR, J));
      }
    }
  }

  private void endLanes() {
    int r = 0;
    for (int s = 0; s < spec.stores().size(); s++) {
      Store store = spec.stores().get(s);
      if (store.reducesLanes()) {
        lanesAddress(r++);
        code.lload(middle[spec.loads().size() + s]);
        String combine = store.mode() == Mode.SUM ? "sumInto" : "maxInto";
        code.invokestatic(LANES, combine, MethodTypeDesc.of(V, J, J));
      }
    }
  }

  private void lanesAddress(int reduction) {
    code.lload(SCRATCH).loadConstant((long) reduction * Lanes.BYTES).ladd();
  }

  private void vectorLoop() {
    Label head = code.newLabel();
    Label end = code.newLabel();
    int step = lanes * unroll;
    code.labelBinding(head);
    code.iload(counter).loadConstant(step).iadd().iload(N).if_icmpgt(end);
    for (int u = 0; u < unroll; u++) {
      vectorElement(u);
    }
    code.iinc(counter, step).goto_(head);
    code.labelBinding(end);
  }

  private void vectorElement(int u) {
    for (int k = 0; k < spec.loads().size(); k++) {
      if (spec.loads().get(k) == Access.CONTIGUOUS) {
        elementAddress(k, u * lanes);
        call(VECTORS, "load", MethodTypeDesc.of(VECTOR, J));
        code.astore(vectorValues[k]);
      }
    }
    instructions(VECTORS, VECTOR, vectorValues, TypeKind.REFERENCE);
    int r = 0;
    for (int s = 0; s < spec.stores().size(); s++) {
      Store store = spec.stores().get(s);
      int operand = spec.loads().size() + s;
      if (store.reducesLanes()) {
        code.aload(accumulators[r][u]).aload(vectorValues[store.value()]);
        combine(VECTORS, VECTOR, store.mode());
        code.astore(accumulators[r++][u]);
        continue;
      }
      code.aload(vectorValues[store.value()]);
      if (store.mode() != Mode.WRITE) {
        elementAddress(operand, u * lanes);
        call(VECTORS, "load", MethodTypeDesc.of(VECTOR, J));
        code.swap();
        combine(VECTORS, VECTOR, store.mode());
      }
      elementAddress(operand, u * lanes);
      call(VECTORS, "store", MethodTypeDesc.of(V, VECTOR, J));
    }
  }

  private void scalarLoop() {
    Label head = code.newLabel();
    Label end = code.newLabel();
    code.labelBinding(head);
    code.iload(counter).iload(N).if_icmpge(end);
    for (int k = 0; k < spec.loads().size(); k++) {
      if (spec.loads().get(k) != Access.BROADCAST) {
        elementAddress(k, 0);
        code.invokestatic(MEMORY, "getFloat", MethodTypeDesc.of(F, J)).fstore(scalarValues[k]);
      }
    }
    instructions(POINTWISE, F, scalarValues, TypeKind.FLOAT);
    scalarStores();
    code.iinc(counter, 1).goto_(head);
    code.labelBinding(end);
  }

  private void scalarStores() {
    int r = 0;
    for (int s = 0; s < spec.stores().size(); s++) {
      Store store = spec.stores().get(s);
      int operand = spec.loads().size() + s;
      if (store.reducesLanes()) {
        code.fload(scalarValues[store.value()]);
        lanesAddress(r++);
        code.iload(counter);
        String name = store.mode() == Mode.SUM ? "sum" : "max";
        code.invokestatic(LANES, name, MethodTypeDesc.of(V, F, J, I));
        continue;
      }
      elementAddress(operand, 0);
      if (store.mode() == Mode.WRITE) {
        code.fload(scalarValues[store.value()]);
      } else {
        elementAddress(operand, 0);
        code.invokestatic(MEMORY, "getFloat", MethodTypeDesc.of(F, J));
        code.fload(scalarValues[store.value()]);
        combine(POINTWISE, F, store.mode());
      }
      code.invokestatic(MEMORY, "setFloat", MethodTypeDesc.of(V, J, F));
    }
  }

  private void combine(ClassDesc owner, ClassDesc type, Mode mode) {
    String name = mode == Mode.SUM ? "add" : "max";
    call(owner, name, MethodTypeDesc.of(type, type, type));
  }

  private void instructions(ClassDesc owner, ClassDesc type, int[] values, TypeKind kind) {
    int target = spec.loads().size() + spec.scalars();
    for (Instruction instruction : spec.instructions()) {
      List<Integer> arguments = instruction.arguments();
      for (int argument : arguments) {
        code.loadLocal(kind, values[argument]);
      }
      String name = ((Enum<?>) instruction.op()).name().toLowerCase(Locale.ROOT);
      List<ClassDesc> types = Collections.nCopies(arguments.size(), type);
      call(owner, name, MethodTypeDesc.of(type, types));
      code.storeLocal(kind, values[target++]);
    }
  }

  private void call(ClassDesc owner, String name, MethodTypeDesc type) {
    if (owner.equals(VECTORS)) {
      VectorCode.insert(code, name, type);
    } else {
      code.invokestatic(owner, name, type);
    }
  }

  /** Address of element {@code counter + ahead} of an operand. */
  private void elementAddress(int operand, int ahead) {
    int loads = spec.loads().size();
    Access access =
        operand < loads ? spec.loads().get(operand) : spec.stores().get(operand - loads).access();
    code.lload(middle[operand]);
    code.iload(counter);
    if (access == Access.STRIDED) {
      code.i2l().aload(STRIDES).loadConstant(3 * operand + 2).laload().lmul().ladd();
      return;
    }
    code.i2l().iconst_2().lshl().ladd();
    if (ahead > 0) {
      code.loadConstant((long) ahead * Float.BYTES).ladd();
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
