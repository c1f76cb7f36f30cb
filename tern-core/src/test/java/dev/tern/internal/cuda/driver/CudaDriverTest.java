package dev.tern.internal.cuda.driver;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Each call of the driver, with a device that checks what it is given. */
final class CudaDriverTest {
  private static final String SCALE =
      """
      extern "C" __global__ void scale(float* x, float by, int n) {
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
          x[i] = x[i] * by;
        }
      }
      """;

  private SimulatedDevice cuda;

  @BeforeEach
  void open() {
    cuda = new SimulatedDevice();
  }

  @AfterEach
  void close() {
    cuda.close();
  }

  @Test
  void theDriverTellsWhatItIs() {
    assertThat(cuda.driver.isSimulated()).isTrue();
    assertThat(cuda.driver.version()).isEqualTo(13000);
    assertThat(cuda.driver.deviceCount()).isEqualTo(2);
    assertThat(cuda.driver.path()).endsWith("libternsimulated.so");
    assertThat(cuda.driver.uuid(0)).isEqualTo("000102030405060708090a0b0c0d0e0f");
  }

  @Test
  void aDeviceTellsWhatItHas() {
    assertThat(cuda.device.name()).isEqualTo("Tern simulated device 0");
    assertThat(cuda.device.ordinal()).isZero();
    assertThat(cuda.device.architecture()).isEqualTo(90);
    assertThat(cuda.device.limits())
        .isEqualTo(new CudaDevice.Limits(4, 2048, 232448, 1 << 20, 4L << 30, true, true));
    assertThat(cuda.driver.memory().bytes()).isEqualTo(new CudaMemory.Bytes(4L << 30, 4L << 30));
  }

  @Test
  void aKernelRunsOnWhatWasCopied() {
    long x = cuda.floats(1, 2, 3, 4, 5);
    cuda.launch(SCALE, "scale", CudaGrid.of(2, 32), x, 0.5f, 5);
    assertThat(cuda.readFloats(x, 5)).containsExactly(0.5f, 1, 1.5f, 2, 2.5f);
  }

  @Test
  void aKernelThatIsNotThereIsNamed() {
    assertThatThrownBy(() -> cuda.function(SCALE, "scala"))
        .isInstanceOf(CudaException.class)
        .hasMessageContaining("cuModuleGetFunction: got 500 CUDA_ERROR_NOT_FOUND")
        .hasMessageContaining("for kernel scala");
  }

  @Test
  void aKernelTellsWhatItNeeds() {
    long scale = cuda.function(SCALE, "scale");
    CudaModules modules = cuda.driver.modules();
    assertThat(modules.registers(scale)).isEqualTo(32);
    assertThat(modules.localBytes(scale)).isZero();
    assertThat(modules.sharedBytes(scale)).isZero();
    assertThat(modules.maxThreads(scale)).isEqualTo(1024);
    assertThat(modules.blocksEach(scale, 256, 0)).isEqualTo(8);
  }

  @Test
  void moreThanPlainSharedMemoryNeedsPermission() {
    CudaGrid grid = CudaGrid.of(1, 32).withSharedBytes(64 << 10);
    assertThatThrownBy(() -> cuda.launch(SCALE, "scale", grid, 0L, 1f, 0))
        .hasMessageContaining("cuLaunchKernel: got 1 CUDA_ERROR_INVALID_VALUE")
        .hasMessageContaining("1 x 1 x 1 blocks of 32 x 1 x 1 threads with 65536 bytes");
    cuda.driver.modules().allowSharedBytes(cuda.function(SCALE, "scale"), 64 << 10);
    cuda.launch(SCALE, "scale", grid, 0L, 1f, 0);
    cuda.synchronize();
  }

