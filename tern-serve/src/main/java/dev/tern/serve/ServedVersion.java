package dev.tern.serve;

import dev.tern.data.Batch;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.model.Task;
import dev.tern.predict.ModelVersion;
import dev.tern.predict.Predictor;
import java.util.List;

/**
 * A model at one step: what one request is answered with, from its first row to its last.
 *
 * @param model the name it is served by
 * @param step the step of training that it was saved at
 * @param scorer scores rows
 */
public record ServedVersion(String model, long step, Scorer scorer) {
  /** What scores rows. Thread-safe. */
  public interface Scorer {
    FeatureEncoder encoder();

    List<Task> tasks();

    void score(Batch rows, float[] target);

    void logits(Batch rows, float[] target);
  }

  /** A predictor, which nothing replaces. */
  record OfPredictor(Predictor predictor) implements Scorer {
    @Override
    public FeatureEncoder encoder() {
      return predictor.encoder();
    }

    @Override
    public List<Task> tasks() {
      return predictor.tasks();
    }

    @Override
    public void score(Batch rows, float[] target) {
      predictor.score(rows, target);
    }

    @Override
    public void logits(Batch rows, float[] target) {
      predictor.logits(rows, target);
    }
  }

  /** A model that nothing replaces. */
  public ServedVersion(String model, long step, Predictor predictor) {
    this(model, step, new OfPredictor(predictor));
  }

  /** A pinned version. */
  public static ServedVersion of(String model, ModelVersion version) {
    return new ServedVersion(
        model,
        version.step(),
        new Scorer() {
          @Override
          public FeatureEncoder encoder() {
            return version.encoder();
          }

          @Override
          public List<Task> tasks() {
            return version.tasks();
          }

          @Override
          public void score(Batch rows, float[] target) {
            version.score(rows, target);
          }

          @Override
          public void logits(Batch rows, float[] target) {
            version.logits(rows, target);
          }
        });
  }

  /** The same with another scorer, such as one that counts. */
  public ServedVersion with(Scorer other) {
    return new ServedVersion(model, step, other);
  }

  /** What turns rows into features. */
  public FeatureEncoder encoder() {
    return scorer.encoder();
  }

  /** What each score of a row predicts. */
  List<Task> tasks() {
    return scorer.tasks();
  }

  /** Writes what the tasks predict, row by row, as {@code tern predict} has it. */
  void score(Batch rows, float[] target) {
    scorer.score(rows, target);
  }

  /** Writes the logits, row by row. */
  void logits(Batch rows, float[] target) {
    scorer.logits(rows, target);
  }
}
