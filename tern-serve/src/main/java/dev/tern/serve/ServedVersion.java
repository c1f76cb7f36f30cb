package dev.tern.serve;

import dev.tern.data.Batch;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.model.Task;
import dev.tern.predict.Predictor;
import java.util.List;

/**
 * A model at one step: what one request is answered with, from its first row to its last.
 *
 * @param model the name it is served by
 * @param step the step of training that it was saved at
 * @param predictor scores rows
 */
record ServedVersion(String model, long step, Predictor predictor) {
  /** What turns rows into features. */
  FeatureEncoder encoder() {
    return predictor.encoder();
  }

  /** What each score of a row predicts. */
  List<Task> tasks() {
    return predictor.tasks();
  }

  /** Writes what the tasks predict, row by row, as {@code tern predict} has it. */
  void score(Batch rows, float[] target) {
    predictor.score(rows, target);
  }

  /** Writes the logits, row by row. */
  void logits(Batch rows, float[] target) {
    predictor.logits(rows, target);
  }
}
