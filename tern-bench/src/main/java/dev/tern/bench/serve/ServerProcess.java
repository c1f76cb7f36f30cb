package dev.tern.bench.serve;

import dev.tern.bench.Children;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** {@code tern serve} in a process of its own, whose heap is touched before it is measured. */
final class ServerProcess implements AutoCloseable {
  private static final List<String> HEAP = List.of("-Xms512m", "-Xmx512m", "-XX:+AlwaysPreTouch");
  private static final Pattern READY =
      Pattern.compile("serving .* at http://127\\.0\\.0\\.1:(\\d+)/.*, ready after ([\\d.]+) s");
  private static final Path STATUS = Path.of("/proc");

  private final Process process;
  private final int port;
  private final double readySeconds;

  private ServerProcess(Process process, int port, double readySeconds) {
    this.process = process;
    this.port = port;
    this.readySeconds = readySeconds;
  }

  /**
   * Serves a checkpoint or a folder as the model {@code m}, and returns once it is ready.
   *
   * @param options further options of {@code tern serve}
   */
  static ServerProcess start(Path served, String... options) throws IOException {
    List<String> arguments = new ArrayList<>(List.of("serve", "m=" + served, "--port", "0"));
    arguments.addAll(List.of(options));
    Process process =
        new ProcessBuilder(
                Children.command(HEAP, "dev.tern.cli.Main", arguments.toArray(String[]::new)))
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    BufferedReader said = process.inputReader();
    for (String line = said.readLine(); line != null; line = said.readLine()) {
      Matcher ready = READY.matcher(line);
      if (ready.matches()) {
        int port = Integer.parseInt(ready.group(1));
        return new ServerProcess(process, port, Double.parseDouble(ready.group(2)));
      }
    }
    process.destroy();
    throw new IOException(
        "bench service: got the end of the server, expected its port; tern serve "
            + served
            + " says why");
  }

  int port() {
    return port;
  }

  double readySeconds() {
    return readySeconds;
  }

  /** CPU time that it has used. */
  Duration cpu() {
    return process.info().totalCpuDuration().orElse(Duration.ZERO);
  }

  /** Bytes of its memory that are resident; NaN where the system does not tell. */
  double residentBytes() throws IOException {
    Path status = STATUS.resolve(process.pid() + "/status");
    if (!Files.exists(status)) {
      return Double.NaN;
    }
    for (String line : Files.readAllLines(status)) {
      if (line.startsWith("VmRSS:")) {
        return Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024.0;
      }
    }
    return Double.NaN;
  }

  /** The sum of the samples of a metric whose labels contain {@code label}. */
  double metric(String name, String label) throws IOException {
    try (Caller caller = new Caller(port)) {
      if (caller.call(Caller.get("/metrics")) != 200) {
        throw new IOException("bench service: got no metrics: " + caller.body());
      }
      return caller
          .body()
          .lines()
          .filter(line -> line.startsWith(name + "{") && line.contains(label))
          .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
          .sum();
    }
  }

  /** Asks it to stop, as {@code kill} does, and gives the seconds until it has ended. */
  double stop() throws IOException {
    long start = System.nanoTime();
    process.destroy();
    try {
      if (!process.waitFor(60, TimeUnit.SECONDS)) {
        throw new IOException("bench service: got a server that runs 60 s after it was stopped");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("bench service: interrupted", e);
    }
    return (System.nanoTime() - start) / 1e9;
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
