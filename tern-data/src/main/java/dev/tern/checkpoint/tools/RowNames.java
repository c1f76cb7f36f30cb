package dev.tern.checkpoint.tools;

import dev.tern.checkpoint.Checkpoint;
import dev.tern.model.ModelConfig;
import dev.tern.model.ModelPart;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Names of the columns in the first line of {@link TableFormat#TEXT} with values. */
final class RowNames {
  static final String ID = "id";
  static final String VALUE = "value";
  private static final String WEIGHT = "weight";

  private RowNames() {}

  /**
   * Names of the {@code width} weights of a row: {@code weight} for the linear weight, where the
   * model keeps one before the vector, and {@code v0}, {@code v1} and so on for the vector.
   */
  static List<String> of(Checkpoint checkpoint, int width) {
    List<String> names = new ArrayList<>();
    if (isLinear(checkpoint.model())) {
      names.add(WEIGHT);
    }
    for (int j = 0; names.size() < width; j++) {
      names.add("v" + j);
    }
    return names;
  }

  /** Whether rows begin with a linear weight; of a model of one's own that is not known. */
  private static boolean isLinear(Optional<ModelConfig> model) {
    return model
        .map(ModelConfig::type)
        .map(type -> type == ModelConfig.Type.LR || type.has(ModelPart.LINEAR))
        .orElse(false);
  }
}