  @Test
  void blocksThatWorkAtTheSameTimeAreLaunchedByTheOtherCall() {
    long x = cuda.floats(3, 4);
    MemorySegment values = CudaParameters.of(cuda.arena, x, 2f, 2);
    long scale = cuda.function(SCALE, "scale");
    long stream = cuda.device.computeStream();
    cuda.driver.modules().launchCooperative(scale, CudaGrid.of(1, 32), values, stream);
    assertThat(cuda.readFloats(x, 2)).containsExactly(6, 8);
    assertThatThrownBy(() ->
            cuda.driver.modules().launchCooperative(scale, CudaGrid.of(9, 32), values, stream))
        .hasMessageContaining("cuLaunchKernelEx: got 720")
        .hasMessageContaining("9 x 1 x 1 blocks");
  }

  @Test
  void memoryIsFilledAndCopiedOnTheDevice() {
    long a = cuda.bytes(32);
    long b = cuda.bytes(32);
    long stream = cuda.device.computeStream();
    CudaMemory memory = cuda.driver.memory();
    memory.fill(a, (byte) 0x81, 32, stream);
    memory.fillInts(a + 4, 7, 2, stream);
    memory.fill(a, (byte) 1, 0, stream);
    memory.copy(b, a, 32, stream);
    assertThat(cuda.readInts(b, 4)).containsExactly(0x81818181, 7, 7, 0x81818181);
  }

  @Test
  void addressesGetMemoryPieceByPiece() {
    CudaVirtualMemory virtual = cuda.driver.memory().virtual();
    long unit = virtual.granularity(cuda.device.handle());
    long base = virtual.reserve(4 * unit);
    long piece = virtual.create(unit, cuda.device.handle());
    virtual.map(base + unit, unit, piece);
    virtual.allow(base + unit, unit, cuda.device.handle());
    long stream = cuda.device.computeStream();
    cuda.driver.memory().fillInts(base + unit, 5, unit / 4, stream);
    assertThat(cuda.readInts(base + 2 * unit - 4, 1)).containsExactly(5);
    assertThat(cuda.driver.memory().bytes().free()).isEqualTo((4L << 30) - unit);
    virtual.release(piece);
    virtual.unmap(base + unit, unit);
    virtual.unreserve(base, 4 * unit);
    assertThat(cuda.driver.memory().bytes().free()).isEqualTo(4L << 30);
  }

  @Test
  void otherKindsOfMemoryComeAndGo() {
    CudaMemory memory = cuda.driver.memory();
    long stream = cuda.device.computeStream();
    long pooled = memory.allocate(1000, stream);
    long managed = memory.allocateManaged(1000);
    long pinned = memory.allocatePinned(1000);
    MemorySegment own = cuda.arena.allocate(4096, 4096);
    memory.pin(own.address(), 4096);
    assertThat(memory.devicePointer(pinned)).isNotZero();
    assertThat(memory.devicePointer(own.address())).isNotZero();
    memory.fill(pooled, (byte) 3, 1000, stream);
    memory.copy(managed, pooled, 1000, stream);
    memory.copyOut(pinned, managed, 1000, stream);
    cuda.synchronize();
    assertThat(MemorySegment.ofAddress(pinned).reinterpret(1000).get(JAVA_BYTE, 999))
        .isEqualTo((byte) 3);
    memory.unpin(own.address());
    memory.freePinned(pinned);
    memory.free(managed);
    memory.free(pooled, stream);
    cuda.synchronize();
  }

  @Test
  void workOfAStreamIsDoneWhenItIsWaitedFor() {
    long pinned = cuda.driver.memory().allocatePinned(4);
    MemorySegment host = MemorySegment.ofAddress(pinned).reinterpret(4);
    host.set(JAVA_INT, 0, 1);
    long x = cuda.bytes(4);
    long stream = cuda.device.computeStream();
    cuda.driver.memory().fillInts(x, 9, 1, stream);
    cuda.driver.memory().copyOut(pinned, x, 4, stream);
    assertThat(host.get(JAVA_INT, 0)).as("a read without a wait").isEqualTo(1);
    assertThat(cuda.driver.streams().isDone(stream)).isFalse();
    cuda.synchronize();
    assertThat(host.get(JAVA_INT, 0)).isEqualTo(9);
    assertThat(cuda.driver.streams().isDone(stream)).isTrue();
    cuda.driver.memory().freePinned(pinned);
  }

