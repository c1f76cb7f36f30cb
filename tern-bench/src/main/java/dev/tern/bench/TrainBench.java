package dev.tern.bench;

import dev.tern.data.Batch;
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
import dev.tern.train.Progress;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * {@code bench train}: samples a second of whole training steps (look up, forward, backward, both
 * optimizers), on the same rows, sizes and optimizer as {@code peers/train.py}, which is run before
 * and after, with half of the repeats each, when {@code --peer-python} names a Python with PyTorch:
 * the machine's pace may drift, and both must see the same of it.
 *
 * <p>Steps run inside {@link Trainer#fit} with its reader thread; the clock is the trainer's own,
 * which counts steps and leaves out reports. The first repeats warm up and do not count. A run
 * whose loss did not fall is an error.
 */
final class TrainBench {
  private static final int DISTINCT_BATCHES = 32;

  private TrainBench() {}

  static void run(List<String> args) {
    Map<String, String> defaults = dataDefaults();
    defaults.put("--models", "deepfm,dlrm,dcnv2,wdl");
    defaults.put("--rows-total", "10000000");
    defaults.put("--steps", "20");
    defaults.put("--warmup", "100");
    defaults.put("--repeats", "7");
    defaults.put("--peer-python", "");
    Arguments arguments = Arguments.parse("train", args, defaults);
    if (!arguments.json()) {
      System.out.println(Main.machine());
    }
    for (String model : arguments.list("--models")) {
      for (String threads : arguments.list("--threads")) {
        Result result = measure(arguments, model, Integer.parseInt(threads));
        System.out.println(arguments.json() ? result.toJson() : result.toText());
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

  private static Result measure(Arguments arguments, String model, int threads) {
    List<Double> peer = new ArrayList<>(peer(arguments, model, threads));
    Path listing = Path.of(arguments.text("--peers"), "criteo_cardinalities.json");
    long rows = Long.parseLong(arguments.text("--rows-total"));
    CriteoLike data = new CriteoLike(listing, rows, arguments.integer("--seed"));
    int batch = arguments.integer("--batch");
    List<Batch> batches = data.batches(DISTINCT_BATCHES, batch);
    List<Double> losses = new ArrayList<>();
    List<Double> runs = new ArrayList<>();
    int steps = arguments.integer("--steps");
    int warmup = arguments.integer("--warmup");
    int total = warmup + steps * arguments.integer("--repeats");
    TrainOptions options =
        TrainOptions.of(optimizer(arguments.text("--optimizer")))
            .batch(batch)
            .epochs(1 + total / DISTINCT_BATCHES)
            .shuffleRows(0)
            .reportEvery(steps);
    try (Device device = Device.cpu(threads, 16L << 30);
        Trainer trainer = Trainer.create(device, encoder(data), model(model), options)) {
      fill(trainer, data.sizes());
      Progress.Listener listener =
          progress -> {
            losses.add(progress.loss());
            if (progress.step() > warmup && progress.step() % steps == 0) {
              runs.add(progress.samplesPerSecond());
            }
            if (progress.step() >= total) {
              trainer.requestStop();
            }
          };
      trainer.fit(Readers.inMemory(data.schema(), batches), Optional.empty(), listener);
    }
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
    String name = model + " batch=" + batch + " optimizer=" + arguments.text("--optimizer");
    peer.addAll(peer(arguments, model, threads));
    return new Result("train", name, threads, runs, "samples/s", "pytorch", peer);
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
  private static List<Double> peer(Arguments arguments, String model, int threads) {
    String python = arguments.text("--peer-python");
    if (python.isEmpty()) {
      return List.of();
    }
    List<String> command =
        List.of(
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
            "--repeats",
            Integer.toString((arguments.integer("--repeats") + 1) / 2),
            "--optimizer",
            arguments.text("--optimizer"),
            "--rows-total",
            arguments.text("--rows-total"),
            "--seed",
            arguments.text("--seed"));
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
