package dev.tern.cli;

import dev.tern.cli.config.TrainConfig;
import dev.tern.cli.run.Format;
import dev.tern.optim.LearningRate;

/** What a run says of settings that are sound and yet train little or nothing. */
final class TrainNotes {
  private final TrainConfig train;
  private final Progress progress;

  TrainNotes(TrainConfig train, Progress progress) {
    this.train = train;
    this.progress = progress;
  }

  /** Warns where a step takes all rows, so that an epoch is one step. */
  void rows(long rows) {
    int batch = train.options().batch();
    if (rows > 0 && batch > rows) {
      progress.note(
          "warning: train.batch is %s and there are %s training rows, so each epoch is one step; a smaller batch takes more"
              .formatted(Format.whole(batch), Format.whole(rows)));
    }
  }

  /** Warns where the learning rate of the steps after {@code step} is 0. */
  void rate(long step) {
    LearningRate rate = train.options().schedule();
    if (rate.at(step + 1) == 0 && rate.at(step + 2) == 0) { // One step of 0 may begin a warmup.
      progress.note(
          "warning: the learning rate is 0 from step %s on, so no weight changes; see train.optimizer.lr and train.schedule"
              .formatted(Format.whole(step + 1)));
    }
  }

  /** Says that a resumed run took no step. */
  void nothing(long step) {
    int epochs = train.options().epochs();
    progress.note(
        "nothing was left to train at step %s with train.epochs %s%s; --set train.epochs=%d trains on"
            .formatted(
                Format.whole(step),
                Format.whole(epochs),
                train.options().earlyStop() > 0 ? " and train.early_stop" : "",
                epochs + 1));
  }
}
