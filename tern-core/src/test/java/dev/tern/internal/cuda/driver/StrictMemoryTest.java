package dev.tern.internal.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An access of the host to memory of the device ends the process, so it has one of its own. */
final class StrictMemoryTest {
  @TempDir private Path folder;

  @BeforeEach
  void skip() {
    SimulatedDevice.skipWhereThereIsNone();
  }

  /** Reads memory of the device by the way that the argument names. */
  public static void main(String[] arguments) {
    SimulatedCuda.driver();
    SimulatedCuda.strict(true);
    try (CudaDevice device = SimulatedCuda.open(0);
        Arena arena = Arena.ofConfined()) {
      CudaMemory memory = device.driver().memory();
      long x = memory.allocate(64);
      MemorySegment host = arena.allocate(64);
      memory.fillInts(x, 42, 16, device.computeStream());
      memory.copyOut(host.address(), x, 64, device.computeStream());
      device.synchronize();
      System.out.println("copied " + host.get(ValueLayout.JAVA_INT, 60));
      if (arguments[0].equals("read")) {
        MemorySegment there = MemorySegment.ofAddress(x).reinterpret(64);
        System.out.println("read " + there.get(ValueLayout.JAVA_INT, 0));
      }
      memory.free(x);
      System.out.println("done");
    }
  }

  private String run(String way) throws IOException, InterruptedException {
    SimulatedCuda.library();
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:-UsePerfData",
                "-XX:-CreateCoredumpOnCrash",
                "-XX:ErrorFile=" + folder.resolve("crash.log"),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                StrictMemoryTest.class.getName(),
                way)
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return said + "status " + process.waitFor();
  }

  @Test
  void copiesReachMemoryThatTheHostCannotRead() throws IOException, InterruptedException {
    assertThat(run("copy")).contains("copied 42", "done", "status 0");
  }

  @Test
  void aReadByTheHostEndsTheProcess() throws IOException, InterruptedException {
    assertThat(run("read")).contains("copied 42", "SIGSEGV").doesNotContain("read 42", "status 0");
  }
}
