package dev.tern.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** {@code peers/train.py} in one of its modes, warmed up, which runs a repeat when asked. */
final class TrainPeer implements AutoCloseable {
  private static final Pattern VALUE = Pattern.compile("\"value\": ([0-9.e+]+)");

  /** Steps; it compiles before the first one if at all. */
  private static final String WARMUP = "20";

  private final String mode;
  private final Process process;
  private final BufferedReader answers;
  private final List<Double> runs = new ArrayList<>();

  private TrainPeer(String mode, List<String> command) {
    this.mode = mode;
    try {
      process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    } catch (IOException e) {
      throw new UncheckedIOException("peer: cannot run " + command.getFirst(), e);
    }
    answers = process.inputReader(StandardCharsets.UTF_8);
  }

  /**
   * @param arguments of {@code bench train}
   * @param mode {@code eager} or {@code compile}
   * @param weights folder of the weights that it begins with, if it takes its sizes from them
   */
  static TrainPeer start(
      Arguments arguments, String model, int threads, String mode, Optional<Path> weights) {
    List<String> command = new ArrayList<>();
    command.add(arguments.text("--peer-python"));
    command.add(Path.of(arguments.text("--peers"), "train.py").toString());
    Collections.addAll(command, "--json", "--in-turn", "--models", model, "--warmup", WARMUP);
    Collections.addAll(command, "--threads", Integer.toString(threads));
    for (String option :
        List.of(
            "--batch",
            "--steps",
            "--optimizer",
            "--rows-total",
            "--seed",
            "--longest",
            "--lengths",
            "--device")) {
      Collections.addAll(command, option, arguments.text(option));
    }
    weights.ifPresent(folder -> Collections.addAll(command, "--weights", folder.toString()));
    if (mode.equals("compile")) {
      command.add("--compile");
    }
    return new TrainPeer(mode, command);
  }

  String mode() {
    return mode;
  }

  /** Samples a second of the repeats so far. */
  List<Double> runs() {
    return runs;
  }

  /** Waits until it is warmed up, by a repeat that does not count. */
  void warmUp() {
    repeat();
    runs.clear();
  }

  /** Runs one repeat. */
  void repeat() {
    Rounds.settle();
    try {
      process.getOutputStream().write('\n');
      process.getOutputStream().flush();
      String answer = answers.readLine();
      Matcher value = VALUE.matcher(answer == null ? "" : answer);
      if (!value.find()) {
        throw new IllegalStateException(
            "peer " + mode + ": got " + answer + ", expected samples a second");
      }
      runs.add(Double.valueOf(value.group(1)));
    } catch (IOException e) {
      throw new UncheckedIOException("peer " + mode + ": stopped", e);
    }
    Rounds.settle();
  }

  @Override
  public void close() {
    process.destroy();
  }
}
