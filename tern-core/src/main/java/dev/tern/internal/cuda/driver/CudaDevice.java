package dev.tern.internal.cuda.driver;

import java.util.ArrayList;
import java.util.List;

/**
 * A device in use: its context, its limits, a stream for kernels and one for copies beside them.
 *
 * <p>Contexts belong to threads: a thread calls {@link #use} before its first call for the device.
 */
public final class CudaDevice implements AutoCloseable {
  private static final int L2_BYTES = 38;
  private static final int THREADS_EACH = 39;
  private static final int MANAGED_AT_ONCE = 89;
  private static final int SHARED_BYTES = 97;
  private static final int VIRTUAL_MEMORY = 102;

  /** The device whose context the thread has. */
  private static final ThreadLocal<CudaDevice[]> CURRENT =
      ThreadLocal.withInitial(() -> new CudaDevice[1]);

  private final CudaDriver driver;
  private final int ordinal;
  private final int handle;
  private final String name;
  private final int architecture;
  private final Limits limits;
  private final long context;
  private long computeStream;
  private long copyStream;
  private volatile boolean closed;

  /**
   * What a device has.
   *
   * @param multiprocessors their number
   * @param threadsEach threads that a multiprocessor can hold
   * @param sharedBytes the most dynamic shared memory of a block
   * @param cacheBytes of the cache that all multiprocessors share
   * @param memoryBytes of all memory, in use or not
   * @param reservesAddresses whether addresses and memory come apart ({@link CudaVirtualMemory})
   * @param sharesManaged whether host and device may reach managed memory at the same time
   */
  public record Limits(
      int multiprocessors,
      int threadsEach,
      int sharedBytes,
      int cacheBytes,
      long memoryBytes,
      boolean reservesAddresses,
      boolean sharesManaged) {
    static Limits of(CudaDriver driver, int device) {
      return new Limits(
          driver.multiprocessors(device),
          driver.attribute(device, THREADS_EACH),
          driver.attribute(device, SHARED_BYTES),
          driver.attribute(device, L2_BYTES),
          driver.totalBytes(device),
          driver.attribute(device, VIRTUAL_MEMORY) != 0,
          driver.attribute(device, MANAGED_AT_ONCE) != 0);
    }
  }

  private CudaDevice(CudaDriver driver, int ordinal) {
    this.driver = driver;
    this.ordinal = ordinal;
    handle = driver.device(ordinal);
    name = driver.name(handle);
    architecture = driver.architecture(handle);
    limits = Limits.of(driver, handle);
    context = driver.retain(handle);
  }

  /**
   * Opens a device.
   *
   * @param ordinal its number among those that the process sees, from 0 on
   * @throws IllegalArgumentException when there is none of that number
   */
  public static CudaDevice open(CudaDriver driver, int ordinal) {
    int count = driver.deviceCount();
    if (ordinal < 0 || ordinal >= count) {
      throw new IllegalArgumentException(
          "device: got cuda:%d of %d devices, expected a number from 0 on below that; list them with tern info"
              .formatted(ordinal, count));
    }
    CudaDevice device = new CudaDevice(driver, ordinal);
    try {
      device.use();
      device.computeStream = driver.streams().create(0);
      device.copyStream = driver.streams().create(0);
      return device;
    } catch (RuntimeException e) {
      try {
        device.close();
      } catch (RuntimeException alsoWrong) {
        e.addSuppressed(alsoWrong);
      }
      throw e;
    }
  }

  /** Makes this device's context the current one of the calling thread. */
  public void use() {
    CudaDevice[] current = CURRENT.get();
    if (current[0] == this && !closed) {
      return;
    }
    if (Thread.currentThread().isVirtual()) {
      throw new IllegalStateException(
          "device: got a call from a virtual thread, expected a platform thread: contexts belong"
              + " to those; call from one");
    }
    if (closed) {
      throw new IllegalStateException(
          "device: got cuda:%d, which is closed, expected an open device; close it after its last"
                  .formatted(ordinal)
              + " user");
    }
    current[0] = null;
    driver.setCurrent(context);
    current[0] = this;
  }

  public CudaDriver driver() {
    return driver;
  }

  /** The number of the device among those that the process sees. */
  public int ordinal() {
    return ordinal;
  }

  /** The driver's handle of the device. */
  public int handle() {
    return handle;
  }

  public String name() {
    return name;
  }

  /** 10 x major + minor of the compute capability, for example 90. */
  public int architecture() {
    return architecture;
  }

  public Limits limits() {
    return limits;
  }

  /** The context that all users of the device in this process share. */
  public long context() {
    return context;
  }

  /** The stream of kernels. */
  public long computeStream() {
    return computeStream;
  }

  /** The stream of copies beside kernels. */
  public long copyStream() {
    return copyStream;
  }

  /** Waits until all work of the device is done. */
  public void synchronize() {
    use();
    driver.synchronize();
  }

  /** Ends the streams and gives the context back; what was begun is still done. */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    List<Runnable> steps = new ArrayList<>();
    steps.add(this::use);
    if (computeStream != 0) {
      steps.add(() -> driver.streams().synchronize(computeStream));
      steps.add(() -> driver.streams().destroy(computeStream));
    }
    if (copyStream != 0) {
      steps.add(() -> driver.streams().synchronize(copyStream));
      steps.add(() -> driver.streams().destroy(copyStream));
    }
    steps.add(() -> driver.release(handle));
    steps.add(() -> {
      closed = true;
      CURRENT.remove();
    });
    runAll(steps);
  }

  /** Runs all steps, whatever fails; the first failure is thrown, with the others. */
  private static void runAll(List<Runnable> steps) {
    RuntimeException failure = null;
    for (Runnable step : steps) {
      try {
        step.run();
      } catch (RuntimeException e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}
