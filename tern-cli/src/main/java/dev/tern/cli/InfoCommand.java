package dev.tern.cli;

import com.sun.management.OperatingSystemMXBean;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.util.concurrent.Callable;
import jdk.incubator.vector.FloatVector;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code tern info}: what a run depends on, to be sent along with a question or a measurement. */
@Command(
    name = "info",
    description = "Prints the version, the JDK, the machine and what Tern uses of it.",
    mixinStandardHelpOptions = true)
final class InfoCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
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
    return 0;
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
