package dev.tern.cli;

import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.files.text.CsvOptions;
import dev.tern.files.text.CsvWriter;
import dev.tern.predict.Predictor;
import dev.tern.train.Metrics;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.LongConsumer;

/** Scores all rows of a reader. */
final class Scoring {
  private Scoring() {}

  /** Metrics of the first label of each row: the same bits as an evaluation in training. */
  static Metrics.Result evaluate(Predictor predictor, DataReader rows, LongConsumer progress) {
    Metrics metrics = new Metrics();
    long done = 0;
    int labelDim = rows.schema().labelDim();
    for (Optional<Batch> next = rows.next(); next.isPresent(); next = rows.next()) {
      try (Batch batch = next.get()) {
        float[] labels = new float[batch.size()];
        float[] logits = new float[batch.size()];
        for (int i = 0; i < labels.length; i++) {
          labels[i] = batch.labels()[i * labelDim];
        }
        predictor.logits(batch, logits);
        metrics.addLogits(logits, labels, labels.length);
        done += labels.length;
        progress.accept(done);
      }
    }
    return metrics.result();
  }

  /** Writes the probability of each row; returns how many. */
  static long predict(Predictor predictor, DataReader rows, Path target, LongConsumer progress) {
    Schema schema = new Schema(List.of(), List.of("prediction"), List.of());
    long done = 0;
    try (CsvWriter writer = CsvWriter.create(target, schema, CsvOptions.csv())) {
      for (Optional<Batch> next = rows.next(); next.isPresent(); next = rows.next()) {
        try (Batch batch = next.get()) {
          Batch scores = new Batch(schema, batch.size());
          for (float score : predictor.score(batch)) {
            scores.setDense(0, score);
            scores.endRow();
          }
          writer.write(scores);
          done += batch.size();
          progress.accept(done);
        }
      }
      writer.finish();
    }
    return done;
  }
}
