package dev.tern.internal.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Each function of the driver fails in turn: the error names it, and nothing is left behind. */
final class CudaFailuresTest {
  private static final int FAILED_AT_MOST = 3;
  private static final int CODE = 214;
  private static final String TEXT =
      "extern \"C\" __global__ void put(int* x, int v) { x[threadIdx.x] = v; }";

  @BeforeEach
  void skip() {
    SimulatedDevice.skipWhereThereIsNone();
  }

  @AfterEach
  void failNothing() {
    SimulatedCuda.recover();
  }

  /** Handles in use, the newest first; one is given up only when its release succeeded. */
  private static final class Owned implements AutoCloseable {
    private final Deque<Runnable> releases = new ArrayDeque<>();

    long own(long handle, LongConsumer release) {
      releases.push(() -> release.accept(handle));
      return handle;
    }

    /** Releases all; one that fails, as a test wanted, is tried again. */
    @Override
    public void close() {
      List<CudaException> failures = new ArrayList<>();
      while (!releases.isEmpty() && failures.size() < 2) {
        try {
          releases.getFirst().run();
          releases.pop();
        } catch (CudaException e) {
          failures.add(e);
        }
      }
      if (!failures.isEmpty()) {
        throw failures.getFirst();
      }
    }
  }

  @Test
  void aCallThatFailsIsNamedAndLeavesNothing() {
    CudaDriver driver = SimulatedCuda.driver();
    String before = SimulatedCuda.live();
    List<Long> uses = new ArrayList<>();
    List<String> calls = driver.calls().stream().filter(c -> !c.equals("cuInit")).toList();
    calls.forEach(call -> uses.add(-SimulatedCuda.uses(call)));
    useAll(driver);
    for (int i = 0; i < calls.size(); i++) {
      uses.set(i, uses.get(i) + SimulatedCuda.uses(calls.get(i)));
    }
    for (int i = 0; i < calls.size(); i++) {
      long used = uses.get(i);
      assertThat(used).as("uses of %s", calls.get(i)).isPositive();
      for (int nth = 1; nth <= Math.min(used, FAILED_AT_MOST); nth++) {
        SimulatedCuda.fail(calls.get(i), nth, CODE);
        Throwable seen = catchThrowable(() -> useAll(driver));
        assertThat(seen)
            .as("use %d of %s", nth, calls.get(i))
            .isInstanceOf(CudaException.class)
            .hasMessageStartingWith(calls.get(i) + ": got 214 CUDA_ERROR_ECC_UNCORRECTABLE (")
            .hasMessageContaining("look at nvidia-smi -q");
        SimulatedCuda.failNothing();
        assertThat(SimulatedCuda.live()).as("after %s", calls.get(i)).isEqualTo(before);
      }
    }
  }

  private static void useAll(CudaDriver driver) {
    try (Arena arena = Arena.ofConfined();
        Owned owned = new Owned()) {
      assertThat(driver.deviceCount()).isEqualTo(2);
      assertThat(driver.version()).isPositive();
      int device = driver.device(0);
      assertThat(driver.name(device) + driver.uuid(device)).isNotEmpty();
      assertThat(driver.attribute(device, 16) + driver.totalBytes(device)).isPositive();
      assertThat(driver.memory().canAccess(0, 1)).isTrue();
      long other = owned.own(driver.retain(1), _ -> driver.release(1));
      long context = owned.own(driver.retain(device), _ -> driver.release(device));
      driver.setCurrent(context);
      driver.memory().enablePeer(other);
      CudaStreams streams = driver.streams();
      long stream = owned.own(streams.create(0), streams::destroy);
      useMemory(driver, arena, stream, new CudaMemory.Place(0, context));
      useEvents(streams, stream);
      useKernels(driver, arena, stream);
      assertThat(streams.isDone(stream)).isTrue();
      driver.synchronize();
    }
  }

  private static void useMemory(
      CudaDriver driver, Arena arena, long stream, CudaMemory.Place place) {
    CudaMemory memory = driver.memory();
    try (Owned owned = new Owned()) {
      assertThat(memory.bytes().total()).isPositive();
      long a = owned.own(memory.allocate(64), memory::free);
      long managed = owned.own(memory.allocateManaged(64), memory::free);
      long pinned = owned.own(memory.allocatePinned(64), memory::freePinned);
      MemorySegment own = arena.allocate(4096, 4096);
      memory.pin(own.address(), 4096);
      owned.own(own.address(), memory::unpin);
      assertThat(memory.devicePointer(pinned)).isNotZero();
      long pooled = owned.own(memory.allocate(64, stream), address -> memory.free(address, stream));
      memory.fill(a, (byte) 1, 64, stream);
      memory.fillInts(managed, 1, 16, stream);
      memory.copy(pooled, a, 64, stream);
      memory.copyIn(a, pinned, 64, stream);
      memory.copyOut(pinned, a, 64, stream);
      memory.copy(
          new CudaMemory.Place(a, place.context()),
          new CudaMemory.Place(managed, place.context()),
          64,
          stream);
      useAddresses(memory.virtual(), owned);
      driver.streams().synchronize(stream);
    }
  }

  private static void useAddresses(CudaVirtualMemory virtual, Owned all) {
    long unit = virtual.granularity(0);
    long base = all.own(virtual.reserve(unit), a -> virtual.unreserve(a, unit));
    long piece = all.own(virtual.create(unit, 0), virtual::release);
    virtual.map(base, unit, piece);
    all.own(base, a -> virtual.unmap(a, unit));
    virtual.allow(base, unit, 0);
  }

