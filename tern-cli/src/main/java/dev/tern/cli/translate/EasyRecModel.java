package dev.tern.cli.translate;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The model of a configuration of EasyRec, as the section {@code model}.
 *
 * @param config {@code model_config}
 * @param own the message of the model's sizes
 * @param labels of its tasks, with the keys of each; empty for that of the data
 */
record EasyRecModel(
    Section config,
    Section own,
    ModelSizes sizes,
    Map<String, Map<String, String>> labels,
    Parts parts) {
  private static final long MOST = 1 << 20;

  /** Names of models with their messages and types. */
  private static final Map<String, List<String>> MODELS =
      Map.ofEntries(
          Map.entry("DeepFM", List.of("deepfm", "deepfm")),
          Map.entry("WideAndDeep", List.of("wide_and_deep", "wdl")),
          Map.entry("DCN", List.of("dcn", "dcn")),
          Map.entry("DLRM", List.of("dlrm", "dlrm")),
          Map.entry("FM", List.of("fm", "fm")),
          Map.entry("AutoInt", List.of("autoint", "autoint")),
          Map.entry("MMoE", List.of("mmoe", "mmoe")),
          Map.entry("PLE", List.of("ple", "ple")),
          Map.entry("ESMM", List.of("esmm", "esmm")),
          Map.entry("SimpleMultiTask", List.of("simple_multi_task", "sharedbottom")),
          Map.entry("DSSM", List.of("dssm", "twotower")));

  /** What it writes to. */
  record Parts(RunYaml run, TranslationNotes notes) {}

  static EasyRecModel of(Section root, RunYaml run, TranslationNotes notes) {
    Section config = root.section("model_config");
    Setting.Text name =
        config
            .text("model_class")
            .orElseThrow(() ->
                config.place().wrong("got no model_class in model_config, expected one; name it"));
    List<Setting.Text> fields = root.section("data_config").texts("label_fields");
    List<String> known = MODELS.getOrDefault(name.text(), List.of());
    if (known.isEmpty()) {
      String type = fields.size() > 1 ? "sharedbottom" : FuxiModels.STAND_IN;
      notes.left(
          "model_config.model_class", name, "Tern has no such model; " + type + " takes its place");
      known = List.of("", type);
    }
    ModelSizes sizes = new ModelSizes(known.get(1), run, notes);
    Section own = config.section(known.get(0));
    EasyRecTasks tasks = new EasyRecTasks(config, own, fields, notes);
    return new EasyRecModel(
        config, own, sizes, tasks.labels(sizes.type().takesTasks()), new Parts(run, notes));
  }

  /** Sets the keys of the section. */
  void write(EasyRecGroups groups) {
    switch (sizes.type()) {
      case DEEPFM -> {
        parts.run.set("model.pairs", "slots");
        network(own.section("dnn"));
        bothParts(groups);
      }
      case FM -> {
        parts.run.set("model.pairs", "slots");
        bothParts(groups);
      }
      case WDL -> network(own.section("dnn"));
      case DCN -> {
        Section deep = own.section("deep_tower");
        deep.text("input");
        network(deep.section("dnn"));
        Section cross = own.section("cross_tower");
        cross.text("input");
        sizes.size(cross, "cross_num", "cross_layers");
      }
      case DLRM -> bottomAndTop();
      case AUTOINT -> {
        parts.run.set("model.hidden", "[]");
        sizes.size(own, "multi_head_num", "heads");
        sizes.size(own, "multi_head_size", "units");
        sizes.size(own, "interacting_layer_num", "cross_layers");
      }
      case SHAREDBOTTOM ->
          config
              .text("model_class")
              .ifPresent(name ->
                  parts.notes.changed(
                      "model_config.model_class",
                      name,
                      "tasks share the layers of model.hidden first"));
      case MMOE -> mixture();
      case PLE -> extraction();
      case ESMM -> own.leave("layers of the groups are those of model.towers", "groups");
      case TWOTOWER -> towers(groups);
      default -> {}
    }
    tasks();
    wideAndDeep(groups);
    own.leave("Tern's model has no layers behind its parts", "final_dnn", "wide_output_dim");
    regularization();
    config.leave("data.labels says the loss of each label", "losses", "loss_weight_strategy");
    config.leave("see data.labels.loss", "loss_type", "num_class");
    config.leave("Tern has its own models alone", "backbone", "model_params", "model_name");
  }

  /** Layers with what stands beside them; EasyRec normalizes batches unless it is told. */
  private void network(Section dnn) {
    sizes.size(dnn, "hidden_units", "hidden");
    style(dnn);
  }

  private void style(Section dnn) {
    sizes.size(dnn, "dropout_ratio", "dropout");
    sizes.size(dnn, "activation", "activation");
    if (dnn.has("hidden_units") && !dnn.has("use_bn") && sizes.takes("batch_norm")) {
      parts.run.set("model.batch_norm", "true");
    }
    sizes.size(dnn, "use_bn", "batch_norm");
  }

  private void bottomAndTop() {
    Section bottom = own.section("bot_dnn");
    Section top = own.section("top_dnn");
    List<Long> widths = new ArrayList<>(ModelSizes.widths(bottom.texts("hidden_units")));
    long width = parts.run.get("model.embedding").map(Long::parseLong).orElse(16L);
    if (widths.isEmpty() || widths.getLast() != width) {
      widths.add(width); // Products are of vectors of one width.
    }
    parts.run.set("model.bottom", widths.toString());
    parts.run.set("model.top", ModelSizes.widths(top.texts("hidden_units"), 1));
    style(top);
    bottom.leave(
        "bottom and top have one of model, that of top", "dropout_ratio", "activation", "use_bn");
  }

  private void mixture() {
    List<Section> experts = own.sections("experts");
    if (experts.isEmpty()) {
      network(own.section("expert_dnn"));
      sizes.size(own, "num_expert", "experts");
      return;
    }
    parts.run.set("model.experts", experts.size());
    experts.forEach(expert -> expert.text("expert_name"));
    network(experts.getFirst().section("dnn"));
    experts.stream()
        .skip(1)
        .forEach(expert -> expert.leave("all experts have the layers of the first", "dnn"));
  }

  private void extraction() {
    List<Section> levels = own.sections("extraction_networks");
    if (levels.isEmpty()) {
      return;
    }
    parts.run.set("model.levels", levels.size());
    Section first = levels.getFirst();
    sizes.size(first, "expert_num_per_task", "experts");
    network(first.section("task_expert_net"));
    levels.forEach(level -> {
      level.text("network_name");
      level.leaveRest("all levels have the experts of the first, as many of a task as shared");
    });
  }

  /** Layers of the towers of tasks, which all have those of the first. */
  private void tasks() {
    List<Section> towers = new ArrayList<>(own.sections("task_towers"));
    if (sizes.type().hasTowers()) {
      List.of("ctr_tower", "cvr_tower").forEach(name -> towers.addAll(own.sections(name)));
    }
    for (int i = 0; i < towers.size(); i++) {
      Section dnn = towers.get(i).section("dnn");
      if (i == 0) {
        sizes.size(dnn, "hidden_units", "towers");
        style(dnn);
      } else {
        dnn.leaveRest("all tasks have the layers of the first");
      }
    }
  }

  private void towers(EasyRecGroups groups) {
    Section item = own.section("item_tower");
    Section user = own.section("user_tower");
    network(user.section("dnn"));
    user.text("id");
    Optional<Setting.Text> id = item.text("id");
    item.leave("both towers have the layers of the user's", "dnn");
    Set<String> columns = new LinkedHashSet<>();
    id.ifPresent(text -> columns.add(groups.columns().getOrDefault(text.text(), text.text())));
    columns.addAll(groups.columns(groups.features().getOrDefault("item", Set.of())));
    columns.retainAll(parts.run.columns("data.sparse"));
    parts.run.set("model.item_columns", RunYaml.names(List.copyOf(columns)));
    parts.notes.changed(
        "model_config.dssm",
        own,
        "it learns rows labelled 1 beside the other items of their batch");
    boolean cosine = own.text("simi_func").map(text -> text.text().equals("COSINE")).orElse(true);
    parts.run.set("model.normalized", Boolean.toString(cosine));
    double temperature = own.text("temperature").map(Setting.Text::real).orElse(1.0);
    parts.run.set("model.temperature", Math.clamp(temperature, 1e-4, 1e4));
    scale();
    own.text("item_id");
    own.leave("the loss is a softmax over the items of a batch", "ignore_in_batch_neg_sam");
  }

  /** EasyRec multiplies a similarity by a learned weight unless it is told not to. */
  private void scale() {
    String reason = "no weight is learned that scales the similarity; set model.temperature";
    Optional<Setting.Text> scale = own.text("scale_simi");
    scale
        .filter(Setting.Text::flag)
        .ifPresent(on -> parts.notes.left("model_config.dssm.scale_simi", on, reason));
    if (scale.isEmpty()) {
      parts.notes.changed("model_config.dssm", own, "without scale_simi: false, " + reason);
    }
  }

  /** Columns of one part alone. */
  private void wideAndDeep(EasyRecGroups groups) {
    if (!parts.run.get("model.type").equals(Optional.of("wdl")) || groups.wide().isEmpty()) {
      return;
    }
    Set<String> wide = new LinkedHashSet<>(groups.columns(groups.wide()));
    Set<String> deep = new LinkedHashSet<>(groups.columns(groups.deep()));
    only("wide_only", wide.stream().filter(name -> !deep.contains(name)).toList());
    only("deep_only", deep.stream().filter(name -> !wide.contains(name)).toList());
  }

  /** A factorization machine of Tern reads all columns in both of its parts. */
  private void bothParts(EasyRecGroups groups) {
    Set<String> wide = new TreeSet<>(groups.wide());
    Set<String> deep = new TreeSet<>(groups.deep());
    wide.removeIf(feature -> groups.deep().contains(feature) || !isRead(groups, feature));
    deep.removeIf(feature -> groups.wide().contains(feature) || !isRead(groups, feature));
    alsoRead("the linear part reads %s, too, which no group of the wide part has", deep);
    alsoRead("products and layers read %s, too, which no group of the deep part has", wide);
  }

  private boolean isRead(EasyRecGroups groups, String feature) {
    String column = groups.columns().getOrDefault(feature, feature);
    return Stream.of("data.sparse", "data.dense")
        .anyMatch(section -> parts.run.columns(section).contains(column));
  }

  private void alsoRead(String reason, Set<String> features) {
    config
        .text("model_class")
        .filter(_ -> !features.isEmpty())
        .ifPresent(name ->
            parts.notes.changed(
                "model_config.model_class", name, reason.formatted(String.join(", ", features))));
  }

  private void only(String key, List<String> columns) {
    Set<String> read = Set.copyOf(parts.run.columns("data.sparse"));
    List<String> named = columns.stream().filter(read::contains).toList();
    if (!named.isEmpty()) {
      parts.run.set("model." + key, RunYaml.names(named));
    }
  }

  private void regularization() {
    double dense = own.text("l2_regularization").map(Setting.Text::real).orElse(0.0);
    Optional<Setting.Text> rows = config.text("embedding_regularization");
    rows.ifPresent(text ->
        parts.notes.changed(
            "model_config.embedding_regularization",
            text,
            "it is of the rows of a batch, once each"));
    double share = Math.max(0, rows.map(Setting.Text::real).orElse(0.0));
    new Regularization(Math.max(0, dense), share, false).write(parts.run);
  }
}
