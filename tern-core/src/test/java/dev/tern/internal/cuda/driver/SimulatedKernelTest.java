package dev.tern.internal.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What CUDA C means on the simulated device, under each order of threads, and what it finds. */
final class SimulatedKernelTest {
  private static final String SUM =
      """
      #define WIDTH 256
      extern "C" __global__ void __launch_bounds__(WIDTH) sum(const int* x, int* out, int n) {
        __shared__ int part[WIDTH];
        int s = 0;
        for (int i = threadIdx.x; i < n; i += WIDTH) s += x[i];
        part[threadIdx.x] = s;
        BARRIER();
        for (int half = WIDTH / 2; half > 0; half /= 2) {
          if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
          BARRIER();
        }
        if (threadIdx.x == 0) *out = part[0];
      }
      """;

  private SimulatedDevice cuda;

  @BeforeEach
  void open() {
    cuda = new SimulatedDevice();
  }

  @AfterEach
  void close() {
    SimulatedCuda.schedule(0);
    cuda.close();
  }

  static IntStream schedules() {
    return IntStream.range(0, SimulatedCuda.SCHEDULES);
  }

  private int sum(String barrier) {
    long x = cuda.bytes(4000);
    long out = cuda.bytes(4);
    cuda.driver.memory().fillInts(x, 3, 1000, cuda.device.computeStream());
    String text = SUM.replace("BARRIER()", barrier);
    cuda.launch(text, "sum", CudaGrid.of(1, 256), x, out, 1000);
    return cuda.readInts(out, 1)[0];
  }

  @ParameterizedTest
  @MethodSource("schedules")
  void threadsMeetAtBarriers(int schedule) {
    SimulatedCuda.schedule(schedule);
    assertThat(sum("__syncthreads()")).isEqualTo(3000);
  }

  @Test
  void aMissingBarrierGivesAnotherResultUnderSomeSchedule() {
    int wrong = 0;
    for (int schedule = 0; schedule < SimulatedCuda.SCHEDULES; schedule++) {
      SimulatedCuda.schedule(schedule);
      wrong += sum("(void)0") == 3000 ? 0 : 1;
    }
    assertThat(wrong).isPositive();
  }

  @Test
  void aBarrierThatIsMissingOnceOnlyIsFound() {
    String text =
        """
        extern "C" __global__ void turn(int* x) {
          __shared__ int tile[64];
          int t = threadIdx.x;
          tile[t] = x[t];
          __syncthreads();
          int from = tile[63 - t];
          tile[t] = from + 1;
          __syncthreads();
          x[t] = tile[63 - t];
        }
        """;
    int wrong = 0;
    for (int schedule = 0; schedule < SimulatedCuda.SCHEDULES; schedule++) {
      SimulatedCuda.schedule(schedule);
      long x = cuda.bytes(256);
      cuda.driver.memory().fillInts(x, 1, 64, cuda.device.computeStream());
      cuda.launch(text, "turn", CudaGrid.of(1, 64), x);
      int[] seen = cuda.readInts(x, 64);
      wrong += IntStream.of(seen).allMatch(v -> v == 2) ? 0 : 1;
    }
    assertThat(wrong).isPositive();
  }

  @ParameterizedTest
  @MethodSource("schedules")
  void shufflesExchangeWithinGroups(int schedule) {
    SimulatedCuda.schedule(schedule);
    String text =
        """
        extern "C" __global__ void exchange(int* out) {
          int t = threadIdx.x, lane = t & 31;
          unsigned mask = lane < 16 ? 0xffffu : 0xffff0000u;
          int s = t;
          for (int x = 8; x > 0; x /= 2) s += __shfl_xor_sync(mask, s, x, 16);
          out[t] = s;
          out[64 + t] = __shfl_sync(0xffffffff, t, 5);
          out[128 + t] = __shfl_down_sync(0xffffffff, t, 4);
          out[192 + t] = __shfl_up_sync(0xffffffff, t, 1, 8);
          out[256 + t] = (int)__ballot_sync(0xffffffff, t % 3 == 0);
          __syncwarp();
        }
        """;
    long out = cuda.bytes(4 * 320);
    cuda.launch(text, "exchange", CudaGrid.of(1, 64), out);
    int[] seen = cuda.readInts(out, 320);
    for (int t = 0; t < 64; t++) {
      int warp = t & ~31;
      int group = t & ~15;
      assertThat(seen[t]).isEqualTo(16 * group + 120);
      assertThat(seen[64 + t]).isEqualTo(warp + 5);
      assertThat(seen[128 + t]).isEqualTo(t - warp + 4 < 32 ? t + 4 : t);
      assertThat(seen[192 + t]).isEqualTo(t % 8 == 0 ? t : t - 1);
      int ballot = 0;
      for (int lane = 0; lane < 32; lane++) {
        ballot |= (warp + lane) % 3 == 0 ? 1 << lane : 0;
      }
      assertThat(seen[256 + t]).isEqualTo(ballot);
    }
  }

