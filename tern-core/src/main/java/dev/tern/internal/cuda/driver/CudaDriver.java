package dev.tern.internal.cuda.driver;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/**
 * NVIDIA's driver library, or the simulated one of the tests. It stays loaded as long as the
 * process lives.
 *
 * <p>Most functions work on the context that is current in the calling thread ({@link #setCurrent},
 * or {@link CudaDevice#use}). Thread-safe as the driver is.
 */
public final class CudaDriver {
  private static final int MULTIPROCESSORS = 16;
  private static final int CAPABILITY_MAJOR = 75;
  private static final int CAPABILITY_MINOR = 76;
  private static final long NAME_BYTES = 256;
  private static final long LONGEST_TEXT = 1 << 20;

  private final String path;
  private final Optional<String> shim;
  private final CudaCall version;
  private final CudaCall count;
  private final CudaCall get;
  private final CudaCall name;
  private final CudaCall uuid;
  private final CudaCall attribute;
  private final CudaCall totalBytes;
  private final CudaCall retain;
  private final CudaCall release;
  private final CudaCall setCurrent;
  private final CudaCall synchronize;
  private final CudaStreams streams;
  private final CudaModules modules;
  private final CudaMemory memory;
  private final CudaGraphs graphs;
  private final List<String> calls;

  private CudaDriver(String path, SymbolLookup library) {
    this.path = path;
    shim = library.find("ternSimulated").map(CudaDriver::text);
    CudaFunctions functions = new CudaFunctions(library, path);
    CudaCall init = functions.of("cuInit", "I");
    version = functions.of("cuDriverGetVersion", "L");
    count = functions.of("cuDeviceGetCount", "L");
    get = functions.of("cuDeviceGet", "LI");
    name = functions.of("cuDeviceGetName", "LII");
    uuid = functions.of("cuDeviceGetUuid_v2", "LI");
    attribute = functions.of("cuDeviceGetAttribute", "LII");
    totalBytes = functions.of("cuDeviceTotalMem_v2", "LI");
    retain = functions.of("cuDevicePrimaryCtxRetain", "LI");
    release = functions.of("cuDevicePrimaryCtxRelease_v2", "I");
    setCurrent = functions.of("cuCtxSetCurrent", "L");
    synchronize = functions.of("cuCtxSynchronize", "");
    streams = new CudaStreams(functions);
    modules = new CudaModules(functions);
    memory = new CudaMemory(functions);
    graphs = new CudaGraphs(functions);
    functions.requireAll();
    calls = functions.names();
    init.check(init.call(0), "the start of " + path);
  }

  /** The driver that {@link CudaLibraries} finds, started. */
  public static CudaDriver open() {
    return open(CudaLibraries.driver());
  }

  /**
   * The driver of one library, started.
   *
   * @param path a file, or a name that the system's loader finds
   * @throws IllegalStateException when it cannot be opened, or lacks functions
   */
  public static CudaDriver open(String path) {
    SymbolLookup library;
    try {
      library = SymbolLookup.libraryLookup(path, Arena.global());
    } catch (IllegalArgumentException e) {
      throw new IllegalStateException(
          "device: got %s, which cannot be opened, expected a driver library; %s"
              .formatted(path, "install NVIDIA's driver or use train.device: cpu"),
          e);
    }
    return new CudaDriver(path, library);
  }

  /** The text that the simulated driver says code for it must begin with. */
  private static String text(MemorySegment function) {
    try {
      MemorySegment text =
          (MemorySegment)
              Linker.nativeLinker()
                  .downcallHandle(function, FunctionDescriptor.of(ValueLayout.ADDRESS))
                  .invokeExact();
      return text.reinterpret(LONGEST_TEXT).getString(0);
    } catch (Throwable e) {
      throw new IllegalStateException("ternSimulated", e);
    }
  }

  /** Where the library is. */
  public String path() {
    return path;
  }

  /** Whether this is the simulated driver. */
  public boolean isSimulated() {
    return shim.isPresent();
  }

  /** What code for the simulated driver begins with; empty for a real one. */
  Optional<String> shim() {
    return shim;
  }

  /** The names of all functions that are called. */
  List<String> calls() {
    return calls;
  }

  /** The newest CUDA that the driver knows, as 1000 x major + 10 x minor. */
  public int version() {
    return (int) version.answer("the driver's version", version::call);
  }

  /** How many devices this process sees. */
  public int deviceCount() {
    return (int) count.answer("the number of devices", count::call);
  }

  /** The handle of a device, by its number from 0 on. */
  public int device(int ordinal) {
    return (int) get.answer("device %d", ordinal, out -> get.call(out, ordinal));
  }

  public String name(int device) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(NAME_BYTES);
      int code = name.call(out.address(), (int) NAME_BYTES, device);
      name.check(code, "the name of device %d", device);
      byte[] bytes = out.toArray(ValueLayout.JAVA_BYTE);
      String all = new String(bytes, US_ASCII);
      int end = all.indexOf('\0');
      return end < 0 ? all : all.substring(0, end);
    }
  }

  /** The device's own number, 32 hexadecimal digits. */
  public String uuid(int device) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(16);
      uuid.check(uuid.call(out.address(), device), "the number of device %d", device);
      return HexFormat.of().formatHex(out.toArray(ValueLayout.JAVA_BYTE));
    }
  }

  /** A number that the driver knows about a device, by its {@code CUdevice_attribute}. */
  public int attribute(int device, int which) {
    return (int)
        attribute.answer(
            "attribute %d of a device", which, out -> attribute.call(out, which, device));
  }

  /** The architecture of a device: 10 x major + minor of its compute capability. */
  public int architecture(int device) {
    return 10 * attribute(device, CAPABILITY_MAJOR) + attribute(device, CAPABILITY_MINOR);
  }

  /** How many multiprocessors a device has. */
  public int multiprocessors(int device) {
    return attribute(device, MULTIPROCESSORS);
  }

  /** Bytes of all memory of a device, in use or not. */
  public long totalBytes(int device) {
    return totalBytes.answer(
        "the memory of device %d", device, out -> totalBytes.call(out, device));
  }

  /** The context of a device that all users in this process share. */
  public long retain(int device) {
    return retain.answer("the context of device %d", device, out -> retain.call(out, device));
  }

  /** Undoes one {@link #retain}. */
  public void release(int device) {
    release.check(release.call(device), "the context of device %d to be given back", device);
  }

  /** Makes a context the one that calls of this thread work on. */
  public void setCurrent(long context) {
    setCurrent.check(setCurrent.call(context), "a context for this thread");
  }

  /** Waits until all work of the current context is done. */
  public void synchronize() {
    synchronize.check(synchronize.call(), "all work of a device");
  }

  public CudaStreams streams() {
    return streams;
  }

  public CudaModules modules() {
    return modules;
  }

  public CudaMemory memory() {
    return memory;
  }

  public CudaGraphs graphs() {
    return graphs;
  }
}
