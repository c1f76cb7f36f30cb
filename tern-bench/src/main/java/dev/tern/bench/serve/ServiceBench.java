package dev.tern.bench.serve;

import dev.tern.bench.Arguments;
import dev.tern.bench.Machine;
import dev.tern.bench.rows.CriteoLike;
import dev.tern.data.Batch;
import dev.tern.model.ModelConfig;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * {@code bench service}: {@code tern serve} in a process of its own under what a service meets:
 * updates, more requests than it can answer, callers that send byte by byte, hours of requests, a
 * stop. Each figure stands beside its bar; the exit code is 1 where one is missed. Callers run on
 * the same processors as the server.
 */
public final class ServiceBench {
  private static final int BODIES = 64;
  private static final int FIRST = 1_000;
  private static final double MIB = 1 << 20;
  private static final String FULL_GC = "gc=\"PS MarkSweep\"";

  private final Arguments arguments;
  private final Bars bars;
  private final int rate;
  private final int seconds;
  private final List<Batch> rows;
  private final byte[][] requests = new byte[BODIES][];

  private ServiceBench(Arguments arguments, CriteoLike data) {
    this.arguments = arguments;
    bars = new Bars(arguments.json());
    rate = arguments.positive("--rate");
    seconds = arguments.positive("--seconds");
    rows = data.batches(BODIES, 1);
    for (int at = 0; at < BODIES; at++) {
      requests[at] = Caller.post("/v2/models/m/infer", RowBodies.tensors(rows.get(at)));
    }
  }

