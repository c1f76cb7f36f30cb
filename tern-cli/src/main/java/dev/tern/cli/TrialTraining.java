package dev.tern.cli;

import dev.tern.cli.config.Config;
import dev.tern.cli.notes.Progress;
import dev.tern.cli.run.MetricsLog;
import dev.tern.cli.run.RunFolder;
import dev.tern.cli.tune.Training;
import java.io.PrintWriter;
import java.util.Optional;

/** Trains the trials of {@code tern tune} as {@code tern train} trains a run. */
final class TrialTraining implements Training {
  @Override
  public Session begin(PrintWriter err) {
    return new OfProgress(Progress.of(err));
  }

  private record OfProgress(Progress progress) implements Session {
    @Override
    public Result train(Config config) {
      TrainRun.Outcome outcome =
          TrainRun.run(
              config, RunFolder.Earlier.RESUME, RunFolder.Maker.TRAIN, progress, Optional.empty());
      return new Result(
          outcome.best(), MetricsLog.read(Training.metrics(config.run().dir())), outcome.stopped());
    }

    @Override
    public void begin(String task, String unit, long done, long total) {
      progress.begin(task, unit, done, total);
    }

    @Override
    public void update(long done, String facts) {
      progress.update(done, facts);
    }

    @Override
    public void note(String line) {
      progress.note(line);
    }

    @Override
    public void close() {
      progress.close();
    }
  }
}
