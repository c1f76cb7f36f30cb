package dev.tern.internal.cuda.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tern.internal.cuda.driver.CudaDevice;
import dev.tern.internal.cuda.driver.CudaException;
import dev.tern.internal.cuda.driver.CudaGraphs;
import dev.tern.internal.cuda.driver.CudaMemory;
import dev.tern.internal.cuda.driver.SimulatedCuda;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.memory.MemorySnapshot;
import dev.tern.internal.memory.OutOfBudgetException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Blocks of a device and of pinned memory: when they may be used again, and what is left. */
final class CudaBlocksTest {
  private static final long UNIT = 2 << 20;
  private static final long DEVICE_BYTES = 4L << 30;
  private static final int EVENTS = Integer.getInteger("tern.cuda.fuzz", 200_000);

  private String before = "";
  private CudaDevice device;
  private CudaMemory memory;
  private long compute;
  private long copies;

  @BeforeEach
  void open() {
    assumeTrue(SimulatedCuda.missing().isEmpty(), () -> SimulatedCuda.missing().orElse(""));
    before = SimulatedCuda.driver().isSimulated() ? SimulatedCuda.live() : "";
    device = SimulatedCuda.open(0);
    memory = device.driver().memory();
    compute = device.computeStream();
    copies = device.copyStream();
  }

  @AfterEach
  void close() {
    if (device != null) {
      SimulatedCuda.recover();
      SimulatedCuda.bytes(DEVICE_BYTES);
      SimulatedCuda.poisons(true);
      device.close();
      assertThat(SimulatedCuda.live()).as("what is left in the driver").isEqualTo(before);
    }
  }

  private long used() {
    CudaMemory.Bytes bytes = memory.bytes();
    return bytes.total() - bytes.free();
  }

  @Test
  void memoryComesAndGoesByUnitsOfTheDriver() {
    try (CudaBlocks blocks = CudaBlocks.onDevice(device, 64 << 20)) {
      assertThat(used()).isZero();
      long a = blocks.allocate(100, "a");
      long b = blocks.allocate(5 << 20, "b");
      assertThat(a % CudaBlocks.ALIGNMENT).isZero();
      assertThat(b % CudaBlocks.ALIGNMENT).isZero();
      assertThat(used()).isEqualTo(blocks.statistics().reserved().current());
      assertThat(used() % UNIT).isZero();
      memory.fill(b, (byte) 1, 5 << 20, compute);
      device.synchronize();
      blocks.free(a);
      blocks.free(b);
      blocks.trim();
      assertThat(used()).isZero();
      assertThat(blocks.statistics().allocated().current()).isZero();
    }
  }

  @Test
  void aBlockIsNotUsedAgainBeforeItsStreamIsDone() {
    try (CudaBlocks blocks = CudaBlocks.onDevice(device, 64 << 20)) {
      long a = blocks.allocate(1 << 20, "a");
      memory.fill(a, (byte) 1, 1 << 20, compute);
      memory.fill(a, (byte) 2, 1 << 20, compute);
      blocks.freeAfter(a, compute);
      long b = blocks.allocate(1 << 20, "b");
      assertThat(b).isNotEqualTo(a);
      assertThat(blocks.waiting()).isEqualTo(1);
      device.driver().streams().synchronize(compute);
      assertThat(blocks.allocate(1 << 20, "c")).isEqualTo(a);
      assertThat(blocks.waiting()).isZero();
    }
  }

  @Test
  void aBlockOfTwoStreamsWaitsForBoth() {
    try (CudaBlocks blocks = CudaBlocks.onDevice(device, 64 << 20)) {
      long a = blocks.allocate(1 << 20, "a");
      memory.fill(a, (byte) 1, 1 << 20, compute);
      for (int i = 0; i < 5; i++) {
        memory.fill(a, (byte) 2, 1 << 20, copies);
      }
      blocks.freeAfter(a, copies, compute, copies);
      device.driver().streams().synchronize(compute);
      assertThat(blocks.collect()).isZero();
      device.driver().streams().synchronize(copies);
      assertThat(blocks.collect()).isEqualTo(1);
    }
  }

  @Test
  void aRequestWithoutRoomWaitsForBlocksThatStreamsUse() {
    try (CudaBlocks blocks = CudaBlocks.onDevice(device, 16 << 20)) {
      long a = blocks.allocate(12 << 20, "a");
      for (int i = 0; i < 5; i++) {
        memory.fill(a, (byte) 1, 1 << 20, compute);
      }
      blocks.freeAfter(a, compute);
      assertThat(blocks.allocate(12 << 20, "b")).isPositive();
      assertThatThrownBy(() -> blocks.allocate(12 << 20, "c"))
          .isInstanceOf(OutOfBudgetException.class)
          .hasMessageContaining("allocate: got a request of 12582912 bytes for c")
          .hasMessageContaining("largest holders: b 12582912");
    }
  }

