package dev.tern.cli.translate;

import dev.tern.cli.config.YamlText;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The data set of an experiment of FuxiCTR, as the section {@code data}. */
final class FuxiData {
  private final Section settings;
  private final ModelSizes model;
  private final RunYaml run;
  private final TranslationNotes notes;
  private boolean parquet;

  FuxiData(Section settings, ModelSizes model, RunYaml run, TranslationNotes notes) {
    this.settings = settings;
    this.model = model;
    this.run = run;
    this.notes = notes;
  }

  void translate() {
    files();
    labels();
    Section weight = settings.section("weight_col");
    weight.text("dtype");
    weight.text("name").ifPresent(name -> run.text("data.weight", name.text()));
    settings.text("group_id").ifPresent(name -> run.text("data.group", name.text()));
    new FuxiColumns(settings, model, run, notes).translate();
    if (run.columns("data.dense").isEmpty() && run.columns("data.sparse").isEmpty() && !parquet) {
      throw settings
          .place()
          .wrong(
              "got a data set without feature_cols, expected the columns to learn from; name the"
                  + " configuration with which its files were made");
    }
  }

  private void files() {
    Optional<Setting.Text> format = settings.text("data_format");
    String name = format.map(Setting.Text::text).orElse("csv");
    if (!List.of("csv", "parquet").contains(name)) {
      throw format
          .orElseThrow()
          .place()
          .wrong(
              "data_format: got %s, expected csv or parquet, which Tern reads; name the data set that these files were made from"
                  .formatted(format.orElseThrow().shown()));
    }
    parquet = name.equals("parquet");
    run.set("data.format", name);
    run.text("data.train", path("train_data", name).orElseGet(this::unnamed));
    path("valid_data", name).ifPresent(path -> run.text("data.eval", path));
    if (!parquet) {
      settings.text("sep").ifPresent(sep -> run.set("data.delimiter", YamlText.quote(sep.text())));
    }
    settings.leave("tern evaluate RUN FILES scores such rows once the run is trained", "test_data");
    settings.leave("Tern reads the files as they are and keeps no copy of them", "data_root");
    settings.leave("files are read as they are in each run", "rebuild_dataset", "data_block_size");
  }

  /** A path; FuxiCTR reads the files of a folder by their ending. */
  private Optional<String> path(String name, String format) {
    return settings
        .text(name)
        .map(Setting.Text::text)
        .map(path -> path.endsWith(format) ? path : path.replaceFirst("/$", "") + "/*." + format);
  }

  private String unnamed() {
    Setting.Text nothing = new Setting.Text("train_data", "nothing", settings.place());
    notes.left("train_data", nothing, "name the training files in data.train");
    return "training-files";
  }

  private void labels() {
    List<Section> labels = settings.sections("label_col");
    List<Setting.Text> names = labels.stream().flatMap(l -> l.text("name").stream()).toList();
    labels.forEach(label -> label.text("dtype")); // Labels are numbers of any type.
    if (names.size() <= 1 || !model.type().takesTasks()) {
      names.stream().findFirst().ifPresent(name -> run.text("data.label.column", name.text()));
      names.stream()
          .skip(1)
          .forEach(name ->
              notes.left(
                  "label_col", name, "the model has one label; another model.type has more"));
      return;
    }
    names.forEach(name -> run.column("data.labels", name.text(), Map.of()));
  }
}
