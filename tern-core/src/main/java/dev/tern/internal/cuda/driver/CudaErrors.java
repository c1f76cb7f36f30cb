package dev.tern.internal.cuda.driver;

import static java.lang.foreign.ValueLayout.ADDRESS;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** The names of the driver's result codes, and what a user can do about them. */
final class CudaErrors {
  static final int OUT_OF_MEMORY = 2;
  static final int NOT_READY = 600;
  static final int PEER_ACCESS_ALREADY_ENABLED = 704;
  private static final long LONGEST_TEXT = 1024;

  private final MethodHandle names;
  private final MethodHandle texts;

  /**
   * @param names {@code cuGetErrorName}
   * @param texts {@code cuGetErrorString}
   */
  CudaErrors(MethodHandle names, MethodHandle texts) {
    this.names = names;
    this.texts = texts;
  }

  static boolean isSticky(int code) {
    return switch (code) {
      case 214, 700, 702, 710, 714, 715, 716, 717, 718, 719 -> true;
      default -> false;
    };
  }

  /**
   * The error for a call.
   *
   * @param asked what the call was to do, as words that follow "for"
   */
  CudaException failed(String call, int code, String asked) {
    return new CudaException(
        code,
        "%s: got %d %s (%s) for %s, expected success; %s"
            .formatted(call, code, text(names, code), text(texts, code), asked, remedy(code)));
  }

  private static String text(MethodHandle function, int code) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(ADDRESS);
      int status = (int) function.invokeExact(code, out.address());
      MemorySegment text = out.get(ADDRESS, 0);
      return status != 0 || text.equals(MemorySegment.NULL)
          ? "unknown to this driver"
          : text.reinterpret(LONGEST_TEXT).getString(0);
    } catch (Throwable e) {
      throw new IllegalStateException("cuGetErrorName", e);
    }
  }

  private static String remedy(int code) {
    return switch (code) {
      case 1 -> "this is a fault in Tern: report it with this message";
      case OUT_OF_MEMORY ->
          "lower the memory budget of the device, use a smaller batch, model or table, or end other"
              + " processes that use the device";
      case 3, 4 ->
          "the driver was not started or is shutting down: use devices before the JVM ends";
      case 34 -> "a stub of the driver library was found: remove the stubs folder from the path";
      case 46, 802 -> "the device is used by others or not ready yet: try again later";
      case 100 -> "no device is visible: look at nvidia-smi and CUDA_VISIBLE_DEVICES";
      case 101 -> "there is no device of that number: list them with tern info";
      case 200, 209 ->
          "the code was made for another architecture: remove the cubin cache and start again";
      case 214 -> "the device's memory is damaged: look at nvidia-smi -q, then reset or replace it";
      case 218, 222 ->
          "the compiler is newer than the driver: install a newer driver, or an older compiler";
      case 304 -> "the system refused: look at the rights of /dev/nvidia* and at its limits";
      case 500 -> "the code lacks that name: remove the cubin cache and start again";
      case 600 -> "wait for the work before";
      case 701 -> "the kernel needs more registers or shared memory than a block of its size has";
      case 803 ->
          "the driver library and the kernel's driver differ: restart the machine after an update";
      case 801 -> "the device or the driver lacks this: list what it has with tern info";
      default -> {
        if (isSticky(code)) {
          yield "the context is lost and every later call fails: restart the process from the last"
              + " checkpoint";
        }
        yield code >= 900 && code <= 907
            ? "work that may not be captured was begun while a graph was recorded: report this"
            : "look the code up in NVIDIA's documentation of the driver";
      }
    };
  }
}
