package dev.tern.cli;

import dev.tern.cli.config.ConfigException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/**
 * {@code tern bench}: runs the benchmarks module in a new JVM, so that nothing is warmed up. The
 * module is not part of a release.
 */
@Command(
    name = "bench",
    description = "Measures speed; from a source tree only.",
    mixinStandardHelpOptions = true)
final class BenchCommand implements Callable<Integer> {
  private static final String MAIN = "dev.tern.bench.Main";

  @Parameters(
      arity = "1..*",
      paramLabel = "SUITE",
      description = {
        "The suite and its options, --json among them for one object a line.",
        "tern bench list names all."
      })
  private List<String> arguments = List.of();

  @Override
  public Integer call() throws InterruptedException {
    if (BenchCommand.class.getResource("/" + MAIN.replace('.', '/') + ".class") == null) {
      throw new ConfigException(
          "bench: got no benchmarks on the class path, expected the module tern-bench; run ./tern"
              + " bench in a source tree");
    }
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), MAIN));
    command.addAll(arguments);
    try {
      return new ProcessBuilder(command).inheritIO().start().waitFor();
    } catch (IOException e) {
      throw new UncheckedIOException("bench: " + e.getMessage(), e);
    }
  }
}