  @Test
  void aDeviceThatOthersUseHasLessThanTheBudget() {
    try (CudaBlocks blocks = CudaBlocks.onDevice(device, 64 << 20)) {
      SimulatedCuda.bytes(10 << 20);
      long a = blocks.allocate(4 << 20, "a");
      long b = blocks.allocate(4 << 20, "b");
      assertThatThrownBy(() -> blocks.allocate(4 << 20, "c"))
          .isInstanceOf(OutOfBudgetException.class)
          .hasMessageContaining("for c with 8388608 live")
          .hasMessageContaining("cuMemCreate: got 2 CUDA_ERROR_OUT_OF_MEMORY")
          .hasMessageContaining("end other processes that use the device");
      assertThat(used()).isEqualTo(blocks.statistics().reserved().current());
      blocks.free(a);
      blocks.free(b);
      assertThat(blocks.allocate(9 << 20, "d")).as("after memory of gaps moved").isPositive();
      assertThat(CudaBlocks.defaultBudget(device)).isLessThan(1 << 20);
    }
  }

  @Test
  void whatIsFreedWhileAGraphIsRecordedWaitsForItsEnd() {
    CudaGraphs graphs = device.driver().graphs();
    try (CudaBlocks blocks = CudaBlocks.onDevice(device, 64 << 20)) {
      long a = blocks.allocate(1 << 20, "a");
      long b = blocks.allocate(1 << 20, "b");
      graphs.begin(compute);
      assertThat(CudaGraphs.isRecording()).isTrue();
      memory.fill(a, (byte) 1, 1 << 20, compute);
      blocks.freeAfter(a, compute);
      assertThat(blocks.collect()).isZero();
      long graph = graphs.end(compute);
      assertThat(CudaGraphs.isRecording()).isFalse();
      assertThat(blocks.waiting()).isEqualTo(1);
      graphs.destroy(graph);
      device.synchronize();
      assertThat(blocks.collect() + blocks.collect()).isBetween(0, 1);
      device.synchronize();
      blocks.collect();
      assertThat(blocks.waiting()).isZero();
      blocks.free(b);
    }
  }

  @Test
  void pinnedMemoryIsNotUsedAgainBeforeItsCopyEnds() {
    try (CudaBlocks pinned = CudaBlocks.pinned(device, 8 << 20);
        CudaBlocks blocks = CudaBlocks.onDevice(device, 8 << 20)) {
      long x = blocks.allocate(64, "x");
      long host = pinned.allocate(64, "batch");
      MemorySegment.ofAddress(host).reinterpret(64).fill((byte) 5);
      memory.copyIn(x, host, 64, copies);
      pinned.freeAfter(host, copies);
      long next = pinned.allocate(64, "next batch");
      assertThat(next).isNotEqualTo(host);
      MemorySegment.ofAddress(next).reinterpret(64).fill((byte) 6);
      memory.copyOut(next, x, 64, copies);
      device.synchronize();
      assertThat(MemorySegment.ofAddress(next).reinterpret(64).get(ValueLayout.JAVA_BYTE, 63))
          .isEqualTo((byte) 5);
      assertThat(pinned.snapshot().device()).isEqualTo(-1);
    }
  }

  @Test
  void pinnedMemoryIsTheDriversInCheckedModeToo() {
    try (CudaBlocks pinned = CudaBlocks.pinned(device, 8 << 20)) {
      long host = pinned.allocate(256, "batch");
      assertThat(memory.devicePointer(host)).isEqualTo(host);
      Memory.setInt(host + 252, 7);
      assertThat(Memory.getInt(host + 252)).isEqualTo(7);
      pinned.free(host);
      if (Memory.CHECKED) {
        assertThatThrownBy(() -> Memory.getInt(host)).isInstanceOf(AssertionError.class);
      }
    }
  }

  @Test
  void aSnapshotNamesItsDevice() {
    try (CudaDevice other = SimulatedCuda.open(1);
        CudaBlocks blocks = CudaBlocks.onDevice(other, 64 << 20)) {
      blocks.allocate(300, "weights");
      MemorySnapshot snapshot = blocks.snapshot();
      assertThat(snapshot.device()).isEqualTo(1);
      assertThat(snapshot.segments()).hasSize(1);
      assertThat(snapshot.segments().getFirst().blocks().getFirst().holder()).isEqualTo("weights");
      assertThat(snapshot.segments().getFirst().blocks().getFirst().requested()).isEqualTo(512);
    } finally {
      device.use();
    }
  }

  @Test
  void aLargeBudgetHasLargeUnits() {
    SimulatedCuda.poisons(false);
    SimulatedCuda.bytes(16L << 30);
    try (CudaBlocks blocks = CudaBlocks.onDevice(device, 8L << 30)) {
      blocks.allocate(100, "a");
      assertThat(used()).isEqualTo(32 << 20);
      blocks.allocate(6L << 30, "b");
      assertThat(used()).isBetween(6L << 30, (6L << 30) + (160 << 20));
    }
    assertThat(used()).isZero();
  }

