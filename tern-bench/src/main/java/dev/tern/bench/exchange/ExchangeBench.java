package dev.tern.bench.exchange;

import dev.tern.bench.Arguments;
import dev.tern.bench.Children;
import dev.tern.bench.Machine;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * {@code bench exchange}: ranks in processes of their own on this machine, connected by Unix
 * sockets or by TCP over loopback, with and without encryption. First all operations are checked
 * beside a plain evaluation, to the bit; then {@link ExchangeRank} times them. The CPU time of a
 * byte is that of one rank, for a byte sent and one received. Garbage is that of all threads of all
 * ranks.
 */
public final class ExchangeBench {
  private static final int MOST_SECONDS = 600;

  private ExchangeBench() {}

  public static void run(List<String> args) {
    Map<String, String> defaults = new TreeMap<>();
    defaults.put("--ranks", "2");
    defaults.put("--kinds", "unix,tcp");
    defaults.put("--encrypted", "no,yes");
    defaults.put("--seconds", "1");
    defaults.put("--frame", "131072");
    Arguments arguments = Arguments.parse("exchange", args, defaults);
    int ranks = arguments.positive("--ranks");
    if (!arguments.json()) {
      System.out.println(Machine.line() + ", load " + load() + ", " + ranks + " ranks");
      System.out.println(ExchangeRank.HEAD);
    }
    for (String kind : arguments.list("--kinds")) {
      for (String encrypted : arguments.list("--encrypted")) {
        Path folder = folder();
        try {
          start(arguments, ranks, List.of(kind, encrypted), folder);
        } finally {
          delete(folder);
        }
      }
    }
    if (!arguments.json()) {
      System.out.println("# load " + load());
    }
  }

  private static String load() {
    return "%.1f".formatted(ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
  }

  /** Runs all ranks; what rank 0 prints is what is measured. */
  private static void start(Arguments arguments, int ranks, List<String> kind, Path folder) {
    List<Process> processes = new ArrayList<>();
    try {
      for (int rank = 0; rank < ranks; rank++) {
        List<String> command =
            Children.command(
                List.of("-Xmx512m"),
                ExchangeRank.class.getName(),
                String.valueOf(rank),
                String.valueOf(ranks),
                folder.toString(),
                kind.get(0),
                kind.get(1),
                arguments.text("--seconds"),
                arguments.text("--frame"),
                String.valueOf(arguments.json()));
        ProcessBuilder builder =
            new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        processes.add(builder.start());
      }
      try (BufferedReader lines = processes.getFirst().inputReader()) {
        lines.lines().forEach(System.out::println);
      }
      for (Process process : processes) {
        if (!process.waitFor(MOST_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
          throw new IllegalStateException("exchange: a rank failed, expected all to end in peace");
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException("exchange: cannot run java", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("exchange: interrupted", e);
    } finally {
      processes.forEach(Process::destroyForcibly);
    }
  }

  private static Path folder() {
    try {
      return Files.createTempDirectory("tern-exchange");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void delete(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
