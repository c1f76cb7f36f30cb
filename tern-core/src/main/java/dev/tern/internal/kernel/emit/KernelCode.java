package dev.tern.internal.kernel.emit;

import dev.tern.internal.ir.Pointwise;
import dev.tern.internal.kernel.KernelSpec;
import dev.tern.internal.kernel.KernelSpec.Access;
import dev.tern.internal.kernel.KernelSpec.Instruction;
import dev.tern.internal.kernel.KernelSpec.Mode;
import dev.tern.internal.kernel.KernelSpec.Store;
import dev.tern.internal.kernel.ReductionLanes;
import dev.tern.internal.kernel.warmup.HiddenClasses;
import dev.tern.internal.memory.Memory;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;

/** A method of a kernel while it is written, and the instructions that all emitters write. */
class KernelCode {
  static final ClassDesc SELF = ClassDesc.of(KernelCode.class.getPackageName(), "FusedKernel");
  static final ClassDesc VECTOR = ClassDesc.of("jdk.incubator.vector.FloatVector");
  static final ClassDesc F = ConstantDescs.CD_float;
  static final ClassDesc J = ConstantDescs.CD_long;
  static final ClassDesc I = ConstantDescs.CD_int;
  static final ClassDesc V = ConstantDescs.CD_void;
  static final ClassDesc LANES = HiddenClasses.desc(ReductionLanes.class);

  /** Above every address, and so far below the largest long that no row reaches it. */
  private static final long LIMIT = 1L << 60;

  private static final ClassDesc POINTWISE = HiddenClasses.desc(Pointwise.class);
  private static final ClassDesc MEMORY = HiddenClasses.desc(Memory.class);
  private static final ClassDesc OBJECTS = HiddenClasses.desc(Objects.class);

  final KernelSpec spec;
  final KernelPasses phases;

  /** The vector length, 1 for scalar code. */
  final int lanes;

  final CodeBuilder code;
  final LoopFrames frames;

  /** Begins a method. */
  KernelCode(KernelSpec spec, KernelPasses phases, int lanes, CodeBuilder code) {
    this.spec = spec;
    this.phases = phases;
    this.lanes = lanes;
    this.code = code;
    frames = new LoopFrames(code);
  }

  /** Writes a part of the method that {@code caller} writes. */
  KernelCode(KernelCode caller) {
    spec = caller.spec;
    phases = caller.phases;
    lanes = caller.lanes;
    code = caller.code;
    frames = caller.frames;
  }

  int[] locals(int count, TypeKind kind) {
    int[] locals = new int[count];
    Arrays.setAll(locals, i -> code.allocateLocal(kind));
    return locals;
  }

  /** Says that the parameters of a static method hold values from the start. */
  void parameters(MethodTypeDesc type) {
    for (int i = 0; i < type.parameterCount(); i++) {
      frames.assigned(code.parameterSlot(i), type.parameterType(i));
    }
  }

  /** Ends the method. */
  void endMethod() {
    code.return_();
    frames.write();
  }

  /**
   * Checks that the address on the stack is from 0 to {@link #LIMIT}. So the JIT knows that
   * accesses within the row are in range, and needs no test for each.
   */
  void checkAddress() {
    code.loadConstant(LIMIT);
    code.invokestatic(OBJECTS, "checkIndex", MethodTypeDesc.of(J, J, J));
  }

  /** How an operand advances along the inner loop; a row of scratch memory is contiguous. */
  Access access(int place) {
    return place < spec.operands() ? spec.access(place) : Access.CONTIGUOUS;
  }

  /** Replaces an address on the stack by the number there. */
  void getFloat() {
    memory("getFloat", MethodTypeDesc.of(F, J));
  }

  /** Stores the number on the stack at the address below it. */
  void setFloat() {
    memory("setFloat", MethodTypeDesc.of(V, J, F));
  }

  private void memory(String name, MethodTypeDesc type) {
    if (lanes > 1) {
      InlinedMethods.insert(code, name, type);
    } else {
      code.invokestatic(MEMORY, name, type);
    }
  }

  /** Replaces the address of a row's lanes on the stack by the lanes of reduction {@code slot}. */
  void addLanes(int slot) {
    code.loadConstant((long) slot * ReductionLanes.BYTES).ladd();
  }

  /** Replaces the address of 16 lanes on the stack by their sum or maximum. */
  void combineLanes(Mode mode) {
    String name = mode == Mode.SUM ? "total" : "largest";
    MethodTypeDesc type = MethodTypeDesc.of(F, J);
    if (lanes == 4 || lanes == 8 || lanes == 16) {
      InlinedMethods.insert(code, name + lanes, type);
    } else {
      code.invokestatic(LANES, name, type);
    }
  }

  /** Replaces two numbers on the stack by their sum or maximum. */
  void combine(Mode mode) {
    String name = mode == Mode.SUM ? "add" : "max";
    code.invokestatic(POINTWISE, name, MethodTypeDesc.of(F, F, F));
  }

  /**
   * Ends the reductions of a row: combines the lanes of each, and adds the result to the operand or
   * raises the operand to it.
   *
   * @param places the locals of the operands' addresses
   * @param lanesAt the local of the address of the lanes
   */
  void endReductions(int[] places, int lanesAt) {
    int slot = 0;
    for (int s = 0; s < spec.stores().size(); s++) {
      Store store = spec.stores().get(s);
      if (store.reducesLanes()) {
        int target = places[spec.loads().size() + s];
        code.lload(target).lload(target);
        getFloat();
        code.lload(lanesAt);
        addLanes(slot++);
        combineLanes(store.mode());
        combine(store.mode());
        setFloat();
      }
    }
  }

  /** Replaces an op's arguments on the stack, vectors or numbers, by its result. */
  void elementwise(Instruction instruction, boolean vectors) {
    ClassDesc type = vectors ? VECTOR : F;
    List<ClassDesc> types = Collections.nCopies(instruction.arguments().size(), type);
    MethodTypeDesc method = MethodTypeDesc.of(type, types);
    if (vectors) {
      InlinedMethods.insert(code, instruction.method(), method);
    } else {
      code.invokestatic(POINTWISE, instruction.method(), method);
    }
  }

  /** Leaves the vector on the stack that a reduction starts from: zeros, or keys of -infinity. */
  void startOf(Mode mode) {
    code.loadConstant(mode == Mode.SUM ? 0f : Float.NEGATIVE_INFINITY);
    vector("broadcast", VECTOR, F);
    if (mode == Mode.MAX) {
      vector("key", VECTOR, VECTOR);
    }
  }

  /** Writes the body of a method of {@code VectorOps}; arguments and result are on the stack. */
  void vector(String name, ClassDesc result, ClassDesc... arguments) {
    InlinedMethods.insert(code, name, MethodTypeDesc.of(result, arguments));
  }

  /** Writes the method's form for some lanes: as many as the row fills of its last vector. */
  void someLanes(String name, ClassDesc result, ClassDesc... arguments) {
    code.loadConstant((1L << spec.row() % lanes) - 1);
    MethodTypeDesc type = MethodTypeDesc.of(result, arguments);
    InlinedMethods.insert(code, name + "Some", type.insertParameterTypes(arguments.length, J));
  }
}
