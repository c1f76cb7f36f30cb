package dev.tern.cli.score;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.encode.ColumnCounts;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.readers.ColumnPick;
import dev.tern.files.KeptTexts;
import dev.tern.files.text.ScoreWriter;
import dev.tern.metrics.TaskMetrics;
import dev.tern.model.Task;
import dev.tern.model.TaskLabels;
import dev.tern.predict.Predictor;
import java.util.List;
import java.util.Optional;
import java.util.function.LongConsumer;

/**
 * Scores all rows of a reader.
 *
 * @param source where the rows come from, for messages
 * @param progress receives the rows scored so far
 * @param counts of missing and unknown values of the rows so far
 */
public record Scoring(
    Predictor predictor,
    DataReader rows,
    String source,
    LongConsumer progress,
    ColumnCounts counts) {
  public Scoring(Predictor predictor, DataReader rows, String source, LongConsumer progress) {
    this(predictor, rows, source, progress, new ColumnCounts(predictor.encoder()));
  }

  /** Takes the rows of an evaluation with their scores. */
  public interface Taker {
    /**
     * Adds rows.
     *
     * @param logits of each row one for each task, side by side
     * @param batch as they were read
     */
    void add(float[] logits, Batch batch);
  }

  /** An encoded number beyond this is rare in training, as are numbers of 1,000 deviations. */
  private static final float FAR = 1000;

  /**
   * Metrics of each task: the same bits as an evaluation in training.
   *
   * @param bins of {@link dev.tern.metrics.Reliability}
   * @param takers take all rows, too
   */
  public List<TaskMetrics.Result> evaluate(int bins, List<? extends Taker> takers) {
    TaskMetrics metrics = new TaskMetrics(labels());
    ColumnPick pick = ColumnPick.of(rows.schema(), predictor.schema());
    int tasks = predictor.tasks().size();
    long done = 0;
    for (Optional<Batch> next = rows.next(); next.isPresent(); next = rows.next()) {
      try (Batch batch = next.get()) {
        float[] logits = new float[batch.size() * tasks];
        Batch own = pick.of(batch);
        predictor.logits(own, logits, counts);
        requireNumbers(logits, own, done);
        metrics.addLogits(logits, batch);
        takers.forEach(taker -> taker.add(logits, batch));
        done += batch.size();
        progress.accept(done);
      }
    }
    return metrics.results(bins);
  }

  /** The columns of a model's scores: one, or with the label in its name one for each task. */
  public static List<String> columns(Predictor predictor) {
    List<Task> tasks = predictor.tasks();
    return tasks.size() == 1
        ? List.of(ScoreWriter.SCORE)
        : tasks.stream().map(task -> ScoreWriter.SCORE + "_" + task.label()).toList();
  }

  /** The labels that the model's tasks have in these rows; one label may have another name. */
  public TaskLabels labels() {
    return labels(predictor, rows.schema());
  }

  /** The same for rows of {@code schema}. */
  public static TaskLabels labels(Predictor predictor, Schema schema) {
    List<Task> tasks = predictor.tasks();
    List<String> labels = schema.labels();
    boolean one = tasks.size() == 1 && labels.size() == 1 && tasks.getFirst().within().isEmpty();
    return TaskLabels.of(
        schema, one ? List.of(tasks.getFirst().withLabel(labels.getFirst())) : tasks);
  }

  /**
   * Writes the probabilities of each row, one for each task, behind the texts that the reader keeps
   * of it, if any.
   */
  public long predict(ScoreWriter writer, Optional<KeptTexts> kept) {
    long done = 0;
    for (Optional<Batch> next = rows.next(); next.isPresent(); next = rows.next()) {
      try (Batch batch = next.get()) {
        float[] probabilities = predictor.score(batch, counts);
        requireNumbers(probabilities, batch, done);
        if (kept.isPresent()) {
          writer.write(kept.get(), probabilities);
          kept.get().clear();
        } else {
          writer.write(probabilities, batch.size());
        }
        done += batch.size();
        progress.accept(done);
      }
    }
    writer.finish();
    return done;
  }

  /** Refuses a NaN among the scores of {@code batch}, before which {@code done} rows came. */
  private void requireNumbers(float[] scores, Batch batch, long done) {
    int tasks = predictor.tasks().size();
    for (int i = 0; i < batch.size() * tasks; i++) {
      if (Float.isNaN(scores[i])) {
        int row = i / tasks;
        throw new DataException(
            "%s: row %d: got a score that is no number, expected one: %s"
                .formatted(source, done + row + 1, cause(batch, row)));
      }
    }
  }

  /** What may have made the score of a row no number: its farthest number, or the model. */
  private String cause(Batch batch, int row) {
    FeatureEncoder encoder = predictor.encoder();
    Batch encoded = new Batch(encoder.schema(), batch.size());
    encoder.apply(batch, encoded);
    List<String> names = encoder.schema().dense();
    int farthest = -1;
    float distance = FAR;
    for (int f = 0; f < names.size(); f++) {
      float value = Math.abs(encoded.dense()[row * names.size() + f]);
      if (!(value <= distance)) {
        farthest = f;
        distance = value;
      }
    }
    if (farthest < 0) {
      return "the weights of the model may be no numbers, as where training diverged; use another"
          + " checkpoint, or train again with a lower train.optimizer.lr";
    }
    int raw = batch.schema().dense().indexOf(names.get(farthest));
    return "%s is %s, which the model reads as %s; mend it, or leave it empty where it is missing"
        .formatted(
            names.get(farthest),
            batch.dense()[row * batch.schema().denseDim() + raw],
            encoded.dense()[row * names.size() + farthest]);
  }
}
