package dev.tern.cli.translate;

import dev.tern.model.ModelConfig;
import dev.tern.model.ModelPart;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** The keys of {@code model} that a model of a type takes, from settings of another tool. */
final class ModelSizes {
  private static final long MOST = 1 << 20;

  private static final Map<String, ModelPart> WIDTHS =
      Map.of(
          "hidden", ModelPart.HIDDEN,
          "towers", ModelPart.TOWERS,
          "gates", ModelPart.GATES,
          "attention", ModelPart.ATTENTION,
          "feed_forward", ModelPart.BLOCKS,
          "second", ModelPart.SECOND);

  private static final Map<String, ModelPart> WHOLES =
      Map.ofEntries(
          Map.entry("embedding", ModelPart.VECTORS),
          Map.entry("experts", ModelPart.EXPERTS),
          Map.entry("heads", ModelPart.HEADS),
          Map.entry("cross_layers", ModelPart.CROSS),
          Map.entry("cross_rank", ModelPart.CROSS_MATRICES),
          Map.entry("cross_experts", ModelPart.CROSS_MATRICES),
          Map.entry("units", ModelPart.UNITS),
          Map.entry("vectors", ModelPart.VECTORS_OF_LAYER),
          Map.entry("reduction", ModelPart.REDUCTION),
          Map.entry("levels", ModelPart.LEVELS));

  private final ModelConfig.Type type;
  private final RunYaml run;
  private final TranslationNotes notes;

  /** Sizes of a model; {@code type} is as in {@code model.type}. */
  ModelSizes(String type, RunYaml run, TranslationNotes notes) {
    this.type = ModelConfig.Type.valueOf(type.toUpperCase(Locale.ROOT));
    this.run = run;
    this.notes = notes;
    run.set("model.type", type);
  }

  ModelConfig.Type type() {
    return type;
  }

  /** Whether the model takes a key of {@code model}. */
  boolean takes(String key) {
    return switch (key) {
      case "dropout" -> type.has(ModelPart.DROPOUT);
      case "activation", "batch_norm" -> type.has(ModelPart.STYLE);
      case "bottom", "top" -> type.has(ModelPart.BOTTOM_TOP);
      default -> part(key).filter(type::has).isPresent();
    };
  }

  private static Optional<ModelPart> part(String key) {
    return Optional.ofNullable(WIDTHS.get(key)).or(() -> Optional.ofNullable(WHOLES.get(key)));
  }

  /**
   * Sets the key of the model to what {@code from} has for it, if it is there.
   *
   * @param name of the setting in {@code from}
   */
  void size(Section from, String name, String key) {
    if (!from.has(name)) {
      return;
    }
    if (!takes(key)) {
      from.leave("the model %s has no such size".formatted(run.get("model.type").orElse("")), name);
      return;
    }
    List<Setting.Text> values = from.texts(name);
    switch (key) {
      case "dropout" -> dropout(from, name, values);
      case "activation" -> activation(from, name, values);
      case "batch_norm" ->
          from.text(name)
              .ifPresent(value -> run.set("model.batch_norm", Boolean.toString(value.flag())));
      default -> {
        if (WIDTHS.containsKey(key)) {
          run.set("model." + key, widths(values).toString());
        } else {
          from.text(name).ifPresent(value -> run.set("model." + key, value.whole(0, MOST)));
        }
      }
    }
  }

  /** Widths of layers. */
  static List<Long> widths(List<Setting.Text> values) {
    return values.stream().map(value -> value.whole(1, MOST)).toList();
  }

  /** The widths of {@code values} with one more behind them, as YAML. */
  static String widths(List<Setting.Text> values, long last) {
    List<Long> widths = new ArrayList<>(widths(values));
    widths.add(last);
    return widths.toString();
  }

  /** One share for all layers: the first, where they differ. */
  private void dropout(Section from, String name, List<Setting.Text> values) {
    List<Double> shares = values.stream().map(Setting.Text::real).distinct().toList();
    if (shares.isEmpty()) {
      return;
    }
    if (shares.size() > 1) {
      notes.changed(
          from.path(name),
          values.getFirst(),
          "all hidden layers have one model.dropout, the first");
    }
    run.set("model.dropout", Math.clamp(shares.getFirst(), 0.0, 0.99));
  }

  /** One activation for all layers. */
  private void activation(Section from, String name, List<Setting.Text> values) {
    List<String> names = values.stream().map(value -> activation(value.text())).distinct().toList();
    if (names.isEmpty()) {
      return;
    }
    if (names.size() > 1 || !List.of("relu", "prelu", "dice").contains(names.getFirst())) {
      String all = names.stream().collect(Collectors.joining(", "));
      notes.left(
          from.path(name),
          values.getFirst(),
          "hidden layers have one of relu, prelu and dice; relu takes the place of " + all);
      return;
    }
    run.set("model.activation", names.getFirst());
  }

  /** Its name without a package. */
  private static String activation(String name) {
    return name.substring(name.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT);
  }
}
