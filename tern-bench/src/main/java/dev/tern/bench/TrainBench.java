package dev.tern.bench;

import com.sun.management.ThreadMXBean;
import dev.tern.base.ProductMath;
import dev.tern.bench.parity.ParityBench;
import dev.tern.bench.parity.SameLosses;
import dev.tern.bench.rows.CriteoLike;
import dev.tern.bench.rows.TaobaoLike;
import dev.tern.bench.rows.TrainData;
import dev.tern.bench.rows.UserItemLike;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.readers.Readers;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.Lookup;
import dev.tern.embedding.TableShard;
import dev.tern.model.ModelConfig;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import dev.tern.tensor.StepTime;
import dev.tern.train.Progress;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * {@code bench train}: samples a second of whole training steps (look up, forward, backward, both
 * optimizers), on the same rows, sizes and optimizer as {@code peers/train.py}, whose repeats come
 * in turn with these when {@code --peer-python} names a Python with PyTorch: the machine's pace may
 * drift, and both must see the same of it. Of its modes, eager and compiled, the faster one counts.
 * A table says where the time of a step goes. The models that {@code peers/zoo.py} has read their
 * sizes from Tern's weights, and must first have Tern's losses ({@link SameLosses}).
 *
 * <p>{@code --device cuda} trains on the first CUDA device, and so does the peer.
 *
 * <p>{@code --lanes 8} times steps whose batches are computed in lanes, beside the same batches
 * whole: {@link LaneBench}.
 *
 * <p>Steps run inside {@link Trainer#fit} with its reader thread; the clock is the trainer's own,
 * which counts steps and leaves out reports and waits for the reader, whose work shares the
 * processors with the steps. The first steps warm up and do not count: {@code --warmup} of them,
 * and {@code --warmup-seconds}, in which the JIT compiles what a step runs. Nor do the first
 * {@value #WAKING} after each turn of the peer. A run whose loss did not fall is an error.
 */
public final class TrainBench {
  private static final int DISTINCT_BATCHES = 32;

  /** More than are read: the run is stopped. */
  private static final int MANY_PASSES = 1 << 20;

  /** Steps before a repeat that do not count: threads wake up, caches fill. */
  private static final int WAKING = 5;

  /** Rows of tables where losses are compared before the clock starts. */
  private static final long CHECKED_ROWS = 2_000;

  /** So many times fewer rows has a model with rows of several hundred numbers, as peers do. */
  private static final int WIDE_ROWS = 25;

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
    defaults.put("--longest", "50");
    defaults.put("--lengths", "full");
    defaults.put("--device", "cpu");
    defaults.put("--math", "exact");
    defaults.put("--lanes", "1");
    Arguments arguments = Arguments.parse("train", args, defaults);
    if (!arguments.json()) {
      System.out.println(Machine.line());
    }
    for (String model : arguments.list("--models")) {
      for (String threads : arguments.list("--threads")) {
        TrainBench bench = new TrainBench(arguments, model, Integer.parseInt(threads));
        if (arguments.positive("--lanes") == 1) {
          bench.measure();
        } else {
          bench.measureLanes();
        }
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
    defaults.put("--peers", Machine.peers());
    return defaults;
  }

  public static Optimizer optimizer(String name) {
    return switch (name) {
      case "adam" -> Optimizer.lazyAdam(1e-3f);
      case "adagrad" -> Optimizer.adagrad(1e-2f);
      case "sgd" -> Optimizer.sgd(5e-2f);
      default ->
          throw new IllegalArgumentException(
              "--optimizer: got " + name + ", expected adam, adagrad or sgd");
    };
  }

  private void measure() {
    if (arguments.positive("--steps") % WAKING != 0) {
      throw new IllegalArgumentException(
          "--steps: got " + arguments.text("--steps") + ", expected a multiple of " + WAKING);
    }
    TrainData data = data();
    List<TrainPeer> peers = new ArrayList<>();
    Repeats training;
    Optional<Path> weights = Optional.empty();
    try {
      if (!arguments.text("--peer-python").isEmpty()) {
        weights = weights();
        for (String mode : arguments.list("--peer-modes")) {
          peers.add(TrainPeer.start(arguments, model, threads, mode, weights));
        }
      }
      training = train(data, peers);
    } finally {
      peers.forEach(TrainPeer::close);
      weights.ifPresent(ParityBench::delete);
    }
    requireFall(training.losses);
    print(training.runs, peers);
    double gigaflops = Result.median(training.gigaflops);
    // The mean, because the means of the parts add up to it; medians would not.
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

  private void measureLanes() {
    try (Device device = device()) {
      new LaneBench(arguments, model, threads).measure(data(), device);
    }
  }

  /** Weights for the peer, after a check that it has the losses that Tern has from them. */
  private Optional<Path> weights() {
    if (!BenchModels.isReadByPeer(model)) {
      return Optional.empty();
    }
    Path folder = ParityBench.temporary();
    try {
      new SameLosses(BenchModels.of(model), data(CHECKED_ROWS), folder)
          .require(arguments.text("--peer-python"), Path.of(arguments.text("--peers")));
      return Optional.of(folder);
    } catch (RuntimeException | Error e) {
      ParityBench.delete(folder);
      throw e;
    }
  }

  private TrainData data() {
    long rows = Long.parseLong(arguments.text("--rows-total"));
    // A row of a field-aware machine has a vector for each slot.
    boolean wide = BenchModels.of(model).type() == ModelConfig.Type.FFM;
    return data(wide ? rows / WIDE_ROWS : rows);
  }

  private TrainData data(long rows) {
    Path listing = Path.of(arguments.text("--peers"), "criteo_cardinalities.json");
    int seed = arguments.integer("--seed");
    ModelConfig.Type type = BenchModels.of(model).type();
    if (type.readsSequences()) {
      boolean full = arguments.choice("--lengths", "full", "any").equals("full");
      return new TaobaoLike(rows, arguments.positive("--longest"), full, seed);
    }
    return type.isOfPairs()
        ? new UserItemLike(rows, seed)
        : new CriteoLike(listing, rows, seed, type.hasTowers() ? 2 : 1);
  }

  /** What is measured, from the end of the warm-up on: turn by turn the peers, then a repeat. */
  private final class Repeats implements Progress.Listener {
    /** Losses of all reports, including the warm-up. */
    final List<Double> losses = new ArrayList<>();

    /** Samples a second of each repeat. */
    final List<Double> runs = new ArrayList<>();

    /** Of fused multiply-adds, in billions a second, beside each repeat. */
    final List<Double> gigaflops = new ArrayList<>();

    /** Of all repeats. */
    List<StepTime> parts = List.of();

    /** Bytes allocated on the heap in all repeats. */
    long heap;

    private final Trainer trainer;
    private final List<TrainPeer> peers;
    private final long warmUntil;
    private List<StepTime> partsBefore = List.of();
    private long heapBefore;
    private double seconds;

    /**
     * Reports of {@value #WAKING} steps each since the last turn of the peers; less than 0 before.
     */
    private int reports = -1;

    Repeats(Trainer trainer, List<TrainPeer> peers) {
      this.trainer = trainer;
      this.peers = peers;
      warmUntil =
          System.nanoTime() + TimeUnit.SECONDS.toNanos(arguments.integer("--warmup-seconds"));
    }

    @Override
    public void report(Progress progress) {
      losses.add(progress.rows().loss());
      if (reports < 0) {
        if (progress.step() >= arguments.integer("--warmup") && System.nanoTime() >= warmUntil) {
          // All of them first: a repeat of one must not run beside the warm-up of another.
          peers.forEach(TrainPeer::warmUp);
          peersTurn();
        }
        return;
      }
      int batch = arguments.integer("--batch");
      if (reports == 0) {
        partsBefore = trainer.times();
        heapBefore = heapBytes();
        seconds = 0;
      } else {
        seconds += WAKING * batch / progress.pace().samplesPerSecond();
      }
      int steps = arguments.integer("--steps");
      if (reports++ == steps / WAKING) {
        heap += heapBytes() - heapBefore;
        parts = StepTable.sum(parts, partsBefore, trainer.times());
        runs.add(steps * batch / seconds);
        peersTurn();
      }
    }

    /** Lets the peers run, unless all is measured. */
    private void peersTurn() {
      reports = 0;
      if (runs.size() == arguments.integer("--repeats")) {
        trainer.requestStop();
        return;
      }
      peers.forEach(TrainPeer::repeat);
      gigaflops.add(Limits.gigaflops(threads));
    }
  }

  private Repeats train(TrainData data, List<TrainPeer> peers) {
    int batch = arguments.integer("--batch");
    List<Batch> batches = data.batches(DISTINCT_BATCHES, batch);
    TrainOptions options =
        TrainOptions.of(optimizer(arguments.text("--optimizer")))
            .batch(batch)
            .epochs(1)
            .shuffleRows(0)
            .reportEvery(WAKING);
    try (Device device = device();
        Trainer trainer = Trainer.create(device, data.encoder(), BenchModels.of(model), options)) {
      fill(trainer, data.sizes());
      Repeats repeats = new Repeats(trainer, peers);
      // One epoch without an end, as its end would cut a run short.
      DataReader reader = Readers.repeat(Readers.inMemory(data.schema(), batches), MANY_PASSES);
      trainer.fit(reader, Optional.empty(), repeats);
      return repeats;
    }
  }

  private ProductMath math() {
    String math = arguments.choice("--math", "exact", "tf32", "bf16");
    return ProductMath.valueOf(math.toUpperCase(Locale.ROOT));
  }

  private Device device() {
    return arguments.choice("--device", "cpu", "cuda").equals("cuda")
        ? Device.cuda(0, threads, 16L << 30, Long.MAX_VALUE, math())
        : Device.cpu(threads, 16L << 30);
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
  private void print(List<Double> runs, List<TrainPeer> peers) {
    String name = model + " batch=" + arguments.text("--batch");
    name += " optimizer=" + arguments.text("--optimizer");
    Result best = new Result("train", name, threads, runs, "samples/s", "pytorch", List.of());
    for (TrainPeer peer : peers) {
      Result beside =
          new Result(
              "train", name, threads, runs, "samples/s", "pytorch " + peer.mode(), peer.runs());
      best = best.peerRuns().isEmpty() || beside.ratio() < best.ratio() ? beside : best;
    }
    System.out.println(arguments.json() ? best.toJson() : best.toText());
  }

  /** Gives every id of a rank its row, as the peer's tables have. */
  public static void fill(Trainer trainer, long[] sizes) {
    TableShard own = trainer.network().tables().shard();
    long[] block = new long[1 << 16];
    Lookup lookup = new Lookup();
    for (int s = 0; s < sizes.length; s++) {
      EmbeddingTable table = trainer.network().tables().tables().get(s);
      for (long from = 0; from < sizes[s]; from += block.length) {
        int count = 0;
        for (long id = from; id < Math.min(sizes[s], from + block.length); id++) {
          if (own.has(id)) {
            block[count++] = id;
          }
        }
        table.find(block, count, lookup, true);
      }
    }
  }
}
