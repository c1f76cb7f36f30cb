package dev.tern.internal.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The compilers that this machine has: code comes out, and faults name their line. */
final class CudaCompilersTest {
  private static final String GOOD =
      """
      extern "C" __global__ void __launch_bounds__(256) add(const float* a, float* b, int n) {
        extern __shared__ float tile[];
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        tile[threadIdx.x] = i < n ? a[i] : 0.0f;
        __syncthreads();
        if (i < n) b[i] = __fadd_rn(tile[threadIdx.x], b[i]);
      }
      """;

  private static final String BAD = GOOD.replace("int i =", "in i =");

  private static void holds(CudaCompiler compiler) {
    byte[] code = compiler.compile(GOOD, 90);
    assertThat(code).startsWith(0x7f, 'E', 'L', 'F');
    assertThat(compiler.identity()).isNotBlank();
    assertThat(compiler.place()).isNotBlank();
    assertThatThrownBy(() -> compiler.compile(BAD, 90))
        .isInstanceOf(CudaCompilerException.class)
        .hasMessageContaining("got an error in the text of kernels")
        .hasMessageContaining("kernels.cu")
        .hasMessageContaining("line 3: in i = blockIdx.x * blockDim.x + threadIdx.x;");
  }

  @Test
  void theHostCompilerMakesCodeForTheSimulatedDevice() {
    SimulatedDevice.skipWhereThereIsNone();
    holds(CudaCompilers.uncached(SimulatedCuda.driver()));
  }

  @Test
  void nvccMakesCodeForADevice() {
    Optional<CudaCompiler> nvcc = CudaCompilers.nvcc();
    assumeTrue(nvcc.isPresent(), "there is no nvcc on this machine");
    holds(nvcc.orElseThrow());
    assertThat(nvcc.orElseThrow().identity()).contains("-fmad=false", "-ftz=false");
  }

  @Test
  void nvrtcMakesCodeForADevice() {
    CudaLibraries.Search nvrtc = CudaLibraries.findCompiler();
    assumeTrue(nvrtc.found().isPresent(), "there is no NVRTC on this machine");
    holds(new NvrtcCompiler(nvrtc.found().orElseThrow()));
  }

  @Test
  void aKernelThatWouldBeLeftOutIsRefused() {
    SimulatedDevice.skipWhereThereIsNone();
    CudaCompiler compiler = CudaCompilers.uncached(SimulatedCuda.driver());
    String strange = "extern \"C\" __global__ __attribute__((used)) void strange() {}";
    assertThatThrownBy(() -> compiler.compile(strange, 90))
        .hasMessageContaining("got 1 times __global__ and 0 kernels");
    String comments = "// __global__\n/* __global__ */ extern \"C\" __global__ void plain() {}";
    assertThat(compiler.compile(comments, 90)).isNotEmpty();
  }
}
