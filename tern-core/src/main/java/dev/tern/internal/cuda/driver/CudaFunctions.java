package dev.tern.internal.cuda.driver;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The functions of one library by name. Those that it lacks are collected, so that one message
 * names them all.
 */
final class CudaFunctions {
  private final SymbolLookup library;
  private final String path;
  private final List<String> missing = new ArrayList<>();
  private final List<String> names = new ArrayList<>();
  private final CudaErrors errors;

  CudaFunctions(SymbolLookup library, String path) {
    this.library = library;
    this.path = path;
    errors = new CudaErrors(handle("cuGetErrorName", "IL"), handle("cuGetErrorString", "IL"));
  }

  /**
   * A function that returns a result code.
   *
   * @param parameters a letter each: B, I, L for 1, 4, 8 bytes; S for a memory segment
   */
  CudaCall of(String name, String parameters) {
    names.add(name);
    return new CudaCall(name, handle(name, parameters), errors);
  }

  /** The first of two names that the library has. */
  CudaCall ofEither(String name, String other, String parameters) {
    return of(library.find(name).isPresent() ? name : other, parameters);
  }

  /** The functions asked for, in order. */
  List<String> names() {
    return List.copyOf(names);
  }

  /** Refuses a library that lacked a function asked for. */
  void requireAll() {
    if (!missing.isEmpty()) {
      throw new IllegalStateException(
          "device: got %s without %s, expected a driver of CUDA 12 or later; install a newer driver"
              .formatted(path, String.join(", ", missing)));
    }
  }

  private MethodHandle handle(String name, String parameters) {
    MemoryLayout[] layouts =
        parameters.chars().mapToObj(CudaFunctions::layout).toArray(MemoryLayout[]::new);
    FunctionDescriptor signature = FunctionDescriptor.of(ValueLayout.JAVA_INT, layouts);
    Optional<MemorySegment> address = library.find(name);
    if (address.isEmpty()) {
      missing.add(name);
      return MethodHandles.empty(signature.toMethodType());
    }
    return Linker.nativeLinker().downcallHandle(address.get(), signature);
  }

  private static MemoryLayout layout(int letter) {
    return switch (letter) {
      case 'B' -> ValueLayout.JAVA_BYTE;
      case 'I' -> ValueLayout.JAVA_INT;
      case 'L' -> ValueLayout.JAVA_LONG;
      case 'S' -> ValueLayout.ADDRESS;
      default -> throw new AssertionError("parameter " + (char) letter);
    };
  }
}
