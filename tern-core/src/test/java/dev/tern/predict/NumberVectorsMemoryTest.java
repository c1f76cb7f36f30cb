package dev.tern.predict;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.NumberEncoding;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.readers.Readers;
import dev.tern.model.ModelConfig;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What scoring asks of the heap where numbers have vectors. */
@Tag("unchecked") // Checks take heap memory.
final class NumberVectorsMemoryTest {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  @TempDir Path folder;

  private static Batch rows() {
    Schema schema =
        new Schema(List.of("y"), List.of("a", "b", "c", "d"), List.of(Slot.oneHot("s")));
    Batch rows = new Batch(schema, 200);
    for (int row = 0; row < 200; row++) {
      for (int f = 0; f < 4; f++) {
        rows.setDense(f, (row + f) % 10 == 0 ? Float.NaN : row % 37 - 5 * f);
      }
      rows.addId(0, row % 9);
      rows.setLabel(0, row % 2);
      rows.endRow();
    }
    return rows;
  }

  private Path saved(Batch rows) {
    NumberEncoding scaled = NumberEncoding.standardize();
    FeatureEncoder encoder =
        FeatureEncoder.fit(
            Readers.inMemory(rows),
            List.of(
                new NumberEncoding.Field(scaled),
                NumberEncoding.pieces(8),
                new NumberEncoding.Beside(scaled, NumberEncoding.pieces(3)),
                new NumberEncoding.Beside(scaled, NumberEncoding.quantiles(4))),
            List.of(IdEncoding.verbatim()),
            TextDictionary.none(),
            read -> {});
    ModelConfig model = ModelConfig.of(ModelConfig.Type.DEEPFM, 4, 8);
    TrainOptions options = TrainOptions.of(Optimizer.sgd(0.1f)).batch(50).epochs(1);
    Path target = folder.resolve("saved");
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer trainer = Trainer.create(device, encoder, model, options)) {
      trainer.fit(Readers.inMemory(rows));
      trainer.save(target);
    }
    return target;
  }

  @Test
  void scoringMakesNoGarbageOnceItIsCompiled() {
    Batch rows = rows();
    Map<String, Object> row = Map.of("a", 1.5f, "b", 3f, "c", -2f, "s", 4L);
    float[] scores = new float[rows.size()];
    try (Predictor predictor = Predictor.open(saved(rows))) {
      long least = Long.MAX_VALUE;
      long patience = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
      while (least >= 1000 && System.nanoTime() < patience) {
        long before = THREADS.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < 1000; i++) {
          predictor.score(row);
        }
        predictor.score(rows, scores);
        least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - before);
      }
      assertThat(least).as("bytes for 1000 rows and a batch").isLessThan(1000);
    }
  }
}
