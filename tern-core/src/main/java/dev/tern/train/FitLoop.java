package dev.tern.train;

import dev.tern.checkpoint.RunCheckpoints;
import dev.tern.checkpoint.RunState;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.encode.ColumnCounts;
import dev.tern.metrics.TaskMetrics;
import java.util.List;
import java.util.Optional;

/**
 * The loop of {@link Trainer#fit}: steps through epochs, with reports, evaluations, checkpoints and
 * early stop.
 */
record FitLoop(
    Trainer trainer,
    TrainOptions options,
    Optional<RunCheckpoints> checkpoints,
    Optional<DataReader> eval,
    Reporter reporter) {
  void run(TrainingBatches batches) {
    while (trainer.epoch() < options.epochs() && !isDone()) {
      runEpoch(batches);
    }
    checkpoints.ifPresent(folder -> folder.writeLast(trainer.state()));
  }

  private void runEpoch(TrainingBatches batches) {
    RunState trained = trainer.state();
    for (Batch batch : batches) {
      StepResult result = trainer.step(batch);
      reporter.trained(trainer.logits(), batch, result);
      afterStep();
      trained = trainer.state();
      if (isDone()) {
        return;
      }
    }
    reporter.reportTraining(trainer.state());
    if (options.evaluateEvery() == 0) {
      evaluateOrKeep(trained);
    }
    checkpoints.ifPresent(folder -> folder.write(trainer.state()));
  }

  private boolean isDone() {
    return trainer.isStopping() || trainer.hasStoppedEarly();
  }

  private void afterStep() {
    if (isTime(options.reportEvery())) {
      reporter.reportTraining(trainer.state());
    }
    if (isTime(options.evaluateEvery())) {
      evaluateOrKeep(trainer.state());
    }
    checkpoints.ifPresent(folder -> {
      folder.check();
      if (isTime(options.checkpointEvery())) {
        folder.write(trainer.state());
      } else {
        folder.writeIfDue(trainer.state());
      }
    });
  }

  private boolean isTime(long steps) {
    return steps > 0 && trainer.step() % steps == 0;
  }

  /**
   * If the evaluation fails, writes a checkpoint as of {@code trained}: the run can go on there.
   */
  private void evaluateOrKeep(RunState trained) {
    try {
      eval.ifPresent(this::evaluate);
    } catch (RuntimeException | Error e) {
      if (trainer.isOfSeveral()) {
        throw e; // The others have ended with it.
      }
      trainer.goTo(trained);
      try {
        checkpoints.ifPresent(folder -> folder.write(trained));
      } catch (RuntimeException | Error again) {
        e.addSuppressed(again);
      }
      throw e;
    }
  }

  private void evaluate(DataReader rows) {
    reporter.reportTraining(trainer.state());
    long start = System.nanoTime();
    ColumnCounts columns = new ColumnCounts(trainer.encoder());
    List<TaskMetrics.Result> results = trainer.evaluate(rows, columns);
    Monitor monitor = options.monitor();
    int task = monitor.index(trainer.network().tasks().tasks());
    double value = monitor.value(results.get(task));
    RunState before = trainer.state();
    boolean isBest = monitor.isBetter(results.get(task), before.best());
    RunState state = isBest ? before.bestAt(value) : before.notBest();
    trainer.goTo(state);
    long nanos = System.nanoTime() - start;
    reporter.reportEvaluation(state, results, columns, nanos);
    if (isBest) {
      checkpoints.ifPresent(folder -> folder.writeBest(state));
    }
  }
}
