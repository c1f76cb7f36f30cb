package dev.tern.bench;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Fresh processes of this JVM, with its class path and options. */
public final class Children {
  /** Options that name kept classes, and those that such classes need to be met with. */
  private static final List<String> KEPT_CLASSES =
      List.of(
          "-XX:AOTCache=",
          "-Xlog:aot",
          "-XX:+UnlockDiagnosticVMOptions",
          "-XX:-AOTReplayTraining",
          "--add-opens=",
          "--sun-misc-unsafe-memory-access=");

  private Children() {}

  /**
   * The command that runs {@code main}; {@code options} of java follow the options of this process.
   */
  public static List<String> command(List<String> options, String main, String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--add-modules");
    command.add("jdk.incubator.vector");
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("-XX:+UseParallelGC");
    for (String name : List.of("tern.root", "tern.memory", "tern.vector.bits", "tern.kernels")) {
      String value = System.getProperty(name);
      if (value != null) {
        command.add("-D" + name + "=" + value);
      }
    }
    command.addAll(options);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main));
    command.addAll(List.of(arguments));
    return command;
  }

  /** Options by which a process takes the classes that the JVM kept, if this process does. */
  static List<String> keptClasses() {
    return ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(option -> KEPT_CLASSES.stream().anyMatch(option::startsWith))
        .toList();
  }

  /** What it prints. */
  public static String output(List<String> options, String main, String... arguments)
      throws IOException {
    List<String> command = command(options, main, arguments);
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    try {
      if (process.waitFor() != 0) {
        throw new IllegalStateException(
            "process: got status " + process.exitValue() + " of " + command + ": " + output);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("process: interrupted", e);
    }
    return output;
  }
}
