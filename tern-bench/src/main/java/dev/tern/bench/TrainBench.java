package dev.tern.bench;

import com.sun.management.ThreadMXBean;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.FeatureEncoder;
import dev.tern.data.IdEncoding;
import dev.tern.data.NumberEncoding;
import dev.tern.data.Readers;
import dev.tern.data.TextDictionary;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.Lookup;
import dev.tern.model.ModelConfig;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import dev.tern.tensor.StepTime;
import dev.tern.train.Progress;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * {@code bench train}: samples a second of whole training steps (look up, forward, backward, both
 * optimizers), on the same rows, sizes and optimizer as {@code peers/train.py}, which is run before
 * and after, with half of the repeats each, when {@code --peer-python} names a Python with PyTorch:
 * the machine's pace may drift, and both must see the same of it. Of its modes, eager and compiled,
 * the faster one counts. A table says where the time of a step goes.
 *
 * <p>Steps run inside {@link Trainer#fit} with its reader thread; the clock is the trainer's own,
 * which counts steps and leaves out reports and waits for the reader, whose work shares the
 * processors with the steps. The first steps warm up and do not count: {@code --warmup} of them,
 * and {@code --warmup-seconds}, in which the JIT compiles what a step runs; of the peer, which
 * needs no such time, 20. A run whose loss did not fall is an error.
 */
final class TrainBench {
  private static final int DISTINCT_BATCHES = 32;

  /** More than are read: the run is stopped. */
  private static final int MANY_PASSES = 1 << 20;

  /** Of the peer, which compiles before its first step if at all. */
  private static final String PEER_WARMUP = "20";

  /** Of arrays that no cache holds. */
  private static final int TRIAD_ELEMENTS = 1 << 24;

  private final Arguments arguments;
  private final String model;
  private final int threads;

  private TrainBench(Arguments arguments, String model, int threads) {
    this.arguments = arguments;
    this.model = model;
    this.threads = threads;
  }

  static void run(List<String> args) {
    Map<String, String> defaults = dataDefaults();
    defaults.put("--models", "deepfm,dlrm,dcnv2,wdl");
    defaults.put("--rows-total", "10000000");
    defaults.put("--steps", "20");
    defaults.put("--warmup", "100");
    defaults.put("--warmup-seconds", "10");
    defaults.put("--repeats", "7");
    defaults.put("--peer-python", "");
    defaults.put("--peer-modes", "eager,compile");
    Arguments arguments = Arguments.parse("train", args, defaults);
    if (!arguments.json()) {
      System.out.println(Main.machine());
    }
    for (String model : arguments.list("--models")) {
      for (String threads : arguments.list("--threads")) {
        new TrainBench(arguments, model, Integer.parseInt(threads)).measure();
      }
    }
  }

  /** Options that say what is trained on, and how. */
  static Map<String, String> dataDefaults() {
    Map<String, String> defaults = new TreeMap<>();
    defaults.put("--batch", "4096");
    defaults.put("--threads", "2");
    defaults.put("--optimizer", "adam");
    defaults.put("--seed", "1");
    defaults.put("--peers", Main.peers());
    return defaults;
  }

  static Optimizer optimizer(String name) {
    return switch (name) {
      case "adam" -> Optimizer.lazyAdam(1e-3f);
      case "adagrad" -> Optimizer.adagrad(1e-2f);
      case "sgd" -> Optimizer.sgd(5e-2f);
      default ->
          throw new IllegalArgumentException(
              "--optimizer: got " + name + ", expected adam, adagrad or sgd");
    };
  }

  static ModelConfig model(String name) {
    return switch (name) {
      case "lr" -> ModelConfig.of(ModelConfig.Type.LR, 16);
      case "fm" -> ModelConfig.of(ModelConfig.Type.FM, 16);
      case "wdl" -> ModelConfig.of(ModelConfig.Type.WDL, 16, 400, 400, 400);
      case "deepfm" -> ModelConfig.of(ModelConfig.Type.DEEPFM, 16, 400, 400, 400);
      case "dcnv2" -> ModelConfig.of(ModelConfig.Type.DCNV2, 16, 400, 400, 400);
      case "dlrm" -> ModelConfig.of(ModelConfig.Type.DLRM, 16, 512, 256);
      default ->
          throw new IllegalArgumentException(
              "--models: got " + name + ", expected lr, fm, wdl, deepfm, dcnv2 or dlrm");
    };
  }

  private void measure() {
    Map<String, List<Double>> peers = new LinkedHashMap<>();
    peers(peers);
    double gigaflops = Limits.gigaflops(threads);
    Path listing = Path.of(arguments.text("--peers"), "criteo_cardinalities.json");
    long rows = Long.parseLong(arguments.text("--rows-total"));
    CriteoLike data = new CriteoLike(listing, rows, arguments.integer("--seed"));
    Training training = train(data);
    requireFall(training.losses);
    gigaflops = (gigaflops + Limits.gigaflops(threads)) / 2;
    peers(peers);
    print(training.runs, peers);
    // The mean, as that of the parts; the median would not add up.
    double batch = arguments.integer("--batch");
    double millis =
        training.runs.stream().mapToDouble(run -> 1000 * batch / run).average().orElseThrow();
    new StepTable(
            model, threads, gigaflops, Limits.triad(threads, TRIAD_ELEMENTS), arguments.json())
        .lines(training.parts, millis)
        .forEach(System.out::println);
    if (!arguments.json()) {
      long steps = (long) training.runs.size() * arguments.integer("--steps");
      long bytes = training.heap / steps;
      System.out.println("  " + model + " heap allocated a step: " + bytes + " bytes");
    }
  }

  /** What is measured; all but the losses after the warm-up. */
  private static final class Training {
    /** Of all reports. */
    final List<Double> losses = new ArrayList<>();

    /** Samples a second of each repeat. */
    final List<Double> runs = new ArrayList<>();

    final List<StepTime> parts = new ArrayList<>();

    /** Bytes allocated on the heap in all repeats. */
    long heap;
  }

  private Training train(CriteoLike data) {
    int batch = arguments.integer("--batch");
    List<Batch> batches = data.batches(DISTINCT_BATCHES, batch);
    Training training = new Training();
    List<StepTime> before = new ArrayList<>();
    int steps = arguments.integer("--steps");
    int warmup = arguments.integer("--warmup");
    long warmupNanos = TimeUnit.SECONDS.toNanos(arguments.integer("--warmup-seconds"));
    int repeats = arguments.integer("--repeats");
    TrainOptions options =
        TrainOptions.of(optimizer(arguments.text("--optimizer")))
            .batch(batch)
            .epochs(1)
            .shuffleRows(0)
            .reportEvery(steps);
    try (Device device = Device.cpu(threads, 16L << 30);
        Trainer trainer = Trainer.create(device, encoder(data), model(model), options)) {
      fill(trainer, data.sizes());
      long start = System.nanoTime();
      Progress.Listener listener =
          progress -> {
            training.losses.add(progress.loss());
            if (progress.step() % steps != 0) {
              return;
            }
            if (!before.isEmpty()) {
              training.runs.add(progress.samplesPerSecond());
            } else if (progress.step() >= warmup && System.nanoTime() - start >= warmupNanos) {
              before.addAll(trainer.times());
              training.heap = heapBytes();
            }
            if (training.runs.size() == repeats) {
              training.heap = heapBytes() - training.heap;
              trainer.requestStop();
            }
          };
      // One epoch without an end, as its end would cut a run short.
      DataReader reader = Readers.repeat(Readers.inMemory(data.schema(), batches), MANY_PASSES);
      trainer.fit(reader, Optional.empty(), listener);
      for (int i = 0; i < before.size(); i++) {
        training.parts.add(trainer.times().get(i).since(before.get(i)));
      }
    }
    return training;
  }

  /** Allocated so far by the threads that compute, this one and the workers. */
  private static long heapBytes() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long sum = threads.getCurrentThreadAllocatedBytes();
    for (ThreadInfo thread : threads.getThreadInfo(threads.getAllThreadIds())) {
      if (thread != null && thread.getThreadName().startsWith("tern-worker")) {
        sum += threads.getThreadAllocatedBytes(thread.getThreadId());
      }
    }
    return sum;
  }

  private void requireFall(List<Double> losses) {
    if (!(losses.getLast() < losses.getFirst())) {
      throw new IllegalStateException(
          "bench train: the loss of "
              + model
              + " went from "
              + losses.getFirst()
              + " to "
              + losses.getLast()
              + ", expected it to fall");
    }
  }

  /** Each of the peer's modes, and in the ratio the faster one. */
  private void print(List<Double> runs, Map<String, List<Double>> peers) {
    String name = model + " batch=" + arguments.text("--batch");
    name += " optimizer=" + arguments.text("--optimizer");
    Result best = new Result("train", name, threads, runs, "samples/s", "pytorch", List.of());
    for (Map.Entry<String, List<Double>> peer : peers.entrySet()) {
      Result beside =
          new Result(
              "train",
              name,
              threads,
              runs,
              "samples/s",
              "pytorch " + peer.getKey(),
              peer.getValue());
      best = best.peerRuns().isEmpty() || beside.ratio() < best.ratio() ? beside : best;
    }
    System.out.println(arguments.json() ? best.toJson() : best.toText());
  }

  private void peers(Map<String, List<Double>> runs) {
    for (String mode : arguments.list("--peer-modes")) {
      List<Double> measured = peer(mode);
      if (!measured.isEmpty()) {
        runs.computeIfAbsent(mode, m -> new ArrayList<>()).addAll(measured);
      }
    }
  }

  /** Takes the rows as they are. */
  static FeatureEncoder encoder(CriteoLike data) {
    return FeatureEncoder.fit(
        Readers.inMemory(data.schema(), List.of()),
        Collections.nCopies(CriteoLike.DENSE, NumberEncoding.none()),
        Collections.nCopies(data.sizes().length, IdEncoding.verbatim()),
        TextDictionary.none(),
        read -> {});
  }

  /** Gives every id its row, as the peer's tables have. */
  private static void fill(Trainer trainer, long[] sizes) {
    long[] block = new long[1 << 16];
    Lookup lookup = new Lookup();
    for (int s = 0; s < sizes.length; s++) {
      EmbeddingTable table = trainer.network().tables().tables().get(s);
      for (long from = 0; from < sizes[s]; from += block.length) {
        int count = (int) Math.min(block.length, sizes[s] - from);
        for (int i = 0; i < count; i++) {
          block[i] = from + i;
        }
        table.find(block, count, lookup, true);
      }
    }
  }

  /** Samples a second of the peer's repeats; none without a peer. */
  private List<Double> peer(String mode) {
    String python = arguments.text("--peer-python");
    if (python.isEmpty()) {
      return List.of();
    }
    List<String> command = new ArrayList<>();
    Collections.addAll(
        command,
        python,
        Path.of(arguments.text("--peers"), "train.py").toString(),
        "--json",
        "--models",
        model,
        "--threads",
        Integer.toString(threads),
        "--batch",
        arguments.text("--batch"),
        "--steps",
        arguments.text("--steps"),
        "--warmup",
        PEER_WARMUP,
        "--repeats",
        Integer.toString((arguments.integer("--repeats") + 1) / 2),
        "--optimizer",
        arguments.text("--optimizer"),
        "--rows-total",
        arguments.text("--rows-total"),
        "--seed",
        arguments.text("--seed"));
    if (mode.equals("compile")) {
      command.add("--compile");
    }
    try {
      Process process =
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      Matcher runs = Pattern.compile("\"runs\":\\[([0-9., ]+)]").matcher(output);
      if (process.waitFor() != 0 || !runs.find()) {
        throw new IllegalArgumentException("peer: got no result from " + command + ": " + output);
      }
      return Arrays.stream(runs.group(1).split(",")).map(Double::valueOf).toList();
    } catch (IOException e) {
      throw new UncheckedIOException("peer: cannot run " + python, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("peer: interrupted", e);
    }
  }
}
