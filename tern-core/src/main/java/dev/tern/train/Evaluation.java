package dev.tern.train;

import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.readers.Readers;
import dev.tern.model.Scorer;
import java.util.Optional;

/** Scores all rows of a reader against their labels. */
final class Evaluation {
  private Evaluation() {}

  /** One pass over {@code raw}; each row's first label counts. */
  static Metrics.Result of(DataReader raw, FeatureEncoder encoder, Scorer scorer) {
    raw.start(0);
    DataReader batches = Readers.encoded(Readers.batched(raw, scorer.capacity(), false), encoder);
    Metrics metrics = new Metrics();
    float[] logits = new float[scorer.capacity()];
    float[] labels = new float[scorer.capacity()];
    int labelDim = raw.schema().labelDim();
    for (Optional<Batch> next = batches.next(); next.isPresent(); next = batches.next()) {
      try (Batch batch = next.get()) {
        scorer.logits(batch, logits, 0);
        for (int i = 0; i < batch.size(); i++) {
          labels[i] = batch.labels()[i * labelDim];
        }
        metrics.addLogits(logits, labels, batch.size());
      }
    }
    return metrics.result();
  }
}