  private static void useEvents(CudaStreams streams, long stream) {
    try (Owned owned = new Owned()) {
      long from = owned.own(streams.createEvent(true), streams::destroyEvent);
      long to = owned.own(streams.createEvent(true), streams::destroyEvent);
      streams.record(from, stream);
      streams.record(to, stream);
      streams.waitFor(stream, to);
      streams.synchronizeEvent(to);
      assertThat(streams.isEventDone(to)).isTrue();
      assertThat(streams.elapsed(from, to)).isNotNegative();
    }
  }

  private static void useKernels(CudaDriver driver, Arena arena, long stream) {
    CudaModules modules = driver.modules();
    CudaGraphs graphs = driver.graphs();
    try (Owned owned = new Owned()) {
      long x = owned.own(driver.memory().allocate(128), driver.memory()::free);
      long module = owned.own(modules.load(SimulatedDevice.code(TEXT)), modules::unload);
      long put = modules.function(module, "put");
      modules.allowSharedBytes(put, 50_000);
      assertThat(modules.registers(put) + modules.blocksEach(put, 32, 0)).isPositive();
      MemorySegment values = CudaParameters.of(arena, x, 7);
      CudaGrid grid = CudaGrid.of(1, 32);
      modules.launchCooperative(put, grid, values, stream);
      long mark = owned.own(driver.streams().createEvent(true), driver.streams()::destroyEvent);
      graphs.begin(stream);
      long graph;
      try {
        modules.launch(put, grid, values, stream);
        driver.streams().recordInGraph(mark, stream);
      } finally {
        graph = owned.own(endOf(graphs, stream), graphs::destroy);
      }
      long[] nodes = graphs.nodes(graph);
      long instance = owned.own(graphs.instantiate(graph), graphs::destroyInstance);
      graphs.upload(instance, stream);
      graphs.setKernel(instance, nodes[0], put, grid, CudaParameters.of(arena, x, 9));
      graphs.launch(instance, stream);
      driver.streams().synchronize(stream);
    }
  }

  /** A stream goes on recording when the end of its recording failed. */
  private static long endOf(CudaGraphs graphs, long stream) {
    try {
      return graphs.end(stream);
    } catch (CudaException e) {
      graphs.destroy(graphs.end(stream));
      throw e;
    }
  }

  @Test
  void aDeviceThatCannotBeOpenedOrClosedLeavesNothing() {
    CudaDriver driver = SimulatedCuda.driver();
    String before = SimulatedCuda.live();
    List<String> calls =
        List.of(
            "cuDeviceGetCount",
            "cuDeviceGet",
            "cuDeviceGetName",
            "cuDeviceGetAttribute",
            "cuDeviceTotalMem_v2",
            "cuDevicePrimaryCtxRetain",
            "cuCtxSetCurrent",
            "cuStreamCreateWithPriority",
            "cuStreamSynchronize");
    for (String call : calls) {
      for (int nth = 1; nth <= 2; nth++) {
        SimulatedCuda.fail(call, nth, CODE);
        Throwable seen = catchThrowable(() -> CudaDevice.open(driver, 0).close());
        boolean isOnce = seen == null;
        SimulatedCuda.failNothing();
        assertThat(SimulatedCuda.live()).as("after use %d of %s", nth, call).isEqualTo(before);
        if (isOnce) {
          assertThat(nth).as("uses of %s", call).isEqualTo(2);
        } else {
          assertThat(seen).hasMessageStartingWith(call + ": got 214");
        }
      }
    }
  }

  @Test
  void aDriverThatCannotStartSaysWhy() {
    String path = SimulatedCuda.library().toString();
    SimulatedCuda.driver();
    SimulatedCuda.devices(0);
    try {
      assertThatThrownBy(() -> CudaDriver.open(path))
          .hasMessageContaining("cuInit: got 100 CUDA_ERROR_NO_DEVICE")
          .hasMessageContaining("for the start of " + path)
          .hasMessageContaining("no device is visible: look at nvidia-smi");
    } finally {
      SimulatedCuda.devices(2);
    }
    assertThatCode(() -> CudaDriver.open(path)).doesNotThrowAnyException();
  }

  @Test
  void aLibraryThatIsNoDriverIsRefusedWithAllThatItLacks() {
    assertThatThrownBy(() -> CudaDriver.open("libc.so.6"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith("device: got libc.so.6 without cuGetErrorName, ")
        .hasMessageContaining("cuInit, ")
        .hasMessageContaining("cuGraphDestroy, expected a driver of CUDA 12 or later");
    assertThatThrownBy(() -> CudaDriver.open("/nowhere/libcuda.so.1"))
        .hasMessageContaining("device: got /nowhere/libcuda.so.1, which cannot be opened")
        .hasMessageContaining("install NVIDIA's driver or use train.device: cpu");
  }

  @Test
  void eachCodeSaysWhatToDo() {
    CudaDriver driver = SimulatedCuda.driver();
    for (int code : new int[] {2, 100, 209, 214, 222, 700, 701, 719, 803, 900, 12345}) {
      SimulatedCuda.fail("cuDeviceGetCount", 1, code);
      assertThatThrownBy(driver::deviceCount)
          .hasMessageStartingWith("cuDeviceGetCount: got " + code + " ")
          .hasMessageContaining(" for the number of devices, expected success; ")
          .satisfies(e ->
              assertThat(((CudaException) e).isSticky())
                  .isEqualTo(code == 214 || code == 700 || code == 719));
      SimulatedCuda.recover();
    }
  }
}