  @ParameterizedTest
  @MethodSource("schedules")
  void dynamicSharedMemoryIsWhatTheLaunchAskedFor(int schedule) {
    SimulatedCuda.schedule(schedule);
    String text =
        """
        extern "C" __global__ void reverse(float4* x) {
          extern __shared__ float4 tile[];
          tile[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
          __syncthreads();
          float4 v = tile[blockDim.x - 1 - threadIdx.x];
          x[blockIdx.x * blockDim.x + threadIdx.x] = make_float4(v.w, v.z, v.y, v.x);
        }
        """;
    float[] values = new float[4 * 96];
    for (int i = 0; i < values.length; i++) {
      values[i] = i;
    }
    long x = cuda.floats(values);
    cuda.launch(text, "reverse", CudaGrid.of(2, 48).withSharedBytes(16 * 48), x);
    float[] seen = cuda.readFloats(x, values.length);
    for (int i = 0; i < values.length; i++) {
      int block = i / 192;
      assertThat(seen[i]).isEqualTo(192 * block + 191 - i % 192);
    }
  }

  @Test
  void gridsAndBlocksHaveThreeDirections() {
    String text =
        """
        extern "C" __global__ void place(int* out) {
          int b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
          int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
          out[b * 24 + t] = b * 24 + t;
        }
        """;
    long out = cuda.bytes(4 * 24 * 24);
    cuda.launch(text, "place", new CudaGrid(2, 3, 4, 4, 3, 2, 0), out);
    assertThat(cuda.readInts(out, 24 * 24)).containsExactly(IntStream.range(0, 576).toArray());
  }

  @Test
  void arithmeticIsThatOfIeee754() {
    String text =
        """
        extern "C" __global__ void compute(const float* x, float* out, int* ints) {
          float a = x[0], b = x[1], c = x[2];
          out[0] = a * b + c;
          out[1] = __fmaf_rn(a, b, c);
          out[2] = __fdiv_rn(a, b);
          out[3] = __fsqrt_rn(a);
          out[4] = __fadd_rn(__fmul_rn(a, b), c);
          ints[0] = __float2int_rn(2.5f); ints[1] = __float2int_rz(-2.7f);
          ints[2] = __float2int_rn(1e20f); ints[3] = __float2int_rz(__int_as_float(0x7fc00000));
          ints[4] = (int)__umulhi(0x80000001u, 6u); ints[5] = (int)__umul64hi(1ull << 63, 6ull);
          ints[6] = __float_as_int(-0.0f);
          atomicMin(ints + 7, -4); atomicAdd(ints + 8, 5); atomicMin(ints + 7, 3);
        }
        """;
    float a = 1.0000001f;
    float b = 1.0000002f;
    float c = -1.0000004f;
    long x = cuda.floats(a, b, c);
    long out = cuda.bytes(20);
    long ints = cuda.bytes(36);
    cuda.driver.memory().fillInts(ints, 0, 9, cuda.device.computeStream());
    cuda.launch(text, "compute", CudaGrid.of(1, 1), x, out, ints);
    assertThat(cuda.readFloats(out, 5))
        .containsExactly(a * b + c, Math.fma(a, b, c), a / b, (float) Math.sqrt(a), a * b + c);
    assertThat(cuda.readInts(ints, 9))
        .containsExactly(2, -2, Integer.MAX_VALUE, 0, 3, 3, 1 << 31, -4, 5);
  }

