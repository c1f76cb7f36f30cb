package dev.tern.internal.cuda.driver;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;

/** A simulated device, open for one test; at the end nothing may be left in the driver. */
final class SimulatedDevice implements AutoCloseable {
  private static final Map<String, byte[]> CODE = new HashMap<>();

  private final String before;
  final CudaDriver driver;
  final CudaDevice device;
  final Arena arena = Arena.ofConfined();
  private final Map<Long, Long> blocks = new HashMap<>();
  private final Map<String, Long> modules = new HashMap<>();

  SimulatedDevice() {
    skipWhereThereIsNone();
    driver = SimulatedCuda.driver();
    before = SimulatedCuda.live();
    device = CudaDevice.open(driver, 0);
  }

  static void skipWhereThereIsNone() {
    assumeTrue(SimulatedCuda.missing().isEmpty(), () -> SimulatedCuda.missing().orElse(""));
  }

  static byte[] code(String text) {
    return CODE.computeIfAbsent(text, t -> SimulatedCuda.compiler().compile(t, 90));
  }

  /** Device memory that holds numbers. */
  long floats(float... values) {
    long address = bytes(4L * values.length);
    driver
        .memory()
        .copyIn(
            address,
            arena.allocateFrom(JAVA_FLOAT, values).address(),
            4L * values.length,
            device.computeStream());
    return address;
  }

  /** Device memory that nobody wrote. */
  long bytes(long bytes) {
    long address = driver.memory().allocate(bytes);
    blocks.put(address, bytes);
    return address;
  }

  float[] readFloats(long address, int count) {
    return read(address, 4L * count).toArray(JAVA_FLOAT);
  }

  int[] readInts(long address, int count) {
    return read(address, 4L * count).toArray(JAVA_INT);
  }

  MemorySegment read(long address, long bytes) {
    MemorySegment out = arena.allocate(JAVA_BYTE, Math.max(4, bytes)).asSlice(0, bytes);
    driver.memory().copyOut(out.address(), address, bytes, device.computeStream());
    driver.streams().synchronize(device.computeStream());
    return out.asSlice(0, bytes);
  }

  long function(String text, String name) {
    long module = modules.computeIfAbsent(text, t -> driver.modules().load(code(t)));
    return driver.modules().function(module, name);
  }

  void launch(String text, String name, CudaGrid grid, Object... values) {
    driver
        .modules()
        .launch(
            function(text, name), grid, CudaParameters.of(arena, values), device.computeStream());
  }

  void synchronize() {
    driver.streams().synchronize(device.computeStream());
  }

  @Override
  public void close() {
    SimulatedCuda.recover();
    blocks.keySet().forEach(driver.memory()::free);
    modules.values().forEach(driver.modules()::unload);
    device.close();
    arena.close();
    assertThat(SimulatedCuda.live()).as("what is left in the driver").isEqualTo(before);
  }
}
