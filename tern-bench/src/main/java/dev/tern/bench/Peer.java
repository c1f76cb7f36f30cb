package dev.tern.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** {@code peers/ops.py}, running: answers each request with nanoseconds a call. */
final class Peer implements AutoCloseable {
  private static final Pattern NANOS = Pattern.compile("\"ns\": ([0-9.e+]+)");

  private final Process process;
  private final BufferedReader answers;

  /**
   * @param python the Python that has PyTorch
   * @param peers folder of the scripts
   */
  Peer(String python, String peers, int threads, double roundMillis) {
    List<String> command =
        List.of(
            python,
            Path.of(peers, "ops.py").toString(),
            "--threads",
            Integer.toString(threads),
            "--round-ms",
            Double.toString(roundMillis));
    try {
      process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    } catch (IOException e) {
      throw new UncheckedIOException("peer: cannot run " + python, e);
    }
    answers = process.inputReader(StandardCharsets.UTF_8);
  }

  /**
   * Nanoseconds a call over one round of the case that {@code request}, a JSON object, asks for.
   */
  double round(String request) {
    try {
      process.getOutputStream().write((request + "\n").getBytes(StandardCharsets.UTF_8));
      process.getOutputStream().flush();
      String answer = answers.readLine();
      Matcher nanos = NANOS.matcher(answer == null ? "" : answer);
      if (!nanos.find()) {
        throw new IllegalStateException(
            "peer: got " + answer + " for " + request + ", expected ns");
      }
      return Double.parseDouble(nanos.group(1));
    } catch (IOException e) {
      throw new UncheckedIOException("peer: stopped at " + request, e);
    }
  }

  @Override
  public void close() {
    process.destroy();
  }
}
