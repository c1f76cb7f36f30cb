package dev.tern.internal.kernel.emit;

import dev.tern.internal.memory.Memory;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeModel;
import java.lang.classfile.Label;
import java.lang.classfile.MethodModel;
import java.lang.classfile.Opcode;
import java.lang.classfile.PseudoInstruction;
import java.lang.classfile.TypeKind;
import java.lang.classfile.instruction.BranchInstruction;
import java.lang.classfile.instruction.FieldInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.LabelTarget;
import java.lang.classfile.instruction.LoadInstruction;
import java.lang.classfile.instruction.ReturnInstruction;
import java.lang.classfile.instruction.StoreInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * Copies the bytecode of methods of {@code VectorOps}, {@code VectorMath} and {@code Memory} into
 * kernels, in place of calls. C2 stops inlining once the graph of a method has some 18,000 nodes;
 * two functions such as softplus and sigmoid are enough. A call that is not inlined boxes its
 * vectors, and even a call without vectors waits until vector registers are cleared. The limit does
 * not apply to the JDK's own methods, so a kernel that calls nothing else never boxes.
 */
final class InlinedMethods {
  private static final String PACKAGE = InlinedMethods.class.getPackageName() + ".";
  private static final Map<String, MethodModel> METHODS = new HashMap<>();

  static {
    // By name, as a class literal would load the class, and with it the Vector API.
    copy(InlinedMethods.class, PACKAGE + "VectorOps");
    copy(InlinedMethods.class, PACKAGE + "VectorMath");
    copy(Memory.class, Memory.class.getName());
  }

  private InlinedMethods() {}

  /** Adds all methods of class {@code name}, in the package of {@code neighbour}. */
  private static void copy(Class<?> neighbour, String name) {
    for (MethodModel method : parse(neighbour, name).methods()) {
      String type = method.methodType().stringValue();
      METHODS.put(key(name, method.methodName().stringValue(), type), method);
    }
  }

  /**
   * Writes the body of a method of {@code VectorOps} or {@code VectorMath}; arguments and result
   * are on the stack.
   */
  static void insert(CodeBuilder code, String name, MethodTypeDesc type) {
    String op = key(PACKAGE + "VectorOps", name, type.descriptorString());
    String owner = METHODS.containsKey(op) ? "VectorOps" : "VectorMath";
    insert(code, PACKAGE + owner, name, type);
  }

  /** Writes the body of a method of {@code Memory}; arguments and result are on the stack. */
  static void insertMemory(CodeBuilder code, String name, MethodTypeDesc type) {
    insert(code, Memory.class.getName(), name, type);
  }

  private static void insert(CodeBuilder code, String owner, String name, MethodTypeDesc type) {
    MethodModel method = METHODS.get(key(owner, name, type.descriptorString()));
    if (method == null) {
      throw new IllegalStateException("kernel: got " + name + ", expected a method of " + owner);
    }
    insert(code, method);
  }

  private static void insert(CodeBuilder code, MethodModel method) {
    CodeModel body = method.code().orElseThrow();
    // Locals of a block are free again after it.
    code.block(block -> {
      Map<Integer, Integer> locals = new HashMap<>();
      storeArguments(block, method.methodTypeSymbol().parameterList(), locals);
      Check check = new Check();
      body.forEach(element -> {
        if (!check.contains(element)) {
          copy(block, element, locals);
        }
      });
    });
  }

  /** Finds {@code if (CHECKED) ...} in methods of {@code Memory}; vector code leaves it out. */
  private static final class Check {
    private boolean isInside;
    private Optional<Label> end = Optional.empty();

    boolean contains(CodeElement element) {
      switch (element) {
        case FieldInstruction field when field.name().equalsString("CHECKED") -> isInside = true;
        case BranchInstruction branch when isInside -> end = Optional.of(branch.target());
        case LabelTarget target when end.equals(Optional.of(target.label())) -> isInside = false;
        default -> {}
      }
      return isInside;
    }
  }

  private static void storeArguments(
      CodeBuilder code, List<ClassDesc> types, Map<Integer, Integer> locals) {
    int slot = types.stream().mapToInt(type -> TypeKind.from(type).slotSize()).sum();
    for (ClassDesc type : types.reversed()) {
      TypeKind kind = TypeKind.from(type);
      slot -= kind.slotSize();
      locals.put(slot, code.allocateLocal(kind));
      code.storeLocal(kind, locals.get(slot));
    }
  }

  private static void copy(CodeBuilder code, CodeElement element, Map<Integer, Integer> locals) {
    switch (element) {
      case LoadInstruction load ->
          code.loadLocal(load.typeKind(), Objects.requireNonNull(locals.get(load.slot())));
      case StoreInstruction store ->
          code.storeLocal(
              store.typeKind(),
              locals.computeIfAbsent(store.slot(), s -> code.allocateLocal(store.typeKind())));
      case InvokeInstruction call when METHODS.containsKey(key(call)) ->
          insert(code, Objects.requireNonNull(METHODS.get(key(call))));
      case BranchInstruction branch ->
          throw new IllegalStateException("kernel: got a branch, expected straight-line code");
      case ReturnInstruction result -> {}
      case PseudoInstruction mark -> {}
      default -> code.with(element);
    }
  }

  private static String key(InvokeInstruction call) {
    return call.opcode() == Opcode.INVOKESTATIC
        ? key(
            call.owner().asInternalName().replace('/', '.'),
            call.name().stringValue(),
            call.type().stringValue())
        : "";
  }

  private static String key(String owner, String name, String type) {
    return owner + "." + name + type;
  }

  private static ClassModel parse(Class<?> neighbour, String name) {
    String file = name.substring(name.lastIndexOf('.') + 1) + ".class";
    try (InputStream in = neighbour.getResourceAsStream(file)) {
      if (in == null) {
        throw new IllegalStateException("class " + name + ": its bytecode is not to be found");
      }
      return ClassFile.of(
              ClassFile.DebugElementsOption.DROP_DEBUG,
              ClassFile.LineNumbersOption.DROP_LINE_NUMBERS)
          .parse(in.readAllBytes());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
