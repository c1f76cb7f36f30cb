package dev.tern.internal.kernel.emit;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeModel;
import java.lang.classfile.MethodModel;
import java.lang.classfile.PseudoInstruction;
import java.lang.classfile.TypeKind;
import java.lang.classfile.instruction.BranchInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.LoadInstruction;
import java.lang.classfile.instruction.ReturnInstruction;
import java.lang.classfile.instruction.StoreInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Copies the bytecode of methods of {@code VectorOps} and {@code VectorMath} into kernels, in place
 * of calls. C2 stops inlining once the graph of a method has some 18,000 nodes; two functions such
 * as softplus and sigmoid are enough. A call that is not inlined boxes its vectors, and even a call
 * without vectors waits until vector registers are cleared. The limit does not apply to the JDK's
 * own methods, so a kernel that calls nothing else never boxes.
 */
final class InlinedMethods {
  private static final String PACKAGE = InlinedMethods.class.getPackageName() + ".";

  // By name, as class literals would load the classes, and with them the Vector API.
  private static final String OPS = PACKAGE + "VectorOps";
  private static final String MATH = PACKAGE + "VectorMath";

  /** Methods of both classes by name and type. */
  private static final Map<String, MethodModel> METHODS = new HashMap<>();

  static {
    for (String name : List.of(OPS, MATH)) {
      for (MethodModel method : parse(name).methods()) {
        METHODS.put(method.methodName().stringValue() + method.methodType().stringValue(), method);
      }
    }
  }

  private InlinedMethods() {}

  /** Writes the body of a method; arguments and result are on the stack. */
  static void insert(CodeBuilder code, String name, MethodTypeDesc type) {
    MethodModel method = METHODS.get(name + type.descriptorString());
    if (method == null) {
      throw new IllegalStateException("kernel: got " + name + ", expected a method of " + MATH);
    }
    CodeModel body = method.code().orElseThrow();
    // Locals of a block are free again after it.
    code.block(block -> {
      Map<Integer, Integer> locals = new HashMap<>();
      storeArguments(block, type.parameterList(), locals);
      body.forEach(element -> copy(block, element, locals));
    });
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
      case InvokeInstruction call when isCopied(call) ->
          insert(code, call.name().stringValue(), call.typeSymbol());
      case BranchInstruction branch ->
          throw new IllegalStateException("kernel: got a branch, expected straight-line code");
      case ReturnInstruction result -> {}
      case PseudoInstruction mark -> {}
      default -> code.with(element);
    }
  }

  private static boolean isCopied(InvokeInstruction call) {
    String owner = call.owner().asInternalName().replace('/', '.');
    return owner.equals(OPS) || owner.equals(MATH);
  }

  private static ClassModel parse(String name) {
    String file = name.substring(PACKAGE.length()) + ".class";
    try (InputStream in = InlinedMethods.class.getResourceAsStream(file)) {
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