  @Test
  void aStreamWaitsForAnEventOfAnother() {
    CudaStreams streams = cuda.driver.streams();
    long compute = cuda.device.computeStream();
    long copies = cuda.device.copyStream();
    long event = streams.createEvent(false);
    long x = cuda.bytes(4);
    long y = cuda.bytes(4);
    assertThat(streams.isEventDone(event)).as("never recorded").isTrue();
    cuda.driver.memory().fillInts(x, 3, 1, compute);
    streams.record(event, compute);
    assertThat(streams.isEventDone(event)).isFalse();
    streams.waitFor(copies, event);
    cuda.driver.memory().copy(y, x, 4, copies);
    streams.synchronize(copies);
    assertThat(streams.isEventDone(event)).isTrue();
    assertThat(cuda.readInts(y, 1)).containsExactly(3);
    streams.synchronizeEvent(event);
    streams.destroyEvent(event);
  }

  @Test
  void timeBetweenEventsIsMilliseconds() {
    CudaStreams streams = cuda.driver.streams();
    long from = streams.createEvent(true);
    long to = streams.createEvent(true);
    streams.record(from, cuda.device.computeStream());
    streams.record(to, cuda.device.computeStream());
    streams.synchronizeEvent(to);
    assertThat(streams.elapsed(from, to)).isBetween(0f, 60_000f);
    long untimed = streams.createEvent(false);
    assertThatThrownBy(() -> streams.elapsed(from, untimed))
        .hasMessageContaining("cuEventElapsedTime_v2: got 400 CUDA_ERROR_INVALID_HANDLE");
    streams.destroyEvent(untimed);
    streams.destroyEvent(from);
    streams.destroyEvent(to);
  }

  @Test
  void aGraphDoesItsWorkAtEachLaunch() {
    long x = cuda.floats(1, 1);
    long stream = cuda.device.computeStream();
    CudaGraphs graphs = cuda.driver.graphs();
    long scale = cuda.function(SCALE, "scale");
    graphs.begin(stream);
    cuda.driver
        .modules()
        .launch(scale, CudaGrid.of(1, 32), CudaParameters.of(cuda.arena, x, 2f, 2), stream);
    long graph = graphs.end(stream);
    long instance = graphs.instantiate(graph);
    long[] nodes = graphs.nodes(graph);
    graphs.upload(instance, stream);
    assertThat(nodes).hasSize(1);
    assertThat(cuda.readFloats(x, 2)).as("recording does no work").containsExactly(1, 1);
    graphs.launch(instance, stream);
    graphs.launch(instance, stream);
    assertThat(cuda.readFloats(x, 2)).containsExactly(4, 4);
    graphs.setKernel(
        instance, nodes[0], scale, CudaGrid.of(1, 1), CudaParameters.of(cuda.arena, x, 3f, 1));
    graphs.launch(instance, stream);
    assertThat(cuda.readFloats(x, 2)).containsExactly(12, 4);
    graphs.destroy(graph);
    graphs.launch(instance, stream);
    cuda.synchronize();
    graphs.destroyInstance(instance);
  }

  @Test
  void memoryMayNotBeAskedForWhileAGraphIsRecorded() {
    long stream = cuda.device.computeStream();
    cuda.driver.graphs().begin(stream);
    assertThatThrownBy(() -> cuda.bytes(4))
        .hasMessageContaining("cuMemAlloc_v2: got 900 CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED")
        .hasMessageContaining("while a graph was recorded");
    assertThatThrownBy(() -> cuda.driver.graphs().end(stream))
        .hasMessageContaining("got 901 CUDA_ERROR_STREAM_CAPTURE_INVALIDATED");
  }