  @Test
  void memoryThatNobodyWroteIsNan() {
    String text =
        """
        extern "C" __global__ void peek(float* out) {
          __shared__ float tile[32];
          extern __shared__ float more[];
          out[threadIdx.x] = tile[threadIdx.x];
          out[32 + threadIdx.x] = more[threadIdx.x];
          tile[threadIdx.x] = more[threadIdx.x] = 1;
        }
        """;
    long out = cuda.bytes(4 * 96);
    cuda.launch(text, "peek", CudaGrid.of(2, 32).withSharedBytes(128), out);
    for (float value : cuda.readFloats(out, 96)) {
      assertThat(value).isNaN();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "if (threadIdx.x < 16) __syncwarp();",
        "if (threadIdx.x == 3) return; __syncwarp();",
        "if (threadIdx.x == 3) __syncthreads(); else __syncwarp();",
        "__shfl_sync(0xfff, (int)threadIdx.x, 0);",
        "__shfl_sync(threadIdx.x < 16 ? 0xffffu : 0xffffffffu, 0, 0);",
        "__shfl_sync(threadIdx.x < 16 ? 0xffffu : 0xffff0000u, 0, 20);",
        "if (threadIdx.x & 1) __shfl_sync(~0u, 1, 0); else __syncwarp();",
        "__trap();"
      })
  void threadsThatCannotGoOnEndTheLaunch(String body) {
    String text = "extern \"C\" __global__ void part(int* out) { " + body + " *out = 1; }";
    cuda.launch(text, "part", CudaGrid.of(2, 32), cuda.bytes(4));
    assertThatThrownBy(cuda::synchronize)
        .isInstanceOf(CudaException.class)
        .hasMessageContaining(
            "got 719 CUDA_ERROR_LAUNCH_FAILED (unspecified launch failure: kernel")
        .hasMessageContaining("kernel part, block (0, 0, 0), thread ")
        .hasMessageContaining("restart the process from the last checkpoint")
        .satisfies(e -> assertThat(((CudaException) e).isSticky()).isTrue());
    assertThatThrownBy(() -> cuda.bytes(4)).as("every later call").hasMessageContaining("got 719");
  }

  @Test
  void kernelsRunAfterOneThatFailed() {
    String text = "extern \"C\" __global__ void bad() { if (threadIdx.x < 5) __syncwarp(); }";
    for (int i = 0; i < 3; i++) {
      cuda.launch(text, "bad", CudaGrid.of(1, 64));
      assertThatThrownBy(cuda::synchronize).hasMessageContaining("kernel bad");
      SimulatedCuda.recover();
      assertThat(sum("__syncthreads()")).isEqualTo(3000);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "x[1024] = 1;", // the page behind
        "*(int*)8 = 1;",
        "extern __shared__ int s[]; s[4] = 1;",
        "int deep[64]; volatile int* p = deep; p[-30000] = 1;"
      })
  void anAccessOutsideOfMemoryLosesTheContext(String body) {
    String text = "extern \"C\" __global__ void out(int* x) { " + body + " }";
    long x = cuda.bytes(4096);
    cuda.launch(text, "out", CudaGrid.of(1, 1).withSharedBytes(16), x);
    assertThatThrownBy(cuda::synchronize)
        .hasMessageContaining("cuStreamSynchronize: got 700 CUDA_ERROR_ILLEGAL_ADDRESS")
        .hasMessageContaining("kernel out, block (0, 0, 0), thread 0");
  }

  @Test
  void aWriteJustBehindABlockIsFoundWhenItIsFreed() {
    String text = "extern \"C\" __global__ void out(int* x) { x[3] = 1; }";
    long x = cuda.driver.memory().allocate(12);
    cuda.launch(text, "out", CudaGrid.of(1, 1), x);
    assertThatThrownBy(() -> cuda.driver.memory().free(x))
        .hasMessageContaining("a write just behind a block of 12 bytes");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0 1 1 1 1 1",
        "1 65536 1 1 1 1",
        "1 1 1 1025 1 1",
        "1 1 1 1 1 65",
        "1 1 1 33 32 1"
      })
  void gridsThatTheDriverRefusesAreRefused(String numbers) {
    int[] n = java.util.Arrays.stream(numbers.split(" ")).mapToInt(Integer::parseInt).toArray();
    CudaGrid grid = new CudaGrid(n[0], n[1], n[2], n[3], n[4], n[5], 0);
    String text = "extern \"C\" __global__ void nothing() {}";
    assertThatThrownBy(() -> cuda.launch(text, "nothing", grid))
        .hasMessageContaining("cuLaunchKernel: got 1 CUDA_ERROR_INVALID_VALUE")
        .hasMessageContaining(grid.toString());
  }

  @Test
  void workOnMemoryThatWasTakenAwayFaults() {
    CudaVirtualMemory virtual = cuda.driver.memory().virtual();
    long unit = virtual.granularity(0);
    long base = virtual.reserve(unit);
    long piece = virtual.create(unit, 0);
    virtual.map(base, unit, piece);
    virtual.allow(base, unit, 0);
    cuda.driver.memory().fillInts(base, 1, 4, cuda.device.computeStream());
    virtual.unmap(base, unit);
    virtual.release(piece);
    virtual.unreserve(base, unit);
    assertThatThrownBy(cuda::synchronize)
        .hasMessageContaining("got 700")
        .hasMessageContaining("a fill");
  }
}
