package dev.tern.cli.translate;

import dev.tern.cli.config.YamlText;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The tasks of a model of EasyRec, as groups of {@code data.labels}.
 *
 * @param config {@code model_config}
 * @param own the message of the model
 * @param fields {@code label_fields} of the data
 */
record EasyRecTasks(
    Section config, Section own, List<Setting.Text> fields, TranslationNotes notes) {
  private static final long MOST_CLASSES = 1000;

  /** Labels with the keys of each; empty for a model of one label with the usual loss. */
  Map<String, Map<String, String>> labels(boolean several) {
    Map<String, Map<String, String>> labels = new LinkedHashMap<>();
    List<Section> towers = new ArrayList<>(own.sections("task_towers"));
    List.of("ctr_tower", "cvr_tower").forEach(name -> towers.addAll(own.sections(name)));
    for (int i = 0; i < towers.size(); i++) {
      Section tower = towers.get(i);
      tower.text("tower_name");
      Optional<Setting.Text> label = tower.text("label_name");
      if (label.isEmpty() && i < fields.size()) {
        label = Optional.of(fields.get(i));
      }
      label.ifPresent(name -> labels.put(name.text(), task(tower)));
    }
    if (labels.isEmpty() && several && fields.size() > 1) {
      fields.forEach(field -> labels.put(field.text(), Map.of()));
    }
    if (labels.isEmpty() && !fields.isEmpty()) {
      Map<String, String> keys = new LinkedHashMap<>();
      loss(config, keys);
      if (!keys.isEmpty()) {
        labels.put(fields.getFirst().text(), keys);
      }
    }
    return labels;
  }

  private Map<String, String> task(Section tower) {
    Map<String, String> keys = new LinkedHashMap<>();
    loss(tower, keys);
    tower
        .text("weight")
        .map(Setting.Text::real)
        .filter(weight -> weight != 1)
        .ifPresent(weight -> keys.put("weight", RunYaml.number(Math.clamp(weight, 1e-6, 1e6))));
    String within = "rows count for a task or do not: see data.labels.within";
    Optional<Setting.Text> outside = tower.text("out_task_space_weight");
    Optional<Setting.Text> space = tower.text("task_space_indicator_label");
    if (outside.isPresent() && outside.get().real() == 0) {
      space.ifPresent(label -> keys.put("within", YamlText.quote(label.text())));
    } else {
      outside.ifPresent(weight -> notes.left("out_task_space_weight", weight, within));
      space.ifPresent(label -> notes.left("task_space_indicator_label", label, within));
    }
    tower.leave(within, "in_task_space_weight");
    tower.leave("evaluations have the figures of each task", "metrics_set");
    tower.leave("data.labels.loss is one of each label", "losses");
    tower.leave("data.weight counts for all tasks", "use_sample_weight");
    tower.leave("a task reads no other", "relation_tower_names", "relation_dnn");
    return keys;
  }

  private void loss(Section of, Map<String, String> keys) {
    Optional<Setting.Text> type = of.text("loss_type");
    long classes = of.text("num_class").map(n -> n.whole(1, MOST_CLASSES)).orElse(1L);
    switch (type.map(Setting.Text::text).orElse("CLASSIFICATION")) {
      case "CLASSIFICATION", "CROSS_ENTROPY_LOSS" -> {
        if (classes > 2) {
          keys.put("loss", "softmax");
          keys.put("classes", Long.toString(classes));
        }
      }
      case "L2_LOSS" -> keys.put("loss", "mse");
      case "BINARY_FOCAL_LOSS" -> keys.put("loss", "focal");
      default ->
          type.ifPresent(other ->
              notes.left(
                  of.path("loss_type"),
                  other,
                  "see data.labels.loss; a binary cross entropy takes its place"));
    }
  }
}
