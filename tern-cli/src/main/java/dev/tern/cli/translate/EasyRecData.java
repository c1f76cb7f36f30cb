package dev.tern.cli.translate;

import dev.tern.cli.config.YamlText;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The files and features of a configuration of EasyRec, as the section {@code data}. */
final class EasyRecData {
  private final Section root;
  private final Section data;
  private final ModelSizes model;
  private final EasyRecGroups groups;
  private final RunYaml run;
  private final TranslationNotes notes;

  EasyRecData(
      Section root, ModelSizes model, EasyRecGroups groups, RunYaml run, TranslationNotes notes) {
    this.root = root;
    this.model = model;
    this.groups = groups;
    this.run = run;
    this.notes = notes;
    data = root.section("data_config");
  }

  /**
   * Sets the keys of the section.
   *
   * @param tasks labels of the model's tasks, with the keys of each; empty for those of the data
   */
  void translate(Map<String, Map<String, String>> tasks) {
    files();
    List<Setting.Text> labels = data.texts("label_fields");
    tasks.forEach((label, keys) -> run.column("data.labels", label, keys));
    if (tasks.isEmpty()) {
      labels.stream().findFirst().ifPresent(label -> run.text("data.label.column", label.text()));
    }
    labels.stream()
        .skip(tasks.isEmpty() ? 1 : 0)
        .filter(label -> !tasks.containsKey(label.text()))
        .forEach(label -> notes.left("data_config.label_fields", label, "no task has it"));
    data.text("sample_weight").ifPresent(name -> run.text("data.weight", name.text()));
    List<Section> features = new ArrayList<>(root.sections("feature_configs"));
    features.addAll(root.section("feature_config").sections("features"));
    new EasyRecFeatures(model, groups, run, notes).translate(features);
    data.leave("Tern reads ahead by itself", "prefetch_size");
    data.leave("shuffling is by train.shuffle, in rows", "shuffle_buffer_size");
    data.leave("one process reads all rows", "shard", "chief_redundant", "pai_worker_queue");
    data.leave("data.bad_records: skip leaves out what is damaged", "ignore_error");
    data.leave(
        "twotower draws items of the rows: see model.negatives",
        "negative_sampler",
        "negative_sampler_v2",
        "hard_negative_sampler",
        "hard_negative_sampler_v2");
  }

  private void files() {
    Optional<Setting.Text> type = data.text("input_type");
    String name = type.map(Setting.Text::text).orElse("CSVInput");
    boolean parquet = name.startsWith("ParquetInput");
    run.set("data.format", parquet ? "parquet" : "csv");
    if (!parquet && !name.startsWith("CSVInput")) {
      notes.left(
          "data_config.input_type",
          type.orElseThrow(),
          "Tern reads files; write the rows as CSV or Parquet");
    }
    run.text("data.train", path("train_input_path").orElseGet(this::unnamed));
    path("eval_input_path").ifPresent(path -> run.text("data.eval", path));
    for (String other : List.of("kafka", "datahub", "hive")) {
      root.leave(
          "Tern reads files; name them in data.train and data.eval",
          other + "_train_input",
          other + "_eval_input");
    }
    fields(parquet);
    if (!parquet) {
      String separator = data.text("separator").map(Setting.Text::text).orElse(",");
      run.set("data.delimiter", delimiter(separator));
      run.set("data.quotes", Boolean.toString(name.equals("CSVInputEx")));
    }
    data.text("num_parallel_calls")
        .ifPresent(calls -> run.set("data.threads", Math.clamp(calls.whole(0, 1 << 20), 1L, 64L)));
  }

  /** A path; EasyRec separates several by commas. */
  private Optional<String> path(String name) {
    Optional<Setting.Text> path = root.text(name);
    path.filter(text -> text.text().contains(","))
        .ifPresent(
            text -> notes.changed(name, text, "it is one path in Tern; write a list of paths"));
    return path.map(Setting.Text::text);
  }

  private String unnamed() {
    Setting.Text nothing = new Setting.Text("train_input_path", "nothing", root.place());
    notes.left("train_input_path", nothing, "name the training files in data.train");
    return "training-files";
  }

  private static String delimiter(String separator) {
    StringBuilder codes = new StringBuilder();
    for (char c : separator.toCharArray()) {
      codes.append(c > ' ' && c < 127 ? String.valueOf(c) : "\\u%04x".formatted((int) c));
    }
    return YamlText.quote(codes.toString());
  }

  /** The columns of files that do not name them. */
  private void fields(boolean parquet) {
    boolean header = data.text("with_header").map(Setting.Text::flag).orElse(false);
    List<String> names = new ArrayList<>();
    for (Section field : data.sections("input_fields")) {
      field.text("input_name").ifPresent(name -> names.add(name.text()));
      field.text("input_type"); // Features say what a column holds.
      field
          .text("default_val")
          .filter(value -> !List.of("", "0").contains(value.text()))
          .ifPresent(value ->
              notes.left(
                  "data_config.input_fields.default_val",
                  value,
                  "a missing value has no embedding, a missing number is data.dense.missing"));
    }
    if (!parquet && !header && !names.isEmpty()) {
      run.set("data.columns", RunYaml.names(names));
    }
  }
}
