package dev.tern.cli.config;

import dev.tern.embedding.config.InitialWeights;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The keys of a section that says how the weights of new rows are drawn. */
final class InitialKeys {
  /** To do as another section. */
  static final String SAME = "same";

  private static final List<String> TYPES = List.of("uniform", "normal", "zeros", "constant");

  private final Key<String> type;
  private final Key<Double> scale;

  private InitialKeys(Key.Section keys, String section, String fallback, String doc) {
    List<String> types =
        fallback.equals(SAME) ? Stream.concat(Stream.of(SAME), TYPES.stream()).toList() : TYPES;
    String path = section + ".initializer";
    type = keys.key(path + ".type", Kind.Choice.of(types.toArray(String[]::new)), fallback, doc);
    scale =
        keys.key(
                path + ".scale",
                Kind.NUMBER,
                0.0173,
                "The largest weight of uniform, the standard deviation of normal, each weight of"
                    + " constant. Uniform weights have a deviation of scale / sqrt(3).")
            .when(type, "uniform", "normal", "constant");
  }

  /** The keys of {@code section}. */
  static InitialKeys of(Key.Section keys, String section, String fallback, String doc) {
    return new InitialKeys(keys, section, fallback, doc);
  }

  /** The weights; none where the section says to do as another one. */
  Optional<InitialWeights> read(Settings.Group group) {
    return TrainKeys.checked(group, scale, this::weights);
  }

  private Optional<InitialWeights> weights(Settings.Group group) {
    float number = group.get(scale).floatValue();
    return switch (group.get(type)) {
      case "uniform" -> Optional.of(new InitialWeights.Uniform(number));
      case "normal" -> Optional.of(new InitialWeights.Normal(number));
      case "constant" -> Optional.of(new InitialWeights.Constant(number));
      case "zeros" -> Optional.of(InitialWeights.ZEROS);
      case SAME -> Optional.empty();
      default -> throw new IllegalStateException("no weights for " + group.get(type));
    };
  }
}
