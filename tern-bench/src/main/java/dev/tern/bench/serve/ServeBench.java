package dev.tern.bench.serve;

import dev.tern.bench.Arguments;
import dev.tern.bench.Children;
import dev.tern.bench.Machine;
import dev.tern.bench.TrainBench;
import dev.tern.bench.rows.CriteoLike;
import dev.tern.data.Batch;
import dev.tern.model.ModelConfig;
import dev.tern.optim.Optimizer;
import dev.tern.predict.Predictor;
import dev.tern.tensor.Device;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * {@code bench serve}: requests a second, their times, and the CPU time of a server in a process of
 * its own, which connections on this machine drive: each sends its next request after an answer,
 * or, with {@code --rate}, when it is due. Scores are compared with those of {@link Predictor}
 * first, to the bit.
 */
public final class ServeBench {
  private static final int BODIES = 64;
  private static final int FIRST = 1_000;
  private final Arguments arguments;
  private final Duration time;
  private final List<Form> forms;

  private ServeBench(Arguments arguments) {
    this.arguments = arguments;
    time = Duration.ofSeconds(arguments.positive("--seconds"));
    forms = arguments.list("--protocol").stream().map(Form::of).toList();
  }

  /** Runs the suite. */
  public static void run(List<String> args) {
    Map<String, String> defaults = new TreeMap<>();
    defaults.put("--hidden", "128,64");
    defaults.put("--rows", "1,100,1024");
    defaults.put("--connections", "1,8");
    defaults.put("--rate", "0");
    defaults.put("--protocol", "predict,infer,binary,grpc");
    defaults.put("--seconds", "5");
    defaults.put("--warm-up", "5");
    defaults.put("--rows-total", "100000");
    defaults.put("--seed", "1");
    defaults.put("--peers", Machine.peers());
    ServeBench bench = new ServeBench(Arguments.parse("serve", args, defaults));
    if (!bench.arguments.json()) {
      System.out.println(Machine.line());
    }
    try {
      bench.run();
    } catch (IOException e) {
      throw new UncheckedIOException("bench serve: " + e.getMessage(), e);
    }
  }

  private void run() throws IOException {
    Path listing = Path.of(arguments.text("--peers"), "criteo_cardinalities.json");
    long rows = Long.parseLong(arguments.text("--rows-total"));
    CriteoLike data = new CriteoLike(listing, rows, arguments.integer("--seed"));
    Integer[] hidden = arguments.positives("--hidden").toArray(Integer[]::new);
    ModelConfig config = ModelConfig.of(ModelConfig.Type.DEEPFM, 16, hidden);
    Path folder = Files.createTempDirectory("tern-bench-serve");
    try {
      Path checkpoint = folder.resolve("model");
      try (Device device = Device.cpu(1, 8L << 30);
          Trainer trainer =
              Trainer.create(
                  device,
                  data.encoder(),
                  config,
                  TrainOptions.of(Optimizer.lazyAdam(1e-3f)).batch(256))) {
        TrainBench.fill(trainer, data.sizes());
        trainer.save(checkpoint);
      }
      measure(checkpoint, data);
    } finally {
      remove(folder);
    }
  }

  private void measure(Path checkpoint, CriteoLike data) throws IOException {
    Process server =
        new ProcessBuilder(
                Children.command(
                    List.of("-Xmx1g"), ServeChild.class.getName(), checkpoint.toString()))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (BufferedReader said = server.inputReader()) {
      String line = said.readLine();
      if (line == null) {
        throw new IOException("got the end of the server, expected its port");
      }
      int port = Integer.parseInt(line.split(" ")[0]);
      if (!arguments.json()) {
        System.out.println("ready after " + line.split(" ")[1] + " ms");
      }
      for (Form form : forms) {
        first(form, data.batches(BODIES, 1), port);
      }
      for (int rows : arguments.positives("--rows")) {
        for (Form form : forms) {
          byte[][] requests = requests(form, checkpoint, data.batches(BODIES, rows), port);
          for (int connections : arguments.positives("--connections")) {
            Load load = new Load(server, port, form, requests, connections);
            drive(load, arguments.positive("--warm-up"));
            print(form, rows, connections, drive(load, time.toSeconds()));
          }
        }
      }
    } finally {
      server.getOutputStream().close();
    }
  }

