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
import java.lang.classfile.TypeKind;
import java.lang.classfile.attribute.SourceFileAttribute;
import java.lang.classfile.attribute.StackMapFrameInfo.ObjectVerificationTypeInfo;
import java.lang.classfile.attribute.StackMapFrameInfo.SimpleVerificationTypeInfo;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/**
 * Writes a {@link KernelSpec} as a class that implements {@link Kernel}. The shape of its code:
 *
 * <pre>
 * for (i0 = 0; i0 &lt; n0; i0++)            // operand addresses advance by their outer strides
 *   for (i1 = 0; i1 &lt; n1; i1++)          // ... by their middle strides
 *     load BROADCAST operands; set lane accumulators
 *     for (i = 0; i + step &lt;= n; i += step)  // vector kernels only: several vectors at a time, and
 *       load, compute, store                //   then one, or 16 lanes with reductions over the
 *                                           //   inner loop (see Lanes)
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
  private static final ClassDesc OBJECTS = desc(Objects.class);
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

  /** Above every address, and so far below the largest long that no row reaches it. */
  private static final long LIMIT = 1L << 60;

  /** Ops and operands of a loop that takes four vectors at a time; of twice as many, two. */
  private static final int UNROLLED_WORK = 24;

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
  private final int sets;
  private final int unroll;
  private final CodeBuilder code;
  private final Frames frames;
  private final int[] outer;
  private final int[] middle;
  private final int[] row;
  private final int offset;
  private final int[] scalarValues;
  private final int[] vectorValues;
  private final int[][] accumulators;
  private final int counter;

  private KernelEmitter(KernelSpec spec, int lanes, CodeBuilder code) {
    this.spec = spec;
    this.lanes = lanes;
    this.code = code;
    frames = new Frames(code);
    frames.assigned(ADDRESSES, ObjectVerificationTypeInfo.of(J.arrayType()));
    frames.assigned(STRIDES, ObjectVerificationTypeInfo.of(J.arrayType()));
    frames.assigned(N0, SimpleVerificationTypeInfo.INTEGER);
    frames.assigned(N1, SimpleVerificationTypeInfo.INTEGER);
    frames.assigned(N, SimpleVerificationTypeInfo.INTEGER);
    frames.assigned(SCALARS, ObjectVerificationTypeInfo.of(F.arrayType()));
    frames.assigned(SCRATCH, SimpleVerificationTypeInfo.LONG);
    sets = spec.laneReductions() > 0 && lanes > 1 ? Lanes.COUNT / lanes : 1;
    unroll = Math.max(sets, unroll(spec));
    outer = locals(spec.operands(), TypeKind.LONG);
    middle = locals(spec.operands(), TypeKind.LONG);
    row = locals(spec.operands(), TypeKind.LONG);
    offset = code.allocateLocal(TypeKind.LONG);
    int values = spec.loads().size() + spec.scalars() + spec.instructions().size();
    scalarValues = locals(values, TypeKind.FLOAT);
    vectorValues = lanes > 1 ? locals(values, TypeKind.REFERENCE) : new int[0];
    accumulators = new int[lanes > 1 ? spec.laneReductions() : 0][];
    for (int r = 0; r < accumulators.length; r++) {
      accumulators[r] = locals(sets, TypeKind.REFERENCE);
    }
    counter = code.allocateLocal(TypeKind.INT);
  }

  /** Vectors in one turn of the loop: it must outweigh the loop's own cost, and stay small. */
  private static int unroll(KernelSpec spec) {
    int work = spec.operands();
    for (Instruction instruction : spec.instructions()) {
      work += instruction.op().isPolynomial() ? 2 * UNROLLED_WORK : 1;
    }
    return work > 2 * UNROLLED_WORK ? 1 : work > UNROLLED_WORK ? 2 : 4;
  }

  /** The class file of the kernel; {@code lanes} is the vector length, 1 for scalar code. */
  static byte[] emit(KernelSpec spec, int lanes) {
    return ClassFile.of(ClassFile.StackMapsOption.DROP_STACK_MAPS)
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
      code.aload(ADDRESSES).loadConstant(k).laload();
      store(TypeKind.LONG, outer[k]);
    }
    for (int c = 0; c < spec.scalars(); c++) {
      int value = spec.loads().size() + c;
      code.aload(SCALARS).loadConstant(c).faload();
      store(TypeKind.FLOAT, scalarValues[value]);
      broadcast(value);
    }
    loop(
        N0,
        () -> {
          for (int k = 0; k < outer.length; k++) {
            code.lload(outer[k]);
            store(TypeKind.LONG, middle[k]);
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
    frames.write();
  }

  /** Counts a fresh local from 0 to the int local {@code limit}. */
  private void loop(int limit, Runnable body) {
    int index = code.allocateLocal(TypeKind.INT);
    code.iconst_0();
    store(TypeKind.INT, index);
    frames.loop(
        end -> code.iload(index).iload(limit).if_icmpge(end),
        () -> {
          body.run();
          code.iinc(index, 1);
        });
  }

  /** Counts {@link #counter} on by {@code step} while that many elements are left. */
  private void elements(int step, Runnable body) {
    frames.loop(
        end -> code.iload(counter).loadConstant(step).iadd().iload(N).if_icmpgt(end),
        () -> {
          offset();
          body.run();
          code.iinc(counter, step);
        });
  }

  /** Stores into a local that lives across loops. */
  private void store(TypeKind kind, int local) {
    code.storeLocal(kind, local);
    frames.assigned(
        local,
        switch (kind) {
          case INT -> SimpleVerificationTypeInfo.INTEGER;
          case LONG -> SimpleVerificationTypeInfo.LONG;
          case FLOAT -> SimpleVerificationTypeInfo.FLOAT;
          case REFERENCE -> ObjectVerificationTypeInfo.of(VECTOR);
          case BOOLEAN, BYTE, CHAR, SHORT, DOUBLE, VOID ->
              throw new AssertionError("kernel: got a local of " + kind);
        });
  }

  private void advance(int[] addresses, int level) {
    for (int k = 0; k < addresses.length; k++) {
      code.aload(STRIDES).loadConstant(3 * k + level).laload();
      code.lload(addresses[k]).ladd().lstore(addresses[k]);
    }
  }

  private void innerLoop() {
    for (int k = 0; k < row.length; k++) {
      code.lload(middle[k]).loadConstant(LIMIT);
      code.invokestatic(OBJECTS, "checkIndex", MethodTypeDesc.of(J, J, J));
      store(TypeKind.LONG, row[k]);
    }
    for (int k = 0; k < spec.loads().size(); k++) {
      if (spec.loads().get(k) == Access.BROADCAST) {
        code.lload(middle[k]);
        code.invokestatic(MEMORY, "getFloat", MethodTypeDesc.of(F, J));
        store(TypeKind.FLOAT, scalarValues[k]);
        broadcast(k);
      }
    }
    beginLanes();
    code.iconst_0();
    store(TypeKind.INT, counter);
    if (lanes > 1) {
      vectorLoops();
      flushAccumulators();
    }
    elements(1, this::scalarElement);
    endLanes();
  }

  private void broadcast(int value) {
    if (lanes > 1) {
      code.fload(scalarValues[value]);
      call(VECTORS, "broadcast", MethodTypeDesc.of(VECTOR, F));
      store(TypeKind.REFERENCE, vectorValues[value]);
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
            store(TypeKind.REFERENCE, accumulator);
          }
        }
        r++;
      }
    }
  }

  private void flushAccumulators() {
    for (int r = 0; r < accumulators.length; r++) {
      for (int u = 0; u < sets; u++) {
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

  /** Whole vectors: {@link #unroll} of them at a time, then one at a time. */
  private void vectorLoops() {
    vectorLoop(unroll);
    if (unroll > sets) {
      vectorLoop(sets);
    }
  }

  private void vectorLoop(int vectors) {
    elements(
        lanes * vectors,
        () -> {
          for (int u = 0; u < vectors; u++) {
            vectorElement(u);
          }
        });
  }

  private void vectorElement(int u) {
    for (int k = 0; k < spec.loads().size(); k++) {
      if (access(k) == Access.CONTIGUOUS) {
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
        int accumulator = accumulators[r++][u % sets];
        code.aload(accumulator).aload(vectorValues[store.value()]);
        combine(VECTORS, VECTOR, store.mode());
        code.astore(accumulator);
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

  private void scalarElement() {
    for (int k = 0; k < spec.loads().size(); k++) {
      if (access(k) != Access.BROADCAST) {
        elementAddress(k, 0);
        code.invokestatic(MEMORY, "getFloat", MethodTypeDesc.of(F, J)).fstore(scalarValues[k]);
      }
    }
    instructions(POINTWISE, F, scalarValues, TypeKind.FLOAT);
    scalarStores();
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

  /**
   * Bytes from the start of a row to element {@code counter}. The mask tells the JIT that it is not
   * negative: with the test of the row's address it then needs no test at the accesses.
   */
  private void offset() {
    code.iload(counter).loadConstant(Integer.MAX_VALUE).iand().i2l().iconst_2().lshl();
    code.lstore(offset);
  }

  /** Address of element {@code counter + ahead} of an operand. */
  private void elementAddress(int operand, int ahead) {
    code.lload(row[operand]);
    if (access(operand) == Access.STRIDED) {
      code.iload(counter).i2l().aload(STRIDES).loadConstant(3 * operand + 2).laload().lmul();
    } else {
      code.lload(offset);
    }
    code.ladd();
    if (ahead > 0) {
      code.loadConstant((long) ahead * Float.BYTES).ladd();
    }
  }

  private Access access(int operand) {
    int loads = spec.loads().size();
    return operand < loads
        ? spec.loads().get(operand)
        : spec.stores().get(operand - loads).access();
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
