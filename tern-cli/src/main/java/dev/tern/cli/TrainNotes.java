package dev.tern.cli;

import dev.tern.checkpoint.Checkpoint;
import dev.tern.cli.config.TrainConfig;
import dev.tern.cli.notes.Progress;
import dev.tern.cli.run.Format;
import dev.tern.files.text.VectorFile;
import dev.tern.model.Loss;
import dev.tern.optim.LearningRate;
import dev.tern.train.Trainer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

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

  /** Says what of an earlier run the trainer began with, and what began anew. */
  void begun(Checkpoint from, Trainer trainer) {
    String state = train.beginning().withState() ? " and the optimizers' state" : "";
    progress.note("begins with the weights" + state + " of " + Format.path(from.folder()));
    if (!trainer.fresh().isEmpty()) {
      progress.note("not among them, so new: " + String.join(", ", trainer.fresh()));
    }
    List<String> grown = new ArrayList<>();
    List<String> slots = trainer.encoder().rawSchema().slotNames();
    for (int s = 0; s < slots.size(); s++) {
      int before = from.encoder().rawSchema().slotNames().indexOf(slots.get(s));
      int values = trainer.encoder().vocabularySize(s);
      int known = before < 0 ? values : from.encoder().vocabularySize(before);
      boolean own = trainer.encoder().keepsIds(from.encoder(), slots.get(s));
      if (own && values > known) {
        grown.add(slots.get(s) + " " + Format.whole(values - known));
      }
    }
    if (!grown.isEmpty()) {
      progress.note("new values: " + String.join(", ", grown));
    }
  }

  /**
   * Says what became of a file of vectors.
   *
   * @param trains whether training changes the table
   */
  void vectors(String table, Path file, VectorFile.Result result, boolean trains) {
    StringBuilder line = new StringBuilder("table ").append(table);
    line.append(" begins with ").append(Format.whole(result.rows())).append(" vectors of ");
    line.append(Format.path(file));
    if (result.outside() > 0) {
      line.append("; left out as of values that the data do not have: ");
      line.append(Format.whole(result.outside()));
    }
    if (result.shared() > 0) {
      line.append("; left out as their bucket has one already: ");
      line.append(Format.whole(result.shared()));
    }
    if (result.without().orElse(0) > 0) {
      line.append("; values without one: ").append(Format.whole(result.without().getAsLong()));
      line.append(trains ? ", which begin as usual" : ", which read as model.unknown says");
    }
    progress.note(line.toString());
  }

  /** Says that the rows of a table are those of an earlier run, not of a file of vectors. */
  void passedOver(String table, Path file) {
    progress.note(
        "table %s has its rows from the earlier run, so %s is not read"
            .formatted(table, Format.path(file)));
  }

  /** Says why a run ended before its last epoch. */
  void early(Trainer trainer) {
    progress.note(
        "stopped early at step %s: no %s in %s evaluations was better than that at step %s"
            .formatted(
                Format.whole(trainer.step()),
                train.options().monitor().name(decidesOfValues(trainer)),
                Format.whole(train.options().earlyStop()),
                Format.whole(trainer.bestStep())));
  }

  private boolean decidesOfValues(Trainer trainer) {
    String label = train.options().monitor().task();
    return trainer.network().tasks().tasks().stream()
        .filter(
            task -> label.isEmpty() || task.label().equals(label) || task.column().equals(label))
        .findFirst()
        .filter(task -> !task.loss().hasAuc() || task.loss() instanceof Loss.OfClass)
        .isPresent();
  }

  /** Says that a loss of pairs found none since the last report. */
  void withoutPairs(String group) {
    progress.note(
        "warning: no batch so far had a row labelled 1 and one labelled 0 with the same %s, so nothing was learned; let rows of one %s stand near each other, shuffle fewer of them (train.shuffle) or take larger batches"
            .formatted(group, group));
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