  /** Runs the suite. */
  public static void run(List<String> args) {
    Map<String, String> defaults = new TreeMap<>();
    defaults.put("--trials", "ready,updates,overload,slow,stop");
    defaults.put("--rate", "5000");
    defaults.put("--seconds", "30");
    defaults.put("--minutes", "30");
    defaults.put("--connections", "8");
    defaults.put("--crowd", "400");
    defaults.put("--slow", "1000");
    defaults.put("--batch", "1000");
    defaults.put("--deltas", "100");
    defaults.put("--reloads", "5");
    defaults.put("--rows-total", "1000000");
    defaults.put("--seed", "1");
    defaults.put("--peers", Machine.peers());
    Arguments arguments = Arguments.parse("service", args, defaults);
    if (!arguments.json()) {
      System.out.println(Machine.line());
    }
    try {
      if (measure(arguments) > 0) {
        System.exit(1);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("bench service: " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Runs the trials and gives the number of bars that were missed. */
  static int measure(Arguments arguments) throws IOException, InterruptedException {
    Path listing = Path.of(arguments.text("--peers"), "criteo_cardinalities.json");
    long total = arguments.positive("--rows-total");
    CriteoLike data = new CriteoLike(listing, total, arguments.integer("--seed"));
    ServiceBench bench = new ServiceBench(arguments, data);
    Path folder = Files.createTempDirectory("tern-bench-service");
    try {
      bench.run(folder, data);
    } finally {
      remove(folder);
    }
    return bench.bars.missed();
  }

  private void run(Path folder, CriteoLike data) throws IOException, InterruptedException {
    List<String> trials = arguments.list("--trials");
    boolean updates = trials.contains("updates");
    int reloads = arguments.positive("--reloads");
    int deltas = arguments.positive("--deltas");
    ModelConfig model = ModelConfig.of(ModelConfig.Type.DEEPFM, 16, 128, 64);
    int most = Math.max(1, deltas / reloads);
    StagedSteps steps =
        StagedSteps.train(
            folder,
            data,
            model,
            arguments.positive("--batch"),
            most,
            updates ? deltas + 2 * reloads : 1);
    UpdateTrial trial = new UpdateTrial(steps, rows);
    steps.publish(0);
    try (ServerProcess server = ServerProcess.start(steps.followed(), "--connections", "2000")) {
      for (String name : trials) {
        switch (name) {
          case "ready" -> ready(server);
          case "updates" -> updates(server, steps, trial);
          case "overload" -> overload(server);
          case "slow" -> slow(server);
          case "soak" -> soak(server);
          case "stop" -> stop(server);
          default ->
              throw new IllegalArgumentException(
                  "--trials: got "
                      + name
                      + ", expected some of ready, updates, overload, slow, soak, stop");
        }
      }
    }
  }

  private Crowd paced(ServerProcess server) {
    return new Crowd(server.port(), requests, arguments.positive("--connections"), rate);
  }

  private static double p99(Latencies times) {
    return times.quantile(0.99) / 1e3;
  }

  private void faultless(String name, Crowd.Tally tally) {
    long failed = tally.wrong() + tally.lost() + tally.gone() + tally.refused().count();
    bars.most(name + ": requests without a right answer", failed, 0, "");
    bars.least(name + ": requests a second", tally.rate(), 0.95 * rate, "1/s");
  }

  /** The first requests after the server said that it is ready. */
  private void ready(ServerProcess server) throws IOException {
    bars.most("ready after", server.readySeconds(), 20, "s");
    CallerWarmUp.run(requests);
    Latencies first = new Latencies();
    try (Caller caller = new Caller(server.port())) {
      for (int at = 0; at < FIRST; at++) {
        long start = System.nanoTime();
        caller.call(requests[at % BODIES]);
        first.add(System.nanoTime() - start);
      }
      Latencies steady = new Latencies();
      long end = System.nanoTime() + 10_000_000_000L;
      for (int at = 0; System.nanoTime() < end; at++) {
        long start = System.nanoTime();
        caller.call(requests[at % BODIES]);
        steady.add(System.nanoTime() - start);
      }
      bars.note("ready: p99 of the first 1,000 requests", p99(first), "us");
      bars.most("ready: the same by p99 later", p99(first) / p99(steady), 3, "");
    }
  }

  private void updates(ServerProcess server, StagedSteps steps, UpdateTrial trial)
      throws IOException {
    Crowd crowd = paced(server);
    crowd.drive(5, trial::isRight); // The threads of the crowd become fast too.
    Crowd.Tally before = crowd.drive(seconds, trial::isRight);
    faultless("before updates", before);
    double memory = server.residentBytes();
    UpdateTrial.Outcome outcome = trial.run(crowd, 2.0 * seconds);
    long full = IntStream.range(1, steps.size()).filter(steps::isFull).count();
    bars.note("updates: deltas", steps.size() - 1 - full, "");
    bars.note("updates: full checkpoints", full, "");
    faultless("updates", outcome.tally());
    bars.least("updates: the last step was served", outcome.last() ? 1 : 0, 1, "");
    bars.most("updates: seconds until a step is seen, longest", outcome.longest(), 1.5, "s");
    bars.note("updates: p99", p99(outcome.tally().answered()), "us");
    bars.most(
        "updates: p99 by that before",
        p99(outcome.tally().answered()) / p99(before.answered()),
        2,
        "");
    bars.note("updates: memory more", (server.residentBytes() - memory) / MIB, "MiB");
  }

  /** Far more requests than can be answered. */
  private void overload(ServerProcess server) throws IOException {
    int few = arguments.positive("--connections");
    Crowd alone = new Crowd(server.port(), requests, few, 0);
    alone.drive(5, Crowd.Check.NONE);
    Crowd.Tally peak = alone.drive(10, Crowd.Check.NONE);
    Crowd.Tally steady = paced(server).drive(5, Crowd.Check.NONE);
    double memory = server.residentBytes();
    Crowd crowd = new Crowd(server.port(), requests, arguments.positive("--crowd"), 0);
    Crowd.Tally pressed = crowd.drive(seconds, Crowd.Check.NONE);
    bars.note("overload: answers a second of " + few + " connections", peak.rate(), "1/s");
    bars.note("overload: answers a second of " + crowd.connections(), pressed.rate(), "1/s");
    bars.note("overload: refused a second", pressed.refused().count() / pressed.seconds(), "1/s");
    bars.least("overload: answers by those of few", pressed.rate() / peak.rate(), 0.8, "");
    bars.most("overload: other than 200, 429, 503", pressed.wrong() + pressed.lost(), 0, "");
    bars.most("overload: memory more", (server.residentBytes() - memory) / MIB, 64, "MiB");
    paced(server).drive(1, Crowd.Check.NONE);
    Crowd.Tally after = paced(server).drive(5, Crowd.Check.NONE);
    faultless("a second after overload", after);
    bars.most(
        "a second after overload: p99 by that before",
        p99(after.answered()) / p99(steady.answered()),
        2,
        "");
  }

  /** Connections that send a byte a second, beside those of others. */
  private void slow(ServerProcess server) throws IOException, InterruptedException {
    Crowd.Tally before = paced(server).drive(10, Crowd.Check.NONE);
    try (SlowCallers callers = new SlowCallers(server.port(), arguments.positive("--slow"))) {
      CompletableFuture<Crowd.Tally> others =
          CompletableFuture.supplyAsync(() -> {
            try {
              return paced(server).drive(10, Crowd.Check.NONE);
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          });
      double closed = callers.run(60);
      bars.most("slow callers: all closed after", closed, 12, "s");
      Crowd.Tally beside = others.join();
      faultless("beside slow callers", beside);
      bars.most(
          "beside slow callers: p99 by that before",
          p99(beside.answered()) / p99(before.answered()),
          2,
          "");
    }
  }

  private void soak(ServerProcess server) throws IOException {
    double time = 60.0 * arguments.positive("--minutes");
    Crowd crowd = paced(server);
    faultless("soak, first tenth", crowd.drive(time / 10, Crowd.Check.NONE));
    double memory = server.residentBytes();
    double full = server.metric("jvm_gc_collections_total", FULL_GC);
    faultless("soak", crowd.drive(time * 9 / 10, Crowd.Check.NONE));
    bars.most("soak: memory by that after a tenth", server.residentBytes() / memory, 1.01, "");
    double more = server.metric("jvm_gc_collections_total", FULL_GC) - full;
    bars.most("soak: full collections", more, 0, "");
  }

  /** A stop while requests come; the server takes none after it. */
  private void stop(ServerProcess server) throws IOException {
    Crowd crowd = paced(server);
    CompletableFuture<Double> stopped =
        CompletableFuture.supplyAsync(() -> {
          try {
            Thread.sleep(3000);
            return server.stop();
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Double.NaN;
          }
        });
    Crowd.Tally tally = crowd.drive(60, Crowd.Check.NONE);
    bars.note("stop: requests answered", tally.answered().count(), "");
    bars.most("stop: requests lost", tally.lost() + tally.wrong(), 0, "");
    bars.most("stop: ended after", stopped.join(), 10, "s");
  }

  private static void remove(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
