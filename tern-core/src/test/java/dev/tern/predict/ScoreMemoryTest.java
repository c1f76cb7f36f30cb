package dev.tern.predict;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.tern.data.Batch;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.model.ModelConfig;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What scoring asks of the heap, in a process that has done nothing else. */
@Tag("unchecked") // Checks take heap memory.
final class ScoreMemoryTest {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  @TempDir Path folder;

  @Test
  void pinningAServedModelAndScoringMakesNoGarbageOnceItIsCompiled() {
    Batch held = PredictorTest.HELD;
    float[] scores = new float[held.size()];
    Path checkpoint = PredictorTest.saved(folder, ModelConfig.Type.DEEPFM, UnknownRow.ZEROS);
    try (ServedModel model = ServedModel.open(checkpoint, ServedOptions.DEFAULT)) {
      long least = Long.MAX_VALUE;
      long patience = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
      while (least >= 1000 && System.nanoTime() < patience) {
        long before = THREADS.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < 100; i++) {
          try (ModelVersion version = model.pin()) {
            version.score(held, scores);
          }
        }
        least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - before);
      }
      assertThat(least).as("bytes for 100 batches").isLessThan(1000);
    }
  }

  @Test
  void scoringMakesNoGarbageOnceItIsCompiled() {
    Batch held = PredictorTest.HELD;
    Map<String, Object> row = PredictorTest.row(held, 0);
    float[] scores = new float[held.size()];
    Path checkpoint = PredictorTest.saved(folder, ModelConfig.Type.DEEPFM, UnknownRow.ZEROS);
    try (Predictor predictor = Predictor.open(checkpoint)) {
      long least = Long.MAX_VALUE;
      long patience = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
      while (least >= 1000 && System.nanoTime() < patience) {
        long before = THREADS.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < 1000; i++) {
          predictor.score(row);
        }
        predictor.score(held, scores);
        least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - before);
      }
      assertThat(least).as("bytes for 1000 rows and a batch").isLessThan(1000);
    }
  }
}