  @Test
  void aCallThatFailsLeavesNothingAndLosesNothing() {
    List<String> calls =
        List.of(
            "cuMemGetAllocationGranularity",
            "cuMemAddressReserve",
            "cuMemCreate",
            "cuMemMap",
            "cuMemSetAccess",
            "cuMemHostAlloc",
            "cuEventCreate",
            "cuEventRecord",
            "cuEventQuery",
            "cuEventSynchronize",
            "cuCtxSynchronize");
    for (String call : calls) {
      for (int nth = 1; nth <= 3; nth++) {
        SimulatedCuda.fail(call, nth, 1);
        Throwable seen = catchThrowable(this::useBlocks);
        SimulatedCuda.failNothing();
        if (seen != null) {
          assertThat(seen)
              .as("use %d of %s", nth, call)
              .isInstanceOf(CudaException.class)
              .hasMessageStartingWith(call + ": got 1 CUDA_ERROR_INVALID_VALUE (");
        } else {
          assertThat(nth).as("uses of %s", call).isGreaterThan(1);
        }
        assertThat(used()).as("bytes after use %d of %s", nth, call).isZero();
      }
    }
  }

  private void useBlocks() {
    try (CudaBlocks pinned = CudaBlocks.pinned(device, 8 << 20);
        CudaBlocks blocks = CudaBlocks.onDevice(device, 64 << 20)) {
      long a = blocks.allocate(9 << 20, "a");
      long b = blocks.allocate(30 << 20, "b");
      long host = pinned.allocate(100, "host");
      memory.fill(a, (byte) 1, 100, compute);
      memory.copyOut(host, a, 100, compute);
      blocks.freeAfter(a, compute, copies);
      blocks.freeAfter(b, copies);
      pinned.freeAfter(host, compute);
      blocks.allocate(100, "c");
      blocks.allocate(60 << 20, "d");
    }
  }

  @Test
  void randomUseKeepsAllContents() {
    assertThat(wrongWords(EVENTS, false)).isZero();
    assertThat(used()).isZero();
  }

  @Test
  void blocksThatGoBackTooEarlyAreFoundByRandomUse() {
    assertThat(wrongWords(5_000, true)).isPositive();
  }

  /** A block of random use: its own number is in its first and last word. */
  private record Use(long address, int words, int number, long stream) {}

  /**
   * Allocates and frees at random on two streams that do their work late.
   *
   * @param early whether blocks go back while streams still use them
   * @return how many words had other contents than were written
   */
  private int wrongWords(int events, boolean early) {
    SimulatedCuda.poisons(false);
    SplittableRandom random = new SplittableRandom(7);
    List<Use> live = new ArrayList<>();
    int wrong = 0;
    int batch = 512;
    int[] expected = new int[batch];
    try (CudaBlocks pinned = CudaBlocks.pinned(device, 1 << 20);
        CudaBlocks blocks = CudaBlocks.onDevice(device, 64 << 20)) {
      long host = pinned.allocate(8L * batch, "seen");
      MemorySegment seen = MemorySegment.ofAddress(host).reinterpret(8L * batch);
      if (early) {
        // With so much once in use, no memory is taken from gaps: a read too late faults there.
        blocks.free(blocks.allocate(48 << 20, "high"));
      }
      int reads = 0;
      for (int i = 1; i <= events; i++) {
        boolean frees = live.size() > 150 || !live.isEmpty() && random.nextInt(5) < 2;
        if (frees) {
          Use use = live.remove(random.nextInt(live.size()));
          memory.copyOut(host + 8L * reads, use.address(), 4, use.stream());
          long last = use.address() + 4L * (use.words() - 1);
          memory.copyOut(host + 8L * reads + 4, last, 4, use.stream());
          expected[reads++] = use.number();
          if (early) {
            blocks.free(use.address());
          } else {
            blocks.freeAfter(use.address(), use.stream());
          }
        } else {
          live.add(use(blocks, random, i));
        }
        if (reads == batch || i == events) {
          device.synchronize();
          for (int r = 0; r < reads; r++) {
            wrong += seen.getAtIndex(ValueLayout.JAVA_INT, 2L * r) == expected[r] ? 0 : 1;
            wrong += seen.getAtIndex(ValueLayout.JAVA_INT, 2L * r + 1) == expected[r] ? 0 : 1;
          }
          reads = 0;
        }
        if (i % 20_000 == 0) {
          assertThat(used()).isEqualTo(blocks.statistics().reserved().current());
          assertThat(blocks.statistics().allocations().current())
              .isEqualTo(live.size() + blocks.waiting());
        }
      }
      device.synchronize();
    }
    return wrong;
  }

  private Use use(CudaBlocks blocks, SplittableRandom random, int number) {
    // Sizes that come again have blocks used again at once; others move what is free.
    int words =
        switch (random.nextInt(16)) {
          case 0 -> 1 + random.nextInt(1 << 18);
          case 1, 2, 3 -> 1 + random.nextInt(1 << 12);
          default -> 64 << random.nextInt(6);
        };
    long stream = random.nextBoolean() ? compute : copies;
    long address = blocks.allocate(4L * words, "use");
    memory.fillInts(address, number, 1, stream);
    memory.fillInts(address + 4L * (words - 1), number, 1, stream);
    return new Use(address, words, number, stream);
  }
}
