package dev.tern.bench.endtoend;

import dev.tern.bench.Children;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Processes of the {@code tern} command, whose output goes into files of a folder. */
final class Commands implements AutoCloseable {
  private static final String MAIN = "dev.tern.cli.Main";
  private static final int SECONDS = 120;

  /** One process. */
  record Running(String name, Process process, Path output) {
    String printed() {
      try {
        return Files.readString(output);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /** Ends it as a crash of the machine would. */
    void kill() throws InterruptedException {
      process.destroyForcibly().waitFor();
    }

    /** Asks it to end; gives its exit code. */
    int stop() throws InterruptedException {
      process.toHandle().destroy();
      if (!process.waitFor(SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException(name + " does not end: " + printed());
      }
      return process.exitValue();
    }

    /** Waits for its end, which must be a good one. */
    void require() throws InterruptedException {
      if (!process.waitFor(SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
        throw new IllegalStateException(name + " failed: " + printed());
      }
    }

    /** Waits for something while it runs. */
    void await(String what, BooleanSupplier condition) throws InterruptedException {
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
      while (!condition.getAsBoolean()) {
        if (!process.isAlive() || System.nanoTime() > end) {
          String state = process.isAlive() ? "still runs" : "ended with " + process.exitValue();
          throw new IllegalStateException(
              "%s: got no %s; it %s and printed: %s".formatted(name, what, state, printed()));
        }
        Thread.sleep(10);
      }
    }
  }

  private final Path folder;
  private final List<Running> started = new CopyOnWriteArrayList<>();

  Commands(Path folder) {
    this.folder = folder;
    // Whoever ends this process ends the ones that it started, too.
    Runtime.getRuntime().addShutdownHook(new Thread(this::end));
  }

  /** Starts {@code tern} with arguments. */
  Running start(String... arguments) {
    try {
      String name = "tern " + arguments[0] + " (" + started.size() + ")";
      Path output = folder.resolve("output-" + started.size());
      List<String> command = Children.command(List.of("-Xmx512m"), MAIN, arguments);
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(output.toFile())
              .start();
      Running running = new Running(name, process, output);
      started.add(running);
      return running;
    } catch (IOException e) {
      throw new UncheckedIOException("end-to-end: cannot run java", e);
    }
  }

  /** The last lines that processes printed, for who looks for a fault. */
  String printed() {
    StringBuilder all = new StringBuilder();
    for (Running each : started) {
      String text = each.printed();
      all.append("--- ").append(each.name()).append('\n');
      all.append(text.substring(Math.max(0, text.length() - 2_000))).append('\n');
    }
    return all.toString();
  }

  /** The path of a file in the folder. */
  String path(String name) {
    return folder.resolve(name).toString();
  }

  /** The names of the checkpoints of a run, the newest last. */
  List<String> checkpoints(String run) {
    return Optional.ofNullable(folder.resolve(run).resolve("checkpoints").toFile().list())
        .map(List::of)
        .orElse(List.of())
        .stream()
        .filter(name -> name.matches("step-\\d+(\\.delta)?"))
        .sorted((a, b) -> Long.compare(step(a), step(b)))
        .toList();
  }

  static long step(String checkpoint) {
    return Long.parseLong(checkpoint.replaceAll("\\D", ""));
  }

  /** Ends what still runs. */
  @Override
  public void close() {
    end();
    started.forEach(each -> each.process().onExit().join());
  }

  private void end() {
    started.forEach(each -> each.process().destroyForcibly());
  }
}
