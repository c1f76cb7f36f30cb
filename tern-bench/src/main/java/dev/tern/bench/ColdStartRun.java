package dev.tern.bench;

import dev.tern.bench.rows.CriteoLike;
import dev.tern.data.Batch;
import dev.tern.data.readers.Readers;
import dev.tern.model.ModelConfig;
import dev.tern.tensor.Device;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * One process of {@link ColdStartBench}: prints when each step ended, in microseconds since the JVM
 * started, the drawing of rows left out.
 */
final class ColdStartRun {
  private static final int DISTINCT_BATCHES = 8;

  private ColdStartRun() {}

  /** Model, threads, batch, optimizer, rows of the tables, seed, folder of the peers, seconds. */
  public static void main(String[] args) {
    // When the JVM started, on the clock that times the steps.
    long began =
        System.nanoTime()
            - 1_000_000
                * (System.currentTimeMillis()
                    - ManagementFactory.getRuntimeMXBean().getStartTime());
    ModelConfig model = BenchModels.of(args[0]);
    int batch = Integer.parseInt(args[2]);
    Path listing = Path.of(args[6], "criteo_cardinalities.json");
    CriteoLike data = new CriteoLike(listing, Long.parseLong(args[4]), Long.parseLong(args[5]));
    long drawing = System.nanoTime();
    List<Batch> batches = data.batches(DISTINCT_BATCHES, batch);
    long start = began + System.nanoTime() - drawing;
    TrainOptions options =
        TrainOptions.of(TrainBench.optimizer(args[3]))
            .batch(batch)
            .epochs(Integer.MAX_VALUE)
            .shuffleRows(0)
            .reportEvery(1);
    long nanos = Long.parseLong(args[7]) * 1_000_000_000;
    long[] ends = new long[1 << 20];
    int[] steps = {0};
    try (Device device = Device.cpu(Integer.parseInt(args[1]), 8L << 30);
        Trainer trainer = Trainer.create(device, data.encoder(), model, options)) {
      trainer.fit(
          Readers.repeat(Readers.inMemory(data.schema(), batches), Integer.MAX_VALUE),
          Optional.empty(),
          progress -> {
            long now = System.nanoTime();
            ends[steps[0]++] = (now - start) / 1_000;
            if (now - start > nanos || steps[0] == ends.length) {
              trainer.requestStop();
            }
          });
    }
    StringBuilder text = new StringBuilder();
    Arrays.stream(ends, 0, steps[0]).forEach(end -> text.append(end).append('\n'));
    System.out.print(text);
  }
}
