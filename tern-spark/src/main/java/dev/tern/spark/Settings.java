package dev.tern.spark;

import dev.tern.embedding.TableShard;
import dev.tern.model.ModelConfig;
import dev.tern.optim.Optimizer;
import dev.tern.train.TrainOptions;
import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * What a model is, and how it is trained, as it goes to executors.
 *
 * @param type of the model, such as {@code deepfm}
 * @param batch rows of a step of all workers together
 * @param memory bytes outside the heap of each worker
 * @param checkpointEvery steps; 0 for each epoch
 */
record Settings(
    String type,
    int embedding,
    List<Integer> hidden,
    int batch,
    int lanes,
    int epochs,
    double rate,
    long seed,
    long memory,
    int checkpointEvery)
    implements Serializable {
  Settings {
    hidden = List.copyOf(hidden);
  }

  ModelConfig model() {
    return ModelConfig.of(type(type), embedding, hidden.toArray(Integer[]::new));
  }

  private static ModelConfig.Type type(String name) {
    for (ModelConfig.Type each : ModelConfig.Type.values()) {
      if (each.name().equalsIgnoreCase(name)) {
        return each;
      }
    }
    throw new IllegalArgumentException(
        "modelType: got %s, expected one of %s"
            .formatted(name, Arrays.toString(ModelConfig.Type.values()).toLowerCase(Locale.ROOT)));
  }

  /** Throws if so many workers cannot train so. */
  void require(int workers) {
    model();
    options();
    int least = workers < 1 ? 1 : Math.max(2, TableShard.countOfRanks(workers));
    if (workers < 1 || lanes < least || Integer.bitCount(lanes) != 1 || batch % lanes != 0) {
      throw new IllegalArgumentException(
          "fit: got %d lanes of batches of %d rows for %d workers, expected 1 worker or more, a power of two of at least %d lanes, and a multiple of it as batchSize"
              .formatted(lanes, batch, workers, least));
    }
  }

  TrainOptions options() {
    return TrainOptions.of(Optimizer.lazyAdam((float) rate))
        .batch(batch)
        .lanes(lanes)
        .epochs(epochs)
        .seed(seed);
  }
}
