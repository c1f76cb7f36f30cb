package dev.tern.internal.cuda.driver;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Code on a device: modules, the kernels in them, and their launches. */
public final class CudaModules {
  private static final int MAX_DYNAMIC_SHARED = 8;
  private static final int REGISTERS = 4;
  private static final int LOCAL_BYTES = 3;
  private static final int SHARED_BYTES = 1;
  private static final int MAX_THREADS = 0;
  private static final int ERROR_LOG = 5;
  private static final int ERROR_LOG_BYTES = 6;
  private static final long LOG_BYTES = 8192;

  private final CudaCall load;
  private final CudaCall function;
  private final CudaCall unload;
  private final CudaCall setAttribute;
  private final CudaCall attribute;
  private final CudaCall launch;
  private final CudaCall launchWith;
  private final CudaCall occupancy;

  CudaModules(CudaFunctions functions) {
    load = functions.of("cuModuleLoadDataEx", "LLILL");
    function = functions.of("cuModuleGetFunction", "LLL");
    unload = functions.of("cuModuleUnload", "L");
    setAttribute = functions.of("cuFuncSetAttribute", "LII");
    attribute = functions.of("cuFuncGetAttribute", "LIL");
    launch = functions.of("cuLaunchKernel", "LIIIIIIILSL");
    launchWith = functions.of("cuLaunchKernelEx", "LLLL");
    occupancy = functions.of("cuOccupancyMaxActiveBlocksPerMultiprocessor", "LLIL");
  }

  /** Puts code, as a compiler made it, on the device of the current context; returns its module. */
  public long load(byte[] code) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment image = arena.allocate(Math.max(code.length, 64), 16);
      MemorySegment.copy(code, 0, image, JAVA_BYTE, 0, code.length);
      MemorySegment log = arena.allocate(LOG_BYTES);
      MemorySegment options = arena.allocateFrom(JAVA_INT, ERROR_LOG, ERROR_LOG_BYTES);
      MemorySegment values = arena.allocateFrom(JAVA_LONG, log.address(), LOG_BYTES);
      MemorySegment out = arena.allocate(JAVA_LONG);
      int status =
          load.call(out.address(), image.address(), 2, options.address(), values.address());
      if (status != 0) {
        String said = log.getString(0).strip();
        throw load.failed(
            status,
            code.length + " bytes of code" + (said.isEmpty() ? "" : ", of which it says: " + said));
      }
      return out.get(JAVA_LONG, 0);
    }
  }

  /** The kernel of a name, valid while its module is loaded. */
  public long function(long module, String name) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment text = arena.allocateFrom(name);
      return function.answer("kernel " + name, out -> function.call(out, module, text.address()));
    }
  }

  /** Takes code off the device; none of its kernels may be at work. */
  public void unload(long module) {
    unload.check(unload.call(module), "the end of a module");
  }

  /** Lets a kernel have up to {@code bytes} of dynamic shared memory; 48 KiB need no permission. */
  public void allowSharedBytes(long kernel, int bytes) {
    setAttribute.check(
        setAttribute.call(kernel, MAX_DYNAMIC_SHARED, bytes),
        "%d bytes of dynamic shared memory",
        bytes);
  }

  /** Registers that each thread of a kernel has. */
  public int registers(long kernel) {
    return attribute(kernel, REGISTERS);
  }

  /** Bytes of local memory of each thread; more than 0 where registers did not suffice. */
  public int localBytes(long kernel) {
    return attribute(kernel, LOCAL_BYTES);
  }

  /** Bytes of shared memory of a block that the kernel itself declares. */
  public int sharedBytes(long kernel) {
    return attribute(kernel, SHARED_BYTES);
  }

  /** The most threads that a block of the kernel may have. */
  public int maxThreads(long kernel) {
    return attribute(kernel, MAX_THREADS);
  }

  private int attribute(long kernel, int which) {
    return (int)
        attribute.answer(
            "attribute %d of a kernel", which, out -> attribute.call(out, which, kernel));
  }

  /**
   * Has a stream run a kernel.
   *
   * @param parameters pointers to the values of the kernel's parameters, one after another; values
   *     are copied before this returns
   */
  public void launch(long kernel, CudaGrid grid, MemorySegment parameters, long stream) {
    int code = launch.launch(kernel, grid, parameters, stream);
    if (code != 0) {
      throw launch.failed(code, grid.toString());
    }
  }

  /** As {@link #launch}, with all blocks at work at the same time. */
  public void launchCooperative(long kernel, CudaGrid grid, MemorySegment parameters, long stream) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment config = CudaStructs.cooperative(arena, grid, stream);
      int code = launchWith.call(config.address(), kernel, parameters.address(), 0L);
      if (code != 0) {
        throw launchWith.failed(code, grid + " at the same time");
      }
    }
  }

  /** How many blocks of a kernel a multiprocessor can run at the same time. */
  public int blocksEach(long kernel, int threads, int sharedBytes) {
    return (int)
        occupancy.answer(
            "blocks of %d threads",
            threads, out -> occupancy.call(out, kernel, threads, sharedBytes));
  }
}
