package dev.tern.bench.exchange;

import dev.tern.bench.Arguments;
import dev.tern.bench.BenchModels;
import dev.tern.bench.Result;
import dev.tern.bench.TrainBench;
import dev.tern.bench.rows.CriteoLike;
import dev.tern.bench.rows.TaobaoLike;
import dev.tern.bench.rows.TrainData;
import dev.tern.data.Batch;
import dev.tern.data.readers.Readers;
import dev.tern.exchange.Mesh;
import dev.tern.exchange.MeshOptions;
import dev.tern.exchange.Reduction;
import dev.tern.model.ModelConfig;
import dev.tern.tensor.Device;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import dev.tern.train.TrainingBatches;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** One rank of {@link RankBench}; rank 0 also trains alone by turns, and prints. */
final class TrainingRank {
  private static final byte[] SECRET =
      "known to the ranks of a benchmark".getBytes(StandardCharsets.US_ASCII);
  private static final long MEMORY = 6L << 30;
  private static final int DISTINCT_BATCHES = 16;
  private static final int MANY_PASSES = 1 << 20;
  private static final int CHECKED_STEPS = 3;

  /** Steps of a turn that do not count: caches fill. */
  private static final int WAKING = 3;

  private final Mesh mesh;
  private final String model;
  private final Arguments arguments;
  private final MemorySegment flag = Arena.global().allocate(Long.BYTES, Long.BYTES);

  private TrainingRank(Mesh mesh, String model, Arguments arguments) {
    this.mesh = mesh;
    this.model = model;
    this.arguments = arguments;
  }

  /** Rank, ranks, folder, model, then the options of {@link RankBench}. */
  public static void main(String[] args) throws IOException, InterruptedException {
    int rank = Integer.parseInt(args[0]);
    int ranks = Integer.parseInt(args[1]);
    List<String> options = Arrays.asList(args).subList(4, args.length);
    Arguments arguments = RankBench.arguments(options);
    boolean isUnix = arguments.choice("--kind", "tcp", "unix").equals("unix");
    try (Mesh mesh =
        RankPort.connect(MeshOptions.of(rank, ranks, SECRET), isUnix, Path.of(args[2]))) {
      TrainingRank bench = new TrainingRank(mesh, args[3], arguments);
      bench.check();
      bench.time();
      mesh.barrier().await();
    }
  }

  private TrainData data(long rows) {
    ModelConfig.Type type = BenchModels.of(model).type();
    int seed = arguments.integer("--seed");
    return type.readsSequences()
        ? new TaobaoLike(rows, 50, true, seed)
        : new CriteoLike(
            Path.of(arguments.text("--peers"), "criteo_cardinalities.json"), rows, seed, 1);
  }

  /** Options for what {@code ranks} ranks train on in a step. */
  private TrainOptions options(int ranks) {
    return TrainOptions.of(TrainBench.optimizer(arguments.text("--optimizer")))
        .batch(arguments.positive("--batch") * ranks)
        .lanes(arguments.positive("--lanes") * ranks)
        .shuffleRows(0);
  }

  /** A trainer with its endless rows. */
  private record Side(Trainer trainer, TrainingBatches batches, Iterator<Batch> rows)
      implements AutoCloseable {
    @Override
    public void close() {
      batches.close();
      trainer.close();
    }
  }

  private Side side(Device device, TrainData data, int ranks, Optional<Mesh> of) {
    TrainOptions options = options(ranks);
    ModelConfig config = BenchModels.of(model);
    Trainer trainer =
        of.map(all -> Trainer.create(device, data.encoder(), config, options, all))
            .orElseGet(() -> Trainer.create(device, data.encoder(), config, options));
    TrainBench.fill(trainer, data.sizes());
    List<Batch> batches = data.batches(DISTINCT_BATCHES, options.batch());
    TrainingBatches endless =
        trainer.batches(Readers.repeat(Readers.inMemory(data.schema(), batches), MANY_PASSES));
    return new Side(trainer, endless, endless.iterator());
  }

  /** All ranks must have the losses of one rank that trains on all rows. */
  private void check() {
    TrainData data = data(20_000);
    try (Device device = Device.cpu(1, MEMORY);
        Side all = side(device, data, mesh.ranks(), Optional.of(mesh));
        Side alone = side(device, data, mesh.ranks(), Optional.empty())) {
      for (int step = 1; step <= CHECKED_STEPS; step++) {
        float got = all.trainer().step(all.rows().next()).loss();
        float expected = alone.trainer().step(alone.rows().next()).loss();
        if (got != expected) {
          throw new IllegalStateException(
              "ranks: got the loss %s of %d ranks in step %d, expected %s as of one"
                  .formatted(got, mesh.ranks(), step, expected));
        }
      }
    }
  }

  private void time() {
    TrainData data = data(Long.parseLong(arguments.text("--rows-total")));
    try (Device device = Device.cpu(1, MEMORY);
        Side all = side(device, data, mesh.ranks(), Optional.of(mesh))) {
      if (mesh.rank() == 0) {
        try (Side alone = side(device, data, 1, Optional.empty())) {
          lead(all, alone);
        }
      } else {
        while (goesOn(true)) {
          turn(all);
        }
      }
    }
  }

  /** Rank 0 says whether there is another turn of all ranks. */
  private boolean goesOn(boolean says) {
    flag.set(ValueLayout.JAVA_LONG, 0, says ? 1 : 0);
    mesh.allReduce(flag, Reduction.LONG_MIN).await();
    return flag.get(ValueLayout.JAVA_LONG, 0) != 0;
  }

  private void lead(Side all, Side alone) {
    long warmUntil =
        System.nanoTime() + TimeUnit.SECONDS.toNanos(arguments.positive("--warmup-seconds"));
    while (System.nanoTime() < warmUntil) {
      goesOn(true);
      turn(all);
      turn(alone);
    }
    List<Double> together = new ArrayList<>();
    List<Double> single = new ArrayList<>();
    for (int repeat = 0; repeat < arguments.positive("--repeats"); repeat++) {
      goesOn(true);
      together.add(turn(all));
      single.add(turn(alone));
    }
    goesOn(false);
    String name =
        "%s ranks=%d, %s rows each".formatted(model, mesh.ranks(), arguments.text("--batch"));
    Result result = new Result("ranks", name, 1, together, "samples/s", "one rank", single);
    System.out.println(arguments.json() ? result.toJson() : result.toText());
  }

  /** Rows a second of some steps. */
  private double turn(Side side) {
    int steps = arguments.positive("--steps");
    long start = 0;
    long rows = 0;
    for (int i = 0; i < WAKING + steps; i++) {
      if (i == WAKING) {
        start = System.nanoTime();
      }
      int trained = side.trainer().step(side.rows().next()).rows();
      rows += i >= WAKING ? trained : 0;
    }
    return 1e9 * rows / (System.nanoTime() - start);
  }
}