  @Test
  void twoDevicesCopyToEachOther() {
    try (CudaDevice other = SimulatedCuda.open(1)) {
      CudaMemory memory = cuda.driver.memory();
      assertThat(memory.canAccess(0, 1)).isTrue();
      assertThat(memory.canAccess(0, 0)).isFalse();
      cuda.device.use();
      memory.enablePeer(other.context());
      memory.enablePeer(other.context());
      long x = cuda.floats(1, 2);
      cuda.device.synchronize();
      other.use();
      long y = memory.allocate(8);
      memory.copy(
          new CudaMemory.Place(y, other.context()),
          new CudaMemory.Place(x, cuda.device.context()),
          8,
          other.computeStream());
      other.synchronize();
      cuda.device.use();
      assertThat(cuda.readFloats(y, 2)).containsExactly(1, 2);
      memory.free(y);
    } finally {
      cuda.device.use();
    }
  }

  @Test
  void aThreadWithoutAContextIsRefused() throws InterruptedException {
    Throwable[] seen = new Throwable[1];
    Thread.Builder.OfPlatform platform = Thread.ofPlatform();
    Thread other =
        platform.start(() -> {
          try {
            cuda.driver.memory().bytes();
          } catch (CudaException e) {
            seen[0] = e;
          }
        });
    other.join();
    assertThat(seen[0]).hasMessageContaining("got 201 CUDA_ERROR_INVALID_CONTEXT");
    Thread virtual =
        Thread.ofVirtual()
            .start(() -> {
              try {
                cuda.device.use();
              } catch (IllegalStateException e) {
                seen[0] = e;
              }
            });
    virtual.join();
    assertThat(seen[0]).hasMessageContaining("expected a platform thread");
  }

  @Test
  void aClosedDeviceIsRefused() {
    CudaDevice other = SimulatedCuda.open(1);
    other.close();
    other.close();
    assertThatThrownBy(other::use).hasMessageContaining("got cuda:1, which is closed");
    assertThatThrownBy(() -> SimulatedCuda.open(2))
        .hasMessageContaining("got cuda:2 of 2 devices, expected a number from 0 on");
    cuda.device.use();
  }

  @Test
  void outOfMemorySaysWhatToDo() {
    assertThatThrownBy(() -> cuda.bytes(5L << 30))
        .hasMessageContaining("cuMemAlloc_v2: got 2 CUDA_ERROR_OUT_OF_MEMORY (out of memory)")
        .hasMessageContaining("for 5368709120 bytes of device memory")
        .hasMessageContaining("lower the memory budget")
        .satisfies(e -> assertThat(((CudaException) e).isOutOfMemory()).isTrue());
  }

  @Test
  void aCallOfAnotherSignatureIsRefused() {
    CudaCall call =
        new CudaFunctions(
                java.lang.foreign.SymbolLookup.libraryLookup(
                    SimulatedCuda.library(), java.lang.foreign.Arena.global()),
                "it")
            .of("cuDeviceGetCount", "L");
    assertThatThrownBy(() -> call.call(1L, 2L))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("cuDeviceGetCount: got a call of another signature");
  }

  @Test
  void valuesOfEachWidthArriveWhole() {
    String text =
        """
        extern "C" __global__ void widths(long long* out, int i, long long l, float f, const char* p) {
          out[0] = i; out[1] = l; out[2] = __float_as_int(f); out[3] = (long long)p;
        }
        """;
    long out = cuda.bytes(32);
    cuda.launch(
        text, "widths", CudaGrid.of(1, 1), out, -3, Long.MIN_VALUE + 5, 1.5f, 0x123456789abcdefL);
    assertThat(cuda.read(out, 32).toArray(JAVA_LONG))
        .containsExactly(-3, Long.MIN_VALUE + 5, Float.floatToIntBits(1.5f), 0x123456789abcdefL);
  }
}
