package dev.tern.stream;

import dev.tern.checkpoint.Checkpoint;
import dev.tern.checkpoint.CheckpointFiles;
import dev.tern.checkpoint.DeltaRuns;
import dev.tern.train.TrainOptions;
import java.nio.file.Path;
import java.util.List;

/** A run of a full checkpoint and changes for each step behind it. */
final class PublishedRun {
  private PublishedRun() {}

  private static TrainOptions options(Path run, long seed) {
    return DeltaRuns.options()
        .seed(seed)
        .checkpoints(run.resolve("checkpoints"), 0)
        .deltas(DeltaRuns.everySteps(1, 100));
  }

  /** Trains up to a step; gives what there is then. */
  static List<CheckpointFiles> train(Path run, long seed, long steps) {
    DeltaRuns.run(run.resolve("checkpoints"), options(run, seed), Checkpoint.existsAt(run), steps);
    return Checkpoint.openLatest(run).files();
  }
}
