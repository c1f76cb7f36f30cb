package dev.tern.bench.exchange;

import dev.tern.checkpoint.Checkpoint;
import dev.tern.data.Batch;
import dev.tern.data.readers.Readers;
import dev.tern.exchange.Mesh;
import dev.tern.exchange.MeshException;
import dev.tern.exchange.MeshOptions;
import dev.tern.model.ModelConfig;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import dev.tern.train.PlantedRuns;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/** One rank of {@link RankCrashBench}: begins or goes on, and saves the weights at the end. */
final class CrashRank {
  /** How long ranks wait for one of which they hear nothing. */
  static final Duration SILENCE = Duration.ofSeconds(2);

  /** The exit status of a rank that another one ended. */
  static final int ENDED = 3;

  private static final long MEMORY = 1L << 28;
  private static final byte[] SECRET =
      "known to the ranks of a crash test".getBytes(StandardCharsets.US_ASCII);
  private static final ModelConfig MODEL =
      ModelConfig.of(ModelConfig.Type.DEEPFM, 4, 16, 8).withDropout(0.1f);
  private static final int ROWS = 12_000;

  private CrashRank() {}

  /** The folder of the run, if there is one, and where the weights go. */
  private static TrainOptions options(Optional<Path> run) {
    TrainOptions options =
        TrainOptions.of(Optimizer.lazyAdam(0.01f))
            .batch(64)
            .lanes(8)
            .epochs(2)
            .shuffleRows(1000)
            .reportEvery(1);
    return run.map(folder -> options.checkpoints(folder, 20)).orElse(options);
  }

  /** Trains on one rank without a stop. */
  static void alone(Path end) {
    Batch rows = PlantedRuns.planted(1, ROWS);
    try (Device device = Device.cpu(1, MEMORY);
        Trainer trainer =
            Trainer.create(device, PlantedRuns.encoder(rows), MODEL, options(Optional.empty()))) {
      trainer.fit(Readers.inMemory(rows));
      trainer.save(end);
    }
  }

  /** Rank, ranks, folder of ports, attempt, folder of the run, folder of the last weights. */
  public static void main(String[] args) throws IOException, InterruptedException {
    MeshOptions options =
        MeshOptions.of(Integer.parseInt(args[0]), Integer.parseInt(args[1]), SECRET)
            .run(1, Integer.parseInt(args[3]))
            .silence(SILENCE);
    try (Mesh mesh = RankPort.connect(options, false, Path.of(args[2]))) {
      train(mesh, Path.of(args[4]), Path.of(args[5]));
    } catch (MeshException e) {
      System.exit(ENDED);
    }
  }

  private static void train(Mesh mesh, Path run, Path end) {
    Batch rows = PlantedRuns.planted(1, ROWS);
    TrainOptions options = options(Optional.of(run));
    // No rank writes before all have begun, so all see the same.
    boolean goesOn = Checkpoint.existsAt(run);
    try (Device device = Device.cpu(1, MEMORY);
        Trainer trainer =
            goesOn
                ? Trainer.resume(device, run, MODEL, options, mesh)
                : Trainer.create(device, PlantedRuns.encoder(rows), MODEL, options, mesh)) {
      trainer.fit(
          Readers.inMemory(rows),
          Optional.empty(),
          progress -> {
            if (mesh.rank() == 0) {
              System.out.println("step " + progress.step());
            }
          });
      trainer.save(end);
    }
  }
}
