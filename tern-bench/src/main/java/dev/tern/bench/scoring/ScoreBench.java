package dev.tern.bench.scoring;

import com.sun.management.ThreadMXBean;
import dev.tern.bench.Arguments;
import dev.tern.bench.BenchModels;
import dev.tern.bench.Machine;
import dev.tern.bench.Ratios;
import dev.tern.bench.Result;
import dev.tern.bench.Rounds;
import dev.tern.bench.TrainBench;
import dev.tern.bench.rows.CriteoLike;
import dev.tern.data.Batch;
import dev.tern.model.ModelConfig;
import dev.tern.model.Network;
import dev.tern.optim.Optimizer;
import dev.tern.predict.Predictor;
import dev.tern.predict.ScoreOptions;
import dev.tern.tensor.Device;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * {@code bench score}: microseconds to score some rows with {@link Predictor}, from raw rows to
 * probabilities: encoding, look-up and model. Beside it ONNX Runtime computes the model alone, from
 * vectors that are looked up already. The logits of both are compared first.
 *
 * <p>Rows are drawn as for {@code bench train}; every id has a row.
 */
public final class ScoreBench {
  private static final ThreadMXBean HEAP = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  /** Most difference of two logits, as a share of the larger of 1 and the logit. */
  private static final double NEAR = 1e-4;

  private static final int WARM_UP_MILLIS = 3000;

  private final Arguments arguments;
  private final int threads;
  private final List<Double> ratios = new ArrayList<>();

  private ScoreBench(Arguments arguments, int threads) {
    this.arguments = arguments;
    this.threads = threads;
  }

  /** Runs the suite. */
  public static void run(List<String> args) {
    Map<String, String> defaults = new TreeMap<>();
    defaults.put("--models", "deepfm-128-64,deepfm-400x3,dlrm,wdl");
    defaults.put("--rows", "1,16,17,100,256,1024,4096");
    defaults.put("--rows-total", "1000000");
    defaults.put("--threads", "1,2");
    defaults.put("--rounds", "7");
    defaults.put("--round-ms", "100");
    defaults.put("--seed", "1");
    defaults.put("--peer", "ort");
    defaults.put("--peers", Machine.peers());
    Arguments arguments = Arguments.parse("score", args, defaults);
    if (!arguments.json()) {
      System.out.println(Machine.line());
    }
    for (int threads : arguments.positives("--threads")) {
      ScoreBench bench = new ScoreBench(arguments, threads);
      arguments.list("--models").forEach(bench::measure);
      Ratios.print("score", threads, bench.ratios, arguments.json());
    }
  }

  private static ModelConfig config(String model) {
    return switch (model) {
      case "deepfm-128-64" -> ModelConfig.of(ModelConfig.Type.DEEPFM, 16, 128, 64);
      case "deepfm-400x3" -> BenchModels.of("deepfm");
      case "dlrm", "wdl" -> BenchModels.of(model);
      default ->
          throw new IllegalArgumentException(
              "--models: got "
                  + model
                  + ", expected deepfm-128-64, deepfm-400x3, dlrm or wdl, separated by commas");
    };
  }

