package dev.tern.serve.http.metrics;

import dev.tern.data.Batch;
import dev.tern.data.encode.ColumnCounts;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.model.Task;
import dev.tern.serve.ServedVersion;
import java.util.List;

/** Scores, and counts what it scores. */
record CountedScorer(ServedVersion.Scorer scorer, ModelMetrics metrics)
    implements ServedVersion.Scorer {
  @Override
  public FeatureEncoder encoder() {
    return scorer.encoder();
  }

  @Override
  public List<Task> tasks() {
    return scorer.tasks();
  }

  @Override
  public void score(Batch rows, float[] target) {
    long start = System.nanoTime();
    if (metrics.columns().isTurn()) {
      ColumnCounts counts = new ColumnCounts(encoder());
      scorer.score(rows, target, counts);
      metrics.columns().add(counts);
    } else {
      scorer.score(rows, target);
    }
    metrics.scored(rows.size(), tasks().size(), target, System.nanoTime() - start);
  }

  @Override
  public void score(Batch rows, float[] target, ColumnCounts counts) {
    long start = System.nanoTime();
    scorer.score(rows, target, counts);
    metrics.scored(rows.size(), tasks().size(), target, System.nanoTime() - start);
  }

  @Override
  public void logits(Batch rows, float[] target) {
    scorer.logits(rows, target);
  }
}
