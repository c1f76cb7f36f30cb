package dev.tern.bench.memory;

import dev.tern.bench.Children;
import dev.tern.bench.Result;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The other end of a {@link BudgetRun}: a process that takes a step when it is told to. */
final class BudgetChild implements AutoCloseable {
  private final Process process;
  private final BufferedReader said;
  private final BufferedWriter turns;
  private final List<Double> millis = new ArrayList<>();

  /** All of a run: bytes of its steps, milliseconds of each, what was trained, bytes it held. */
  record Run(long bytes, List<Double> millis, String digest, long outside) {
    /** The median, over the later steps, of a step's time divided by its time in {@code whole}. */
    double slowdown(Run whole) {
      List<Double> ratios = new ArrayList<>();
      for (int i = millis.size() / 2; i < millis.size(); i++) {
        ratios.add(millis.get(i) / whole.millis.get(i));
      }
      return Result.median(ratios);
    }
  }

  private BudgetChild(Process process) {
    this.process = process;
    this.said = process.inputReader();
    this.turns = process.outputWriter();
  }

  /** Arguments as in {@link BudgetRun#main}. */
  static BudgetChild start(List<String> arguments) {
    List<String> options =
        List.of("-Xms1g", "-Xmx1g", "-XX:+AlwaysPreTouch", "-XX:NativeMemoryTracking=summary");
    List<String> command =
        Children.command(options, BudgetRun.class.getName(), arguments.toArray(String[]::new));
    try {
      return new BudgetChild(
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
    } catch (IOException e) {
      throw new UncheckedIOException("budget: cannot run java", e);
    }
  }

  /** One step, while it lasts; the bytes that it takes, or none where the memory does not do. */
  Optional<Long> step() {
    try {
      String line = turn();
      if (line.equals(BudgetRun.REFUSED)) {
        return Optional.empty();
      }
      String[] words = line.split(" ");
      millis.add(Double.parseDouble(words[1]));
      return Optional.of(Long.parseLong(words[0]));
    } catch (IOException e) {
      throw new UncheckedIOException("budget: a run ended before its time", e);
    }
  }

  /** After the last step. */
  Run end() {
    try {
      String[] words = turn().split(" ");
      return new Run(
          Long.parseLong(words[0]), millis, words[1] + " " + words[2], Long.parseLong(words[3]));
    } catch (IOException e) {
      throw new UncheckedIOException("budget: a run ended before its time", e);
    }
  }

  /** The line that it prints when it is told to go on. */
  private String turn() throws IOException {
    turns.write("go\n");
    turns.flush();
    String line = said.readLine();
    if (line == null) {
      throw new IOException("got the end of what it prints, expected a line; see its errors above");
    }
    return line;
  }

  /** Ends the process if it still runs. */
  @Override
  public void close() {
    process.destroy();
    try {
      process.waitFor();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
