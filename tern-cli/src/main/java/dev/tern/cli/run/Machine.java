package dev.tern.cli.run;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The machine a run was made on, in words.
 *
 * @param processor its name and the number of its logical cores
 * @param memory bytes of main memory; 0 where not known
 * @param system name, release and architecture
 * @param java vendor and version
 */
public record Machine(String processor, long memory, String system, String java) {
  private static final Path CPUINFO = Path.of("/proc/cpuinfo");

  /** This machine. */
  public static Machine here() {
    int cores = Runtime.getRuntime().availableProcessors();
    String name = cpuName().orElse(System.getProperty("os.arch"));
    long memory =
        ManagementFactory.getOperatingSystemMXBean()
                instanceof com.sun.management.OperatingSystemMXBean bean
            ? bean.getTotalMemorySize()
            : 0;
    return new Machine(
        name + ", " + cores + (cores == 1 ? " core" : " cores"),
        memory,
        System.getProperty("os.name")
            + " "
            + System.getProperty("os.version")
            + " "
            + System.getProperty("os.arch"),
        System.getProperty("java.vendor") + " " + Runtime.version());
  }

  private static Optional<String> cpuName() {
    if (!Files.isReadable(CPUINFO)) {
      return Optional.empty();
    }
    try (Stream<String> lines = Files.lines(CPUINFO)) {
      return lines
          .filter(line -> line.startsWith("model name"))
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .findFirst();
    } catch (IOException _) {
      return Optional.empty();
    }
  }
}