  /** Times the first requests of one row after the server said that it is ready. */
  private void first(Form form, List<Batch> batches, int port) throws IOException {
    Latencies times = new Latencies();
    try (Connection caller = form.connect(port)) {
      for (int at = 0; at < FIRST; at++) {
        byte[] request = form.request(batches.get(at % batches.size()));
        long start = System.nanoTime();
        require(caller, caller.call(request));
        times.add(System.nanoTime() - start);
      }
    }
    String line =
        arguments.json()
            ? "{\"bench\":\"serve"
                + " first\",\"protocol\":\"%s\",\"requests\":%d,\"p50_us\":%.1f,\"p99_us\":%.1f}"
            : "first by %s, %d requests: p50 %.0f us, p99 %.0f us";
    System.out.println(
        String.format(
            Locale.ROOT,
            line,
            form.word(),
            FIRST,
            times.quantile(0.5) / 1e3,
            times.quantile(0.99) / 1e3));
  }

  private static void require(Connection caller, int status) throws IOException {
    if (status != 200) {
      String body = new String(caller.bytes(), StandardCharsets.UTF_8);
      throw new IOException("got status " + status + ", expected 200: " + body);
    }
  }

  /** The requests of batches, once their answers are those of the predictor. */
  private static byte[][] requests(Form form, Path checkpoint, List<Batch> batches, int port)
      throws IOException {
    byte[][] requests = new byte[batches.size()][];
    try (Predictor predictor = Predictor.open(checkpoint);
        Connection caller = form.connect(port)) {
      for (int at = 0; at < requests.length; at++) {
        Batch batch = batches.get(at);
        requests[at] = form.request(batch);
        require(caller, caller.call(requests[at]));
        float[] expected = predictor.score(batch);
        float[] got = form.scores(caller.bytes(), expected.length);
        for (int row = 0; row < expected.length; row++) {
          if (Float.floatToIntBits(got[row]) != Float.floatToIntBits(expected[row])) {
            throw new IOException(
                "%s, row %s: got %s, expected the predictor's %s"
                    .formatted(form.word(), row, got[row], expected[row]));
          }
        }
      }
    }
    return requests;
  }

  /** What a time of requests gave. */
  private record Run(Crowd.Tally tally, double cpuSeconds) {
    long failed() {
      return tally.refused().count() + tally.wrong() + tally.lost();
    }
  }

  /** What a server is driven with. */
  private record Load(Process server, int port, Form form, byte[][] requests, int connections) {}

  private Run drive(Load load, double seconds) throws IOException {
    Crowd.Opener opener = () -> load.form.connect(load.port);
    int rate = arguments.integer("--rate");
    Crowd crowd = new Crowd(opener, load.requests, load.connections, rate);
    Duration before = cpu(load.server);
    Crowd.Tally tally = crowd.drive(seconds, Crowd.Check.NONE);
    if (tally.gone() > 0) {
      throw new IOException("got no connection any more, expected a server that answers");
    }
    return new Run(tally, cpu(load.server).minus(before).toNanos() / 1e9);
  }

  private static Duration cpu(Process server) {
    return server.info().totalCpuDuration().orElse(Duration.ZERO);
  }

  private void print(Form form, int rows, int connections, Run run) {
    Latencies times = run.tally.answered();
    double cpu = run.cpuSeconds() * 1e6 / Math.max(1, times.count() + run.failed());
    String line =
        arguments.json()
            ? "{\"bench\":\"serve\",\"protocol\":\"%s\",\"rows\":%d,\"connections\":%d,\"rate\":%s,"
                + "\"requests_per_second\":%.0f,\"cpu_us\":%.2f,\"p50_us\":%.1f,\"p99_us\":%.1f,"
                + "\"p999_us\":%.1f,\"failed\":%d}"
            : "serve %s rows=%d connections=%d rate=%s: %.0f requests/s, server CPU %.1f us each,"
                + " p50 %.0f us, p99 %.0f us, p99.9 %.0f us, %d failed";
    System.out.println(
        String.format(
            Locale.ROOT,
            line,
            form.word(),
            rows,
            connections,
            arguments.text("--rate"),
            run.tally.rate(),
            cpu,
            times.quantile(0.5) / 1e3,
            times.quantile(0.99) / 1e3,
            times.quantile(0.999) / 1e3,
            run.failed()));
  }

  private static void remove(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
