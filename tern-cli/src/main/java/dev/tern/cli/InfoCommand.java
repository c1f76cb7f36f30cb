package dev.tern.cli;

import com.sun.management.OperatingSystemMXBean;
import dev.tern.model.ModelConfig;
import dev.tern.tensor.CudaDevices;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.util.Optional;
import java.util.concurrent.Callable;
import jdk.incubator.vector.FloatVector;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tern info}: versions and machine, to send along with a question or a measurement. */
@Command(
    name = "info",
    description = "Prints the version, the JDK, the machine and what Tern uses of it.",
    mixinStandardHelpOptions = true)
final class InfoCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--kernels",
      paramLabel = "MODEL",
      description =
          "Trains MODEL, any that model.type takes, for a few seconds on made-up"
              + " rows, and lists each part of a step: milliseconds, GFLOP/s, GB/s, whether its"
              + " code is compiled vector code, and its expression.")
  private Optional<ModelConfig.Type> kernels = Optional.empty();

  @Option(
      names = "--threads",
      defaultValue = "2",
      description = "Compute threads for --kernels; by default ${DEFAULT-VALUE}.")
  private int threads;

  @Option(
      names = "--seconds",
      defaultValue = "20",
      description =
          "How long --kernels trains; its second half counts; by default ${DEFAULT-VALUE}.")
  private int seconds;

  @Option(
      names = "--device",
      defaultValue = "cpu",
      description =
          "cpu, or cuda for the parts of a step on an NVIDIA GPU: measured where there is one, else"
              + " estimated from operations and bytes; by default ${DEFAULT-VALUE}.")
  private String device = "cpu";

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    if (!device.equals("cpu") && !device.equals("cuda")) {
      throw new IllegalArgumentException("--device: got " + device + ", expected cpu or cuda");
    }
    if (kernels.isPresent()) {
      boolean isCuda = device.equals("cuda");
      if (isCuda && CudaDevices.find().missing().isPresent()) {
        KernelList.printEstimates(out, kernels.get());
      } else {
        KernelList.print(out, kernels.get(), threads, seconds, isCuda);
      }
      return 0;
    }
    Runtime runtime = Runtime.getRuntime();
    line(out, "tern", spec.root().version()[0].replace("tern ", ""));
    line(out, "java", Runtime.version() + ", " + System.getProperty("java.vendor"));
    line(out, "java home", System.getProperty("java.home"));
    line(
        out,
        "system",
        System.getProperty("os.name")
            + " "
            + System.getProperty("os.version")
            + " "
            + System.getProperty("os.arch"));
    line(out, "cores", runtime.availableProcessors());
    line(out, "vectors", vectors());
    if (ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean system) {
      line(out, "memory", gibibytes(system.getTotalMemorySize()));
    }
    line(out, "java heap", "at most " + gibibytes(runtime.maxMemory()));
    printCuda(out, CudaDevices.find());
    return 0;
  }

  private static void printCuda(PrintWriter out, CudaDevices cuda) {
    cuda.driver().ifPresent(driver -> line(out, "cuda", driver));
    for (int i = 0; i < cuda.devices().size(); i++) {
      CudaDevices.Found device = cuda.devices().get(i);
      line(
          out,
          "cuda:" + i,
          "%s, compute capability %s, %d multiprocessors, %s"
              .formatted(
                  device.name(),
                  device.capability(),
                  device.multiprocessors(),
                  gibibytes(device.memoryBytes())));
    }
    cuda.compiler().ifPresent(compiler -> line(out, "compiler", compiler));
    cuda.missing().ifPresent(missing -> line(out, "no cuda", missing));
  }

  private static void line(PrintWriter out, String name, Object value) {
    out.printf("%-10s %s%n", name, value);
  }

  private static String vectors() {
    if (ModuleLayer.boot().findModule("jdk.incubator.vector").isEmpty()) {
      return "none: scalar code only (run java with --add-modules jdk.incubator.vector)";
    }
    int bits = FloatVector.SPECIES_PREFERRED.vectorBitSize();
    return "%d bits, %d floats".formatted(bits, bits / Float.SIZE);
  }

  private static String gibibytes(long bytes) {
    return "%.1f GiB".formatted(bytes / (double) (1 << 30));
  }
}
