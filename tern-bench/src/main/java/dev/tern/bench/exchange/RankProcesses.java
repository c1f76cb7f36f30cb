package dev.tern.bench.exchange;

import dev.tern.bench.Children;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Ranks in processes of their own on this machine.
 *
 * @param bench names it in errors
 * @param main runs a rank; its arguments are the rank, the number of ranks, a folder that all have,
 *     and what {@link #run} adds
 * @param options of java
 * @param pinned whether rank r runs on processor r alone, by {@code taskset} of Linux
 */
public record RankProcesses(String bench, String main, List<String> options, boolean pinned) {
  private static final int MOST_SECONDS = 900;

  /** Runs all ranks; prints what rank 0 prints. */
  public void run(int ranks, List<String> arguments) {
    Path folder = folder();
    List<Process> processes = new ArrayList<>();
    try {
      for (int rank = 0; rank < ranks; rank++) {
        processes.add(start(rank, ranks, folder, arguments));
      }
      try (BufferedReader lines = processes.getFirst().inputReader()) {
        lines.lines().forEach(System.out::println);
      }
      for (Process process : processes) {
        if (!process.waitFor(MOST_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
          throw new IllegalStateException(bench + ": a rank failed, expected all to end in peace");
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(bench + ": cannot run java", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(bench + ": interrupted", e);
    } finally {
      processes.forEach(Process::destroyForcibly);
      delete(folder);
    }
  }

  /** Starts one rank. */
  Process start(int rank, int ranks, Path folder, List<String> arguments) throws IOException {
    return new ProcessBuilder(command(rank, ranks, folder, arguments))
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  private List<String> command(int rank, int ranks, Path folder, List<String> arguments) {
    List<String> all =
        new ArrayList<>(List.of(String.valueOf(rank), String.valueOf(ranks), folder.toString()));
    all.addAll(arguments);
    List<String> command = new ArrayList<>();
    if (pinned) {
      command.addAll(List.of("taskset", "-c", String.valueOf(rank)));
    }
    command.addAll(Children.command(options, main, all.toArray(String[]::new)));
    return command;
  }

  static Path folder() {
    try {
      return Files.createTempDirectory("tern-ranks");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static void delete(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