  private void measure(String model) {
    ModelConfig config = config(model);
    Path listing = Path.of(arguments.text("--peers"), "criteo_cardinalities.json");
    long rows = Long.parseLong(arguments.text("--rows-total"));
    CriteoLike data = new CriteoLike(listing, rows, arguments.integer("--seed"));
    TrainOptions options = TrainOptions.of(Optimizer.lazyAdam(1e-3f)).batch(256);
    try {
      Path folder = Files.createTempDirectory("tern-bench-score");
      Path checkpoint = folder.resolve("model");
      try (Device device = Device.cpu(threads, 8L << 30);
          Trainer trainer = Trainer.create(device, data.encoder(), config, options)) {
        TrainBench.fill(trainer, data.sizes());
        trainer.save(checkpoint);
        try (Predictor predictor =
            Predictor.open(checkpoint, ScoreOptions.DEFAULT.withThreads(threads))) {
          measure(model, data, predictor, peer(trainer.network(), config));
        }
      } finally {
        remove(folder);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("bench score: cannot write its checkpoint", e);
    }
  }

  private static void remove(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }

  private Optional<OrtPeer> peer(Network network, ModelConfig config) {
    return switch (arguments.text("--peer")) {
      case "none" -> Optional.empty();
      case "ort" -> Optional.of(new OrtPeer(network, config, threads));
      default ->
          throw new IllegalArgumentException(
              "--peer: got " + arguments.text("--peer") + ", expected ort or none");
    };
  }

  private void measure(String model, CriteoLike data, Predictor predictor, Optional<OrtPeer> peer) {
    Rounds rounds = new Rounds(arguments.positive("--rounds"), arguments.positive("--round-ms"));
    Map<Integer, Double> micros = new LinkedHashMap<>();
    for (int rows : arguments.positives("--rows")) {
      Batch batch = data.batches(1, rows).getFirst();
      float[] scores = new float[rows];
      Runnable work = () -> predictor.score(batch, scores);
      warmUp(work);
      Rounds.Times times;
      if (peer.isPresent()) {
        OrtPeer ort = peer.get();
        ort.set(batch);
        requireNear(predictor, batch, ort.run());
        warmUp(ort::run);
        int millis = arguments.positive("--round-ms");
        times = rounds.time(work, () -> ort.round(millis));
      } else {
        times = rounds.time(work);
      }
      print(model, rows, times, bytes(work, rows));
      micros.put(rows, Result.median(times.own()) / 1e3);
    }
    if (!arguments.json() && micros.containsKey(16) && micros.containsKey(17)) {
      System.out.printf(
          Locale.ROOT,
          "  %s: 17 rows take %.2f times 16 rows%n",
          model,
          micros.get(17) / micros.get(16));
    }
  }

  private static void requireNear(Predictor predictor, Batch batch, float[] expected) {
    float[] logits = new float[batch.size()];
    predictor.logits(batch, logits);
    for (int i = 0; i < logits.length; i++) {
      if (!(Math.abs(logits[i] - expected[i]) <= NEAR * Math.max(1, Math.abs(expected[i])))) {
        throw new IllegalStateException(
            "bench score: row %d: got the logit %s, expected the peer's, %s"
                .formatted(i, logits[i], expected[i]));
      }
    }
  }

  private static void warmUp(Runnable work) {
    long end = System.nanoTime() + WARM_UP_MILLIS * 1_000_000L;
    while (System.nanoTime() < end) {
      work.run();
    }
  }

  /** Bytes of heap that a row takes. */
  private static double bytes(Runnable work, int rows) {
    int calls = Math.max(10, 10_000 / rows);
    long before = HEAP.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < calls; i++) {
      work.run();
    }
    return (HEAP.getCurrentThreadAllocatedBytes() - before) / (double) calls / rows;
  }

  /** Rates, of which more is better, as the ratio of a result is one of rates. */
  private void print(String model, int rows, Rounds.Times times, double bytes) {
    String name = "%s rows=%d".formatted(model, rows);
    Result result =
        new Result(
            "score",
            name,
            threads,
            rates(times.own(), rows),
            "rows/ms",
            "ort",
            rates(times.peer(), rows));
    System.out.println(arguments.json() ? result.toJson() : result.toText());
    if (!result.peerRuns().isEmpty()) {
      ratios.add(result.ratio());
    }
    if (!arguments.json()) {
      System.out.printf(
          Locale.ROOT,
          "  %s: %.1f us a call, %.1f bytes of heap a row%n",
          name,
          Result.median(times.own()) / 1e3,
          bytes);
    }
  }

  private static List<Double> rates(List<Double> nanos, int rows) {
    return nanos.stream().map(n -> rows / n * 1e6).toList();
  }
}
