package dev.tern.bench;

import dev.tern.bench.rows.TrainData;
import dev.tern.data.Batch;
import dev.tern.data.readers.Readers;
import dev.tern.tensor.Device;
import dev.tern.train.StepResult;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import dev.tern.train.TrainingBatches;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * {@code bench train --lanes 8}: samples a second of training steps whose batches are computed in
 * lanes, beside steps with the same batches whole. Both train by turns in one process, with the
 * same rows, threads and memory. The ratio should be 0.9 at least for 8 lanes of 512 rows.
 */
final class LaneBench {
  private static final double BAR = 0.9;
  private static final int DISTINCT_BATCHES = 32;
  private static final int MANY_PASSES = 1 << 20;

  /** Steps of a turn that do not count: caches fill. */
  private static final int WAKING = 3;

  private final Arguments arguments;
  private final String model;
  private final int threads;

  LaneBench(Arguments arguments, String model, int threads) {
    this.arguments = arguments;
    this.model = model;
    this.threads = threads;
  }

  /** A trainer with its endless rows. */
  private record Side(Trainer trainer, TrainingBatches batches, Iterator<Batch> rows)
      implements AutoCloseable {
    static Side of(Trainer trainer, TrainData data, List<Batch> batches) {
      TrainBench.fill(trainer, data.sizes());
      TrainingBatches endless =
          trainer.batches(Readers.repeat(Readers.inMemory(data.schema(), batches), MANY_PASSES));
      return new Side(trainer, endless, endless.iterator());
    }

    /** Rows a second of {@code steps} steps. */
    double turn(int steps) {
      long nanos = 0;
      long samples = 0;
      for (int i = 0; i < WAKING + steps; i++) {
        StepResult step = trainer.step(rows.next());
        if (i >= WAKING) {
          nanos += step.nanos();
          samples += step.rows();
        }
      }
      return 1e9 * samples / nanos;
    }

    @Override
    public void close() {
      batches.close();
      trainer.close();
    }
  }

  void measure(TrainData data, Device device) {
    int batch = arguments.positive("--batch");
    List<Batch> batches = data.batches(DISTINCT_BATCHES, batch);
    TrainOptions options =
        TrainOptions.of(TrainBench.optimizer(arguments.text("--optimizer")))
            .batch(batch)
            .shuffleRows(0);
    int lanes = arguments.positive("--lanes");
    try (Side inLanes = side(device, data, batches, options.lanes(lanes));
        Side whole = side(device, data, batches, options)) {
      print(lanes, batch / lanes, run(inLanes, whole));
    }
  }

  private Side side(Device device, TrainData data, List<Batch> batches, TrainOptions options) {
    Trainer trainer = Trainer.create(device, data.encoder(), BenchModels.of(model), options);
    return Side.of(trainer, data, batches);
  }

  private Result run(Side inLanes, Side whole) {
    int steps = arguments.positive("--steps");
    long warmUntil =
        System.nanoTime() + TimeUnit.SECONDS.toNanos(arguments.integer("--warmup-seconds"));
    for (int done = 0;
        done < arguments.integer("--warmup") || System.nanoTime() < warmUntil;
        done += steps) {
      whole.turn(steps);
      inLanes.turn(steps);
    }
    List<Double> wholeRuns = new ArrayList<>();
    List<Double> laneRuns = new ArrayList<>();
    for (int repeat = 0; repeat < arguments.positive("--repeats"); repeat++) {
      wholeRuns.add(whole.turn(steps));
      laneRuns.add(inLanes.turn(steps));
    }
    String name =
        "%s batch=%s lanes=%s"
            .formatted(model, arguments.text("--batch"), arguments.text("--lanes"));
    return new Result("train", name, threads, laneRuns, "samples/s", "one lane", wholeRuns);
  }

  private void print(int lanes, int rows, Result result) {
    if (arguments.json()) {
      System.out.println(result.toJson(String.format(Locale.ROOT, ",\"bar\":%.2f", BAR)));
      return;
    }
    System.out.println(result.toText());
    System.out.printf(
        Locale.ROOT,
        "  %s in %d lanes of %,d rows: %.3f of the speed of whole batches, bar %.2f%n",
        model,
        lanes,
        rows,
        result.ratio(),
        BAR);
  }
}
