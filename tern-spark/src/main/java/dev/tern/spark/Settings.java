package dev.tern.spark;

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

  TrainOptions options() {
    return TrainOptions.of(Optimizer.lazyAdam((float) rate))
        .batch(batch)
        .lanes(lanes)
        .epochs(epochs)
        .seed(seed);
  }
}
