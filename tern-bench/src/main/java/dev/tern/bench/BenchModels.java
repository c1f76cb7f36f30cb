package dev.tern.bench;

import dev.tern.model.Matching;
import dev.tern.model.ModelConfig;
import dev.tern.model.ModelPart;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** The models that are timed, with their sizes. */
public final class BenchModels {
  private static final int WIDTH = 16;

  /** Those that {@code peers/train.py} writes out with their sizes. */
  private static final Set<String> SPELT_OUT =
      Set.of("lr", "fm", "wdl", "deepfm", "dcnv2", "dlrm", "mmoe", "din", "bst", "twotower");

  private BenchModels() {}

  /** Whether the peer takes the sizes of a model from the parameters that Tern has. */
  static boolean isReadByPeer(String name) {
    return !SPELT_OUT.contains(name);
  }

  /** A model by its name. */
  public static ModelConfig of(String name) {
    return switch (name) {
      case "lr" -> ModelConfig.of(ModelConfig.Type.LR, WIDTH);
      case "fm" -> ModelConfig.of(ModelConfig.Type.FM, WIDTH);
      case "wdl" -> ModelConfig.of(ModelConfig.Type.WDL, WIDTH, 400, 400, 400);
      case "deepfm" -> ModelConfig.of(ModelConfig.Type.DEEPFM, WIDTH, 400, 400, 400);
      case "dcnv2" -> ModelConfig.of(ModelConfig.Type.DCNV2, WIDTH, 400, 400, 400);
      case "dlrm" -> ModelConfig.of(ModelConfig.Type.DLRM, WIDTH, 512, 256);
      case "mmoe" -> ModelConfig.of(ModelConfig.Type.MMOE, WIDTH, 256, 128);
      case "din" -> ModelConfig.of(ModelConfig.Type.DIN, WIDTH, 200, 80).withAttention(80, 40);
      case "bst" ->
          ModelConfig.of(ModelConfig.Type.BST, WIDTH, 256, 128).withAttention(64).withHeads(3);
      case "twotower" ->
          ModelConfig.of(ModelConfig.Type.TWOTOWER, WIDTH, 256, 128, 64)
              .withMatching(Matching.of("C3", "C1", "C2", "C4", "C5", "C6", "C7", "C8"));
      default -> other(type(name));
    };
  }

  private static ModelConfig.Type type(String name) {
    List<ModelConfig.Type> types =
        Arrays.stream(ModelConfig.Type.values()).filter(t -> !t.has(ModelPart.GRAPH)).toList();
    return types.stream()
        .filter(type -> type.name().toLowerCase(Locale.ROOT).equals(name))
        .findAny()
        .orElseThrow(() ->
            new IllegalArgumentException(
                "--models: got %s, expected some of %s"
                    .formatted(name, types.toString().toLowerCase(Locale.ROOT))));
  }

  /** The defaults of configurations, with the hidden layers of the models above. */
  private static ModelConfig other(ModelConfig.Type type) {
    ModelConfig model =
        type.readsSequences()
            ? ModelConfig.of(type, WIDTH, 200, 80)
            : type.hasTowers()
                ? ModelConfig.of(type, WIDTH, 256, 128)
                : type.has(ModelPart.BOTTOM_TOP)
                    ? ModelConfig.of(type, WIDTH, 512, 256)
                    : ModelConfig.of(type, WIDTH, 400, 400, 400);
    return type.has(ModelPart.HEADS) ? model.withHeads(2) : model;
  }
}
