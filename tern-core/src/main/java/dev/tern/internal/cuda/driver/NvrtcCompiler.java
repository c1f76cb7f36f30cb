package dev.tern.internal.cuda.driver;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** NVIDIA's compiler as a library, NVRTC. It needs no device. */
final class NvrtcCompiler implements CudaCompiler {
  private static final int COMPILATION = 6;
  private static final long LONGEST_TEXT = 4096;

  /** Arithmetic as IEEE 754 has it: the bits of the CPU. */
  private static final List<String> OPTIONS =
      List.of("--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true");

  private final String path;
  private final List<String> options = new ArrayList<>(OPTIONS);
  private final String name;
  private final MethodHandle create;
  private final MethodHandle compile;
  private final MethodHandle logSize;
  private final MethodHandle log;
  private final MethodHandle codeSize;
  private final MethodHandle code;
  private final MethodHandle destroy;
  private final MethodHandle errorText;

  /**
   * @param path a file, or a name that the system's loader finds
   */
  NvrtcCompiler(String path) {
    this.path = path;
    SymbolLookup library = SymbolLookup.libraryLookup(path, Arena.global());
    create =
        function(
            library,
            "nvrtcCreateProgram",
            JAVA_LONG,
            JAVA_LONG,
            JAVA_LONG,
            JAVA_INT,
            JAVA_LONG,
            JAVA_LONG);
    compile = function(library, "nvrtcCompileProgram", JAVA_LONG, JAVA_INT, JAVA_LONG);
    logSize = function(library, "nvrtcGetProgramLogSize", JAVA_LONG, JAVA_LONG);
    log = function(library, "nvrtcGetProgramLog", JAVA_LONG, JAVA_LONG);
    codeSize = function(library, "nvrtcGetCUBINSize", JAVA_LONG, JAVA_LONG);
    code = function(library, "nvrtcGetCUBIN", JAVA_LONG, JAVA_LONG);
    destroy = function(library, "nvrtcDestroyProgram", JAVA_LONG);
    errorText =
        Linker.nativeLinker()
            .downcallHandle(
                find(library, "nvrtcGetErrorString"), FunctionDescriptor.of(ADDRESS, JAVA_INT));
    int version = version(function(library, "nvrtcVersion", JAVA_LONG, JAVA_LONG));
    if (version >= 1204) {
      options.add("--minimal");
    }
    name = "nvrtc %d.%d".formatted(version / 100, version % 100);
  }

  private MethodHandle function(SymbolLookup library, String name, MemoryLayout... parameters) {
    return Linker.nativeLinker()
        .downcallHandle(find(library, name), FunctionDescriptor.of(JAVA_INT, parameters));
  }

  private MemorySegment find(SymbolLookup library, String name) {
    Optional<MemorySegment> address = library.find(name);
    return address.orElseThrow(() ->
        new IllegalStateException(
            "nvrtc: got %s without %s, expected NVRTC 12 or later; install a newer one"
                .formatted(path, name)));
  }

  private int version(MethodHandle function) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(JAVA_INT, 2);
      check("nvrtcVersion", (int) function.invokeExact(out.address(), out.address() + 4));
      return 100 * out.getAtIndex(JAVA_INT, 0) + out.getAtIndex(JAVA_INT, 1);
    } catch (RuntimeException e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("nvrtcVersion", e);
    }
  }

  @Override
  public byte[] compile(String text, int architecture) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(JAVA_LONG);
      MemorySegment source = arena.allocateFrom(text);
      MemorySegment name = arena.allocateFrom(CompilerCommand.NAME);
      check(
          "nvrtcCreateProgram",
          (int) create.invokeExact(out.address(), source.address(), name.address(), 0, 0L, 0L));
      long program = out.get(JAVA_LONG, 0);
      try {
        return compile(arena, program, text, architecture);
      } finally {
        check("nvrtcDestroyProgram", (int) destroy.invokeExact(out.address()));
      }
    } catch (RuntimeException e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("nvrtcCompileProgram", e);
    }
  }

  private byte[] compile(Arena arena, long program, String text, int architecture)
      throws Throwable {
    List<String> all = new ArrayList<>(options);
    all.add("--gpu-architecture=sm_" + architecture);
    MemorySegment pointers = arena.allocate(JAVA_LONG, all.size());
    for (int i = 0; i < all.size(); i++) {
      pointers.setAtIndex(JAVA_LONG, i, arena.allocateFrom(all.get(i)).address());
    }
    int status = (int) compile.invokeExact(program, all.size(), pointers.address());
    if (status == COMPILATION) {
      byte[] said = read(arena, "nvrtcGetProgramLog", logSize, log, program);
      throw CudaCompilerException.of("nvrtc", new String(said, UTF_8).replace("\0", ""), text);
    }
    check("nvrtcCompileProgram", status);
    return read(arena, "nvrtcGetCUBIN", codeSize, code, program);
  }

  private byte[] read(Arena arena, String name, MethodHandle size, MethodHandle get, long program)
      throws Throwable {
    MemorySegment count = arena.allocate(JAVA_LONG);
    check(name, (int) size.invokeExact(program, count.address()));
    MemorySegment bytes = arena.allocate(Math.max(1, count.get(JAVA_LONG, 0)));
    check(name, (int) get.invokeExact(program, bytes.address()));
    return bytes.asSlice(0, count.get(JAVA_LONG, 0)).toArray(JAVA_BYTE);
  }

  private void check(String name, int status) throws Throwable {
    if (status != 0) {
      MemorySegment text = (MemorySegment) errorText.invokeExact(status);
      throw new IllegalStateException(
          "%s: got %d %s, expected success; try another version of NVRTC, now %s"
              .formatted(name, status, text.reinterpret(LONGEST_TEXT).getString(0), path));
    }
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String identity() {
    return name + " " + options;
  }

  @Override
  public String place() {
    return path;
  }
}
