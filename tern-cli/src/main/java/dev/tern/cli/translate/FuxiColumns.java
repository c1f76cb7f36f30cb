package dev.tern.cli.translate;

import dev.tern.cli.config.YamlText;
import dev.tern.model.ModelPart;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The columns of a data set of FuxiCTR, as {@code data.dense} and {@code data.sparse}. */
final class FuxiColumns {
  private static final long MOST = 1L << 40;

  private final Section settings;
  private final ModelSizes model;
  private final RunYaml run;
  private final TranslationNotes notes;
  private final boolean parquet;
  private final long minCount;
  private final FuxiSequences sequences;

  /** What an experiment says of single columns beside the data set. */
  private final Map<String, Section> specs = new LinkedHashMap<>();

  /** The columns that the experiment names; none for all. */
  private final List<String> used;

  FuxiColumns(Section settings, ModelSizes model, RunYaml run, TranslationNotes notes) {
    this.settings = settings;
    this.model = model;
    this.run = run;
    this.notes = notes;
    parquet = run.get("data.format").equals(Optional.of("parquet"));
    sequences = FuxiSequences.of(settings);
    minCount = settings.text("min_categr_count").map(count -> count.whole(1, MOST)).orElse(1L);
    used = settings.texts("use_features").stream().map(Setting.Text::text).toList();
    for (Section spec : settings.sections("feature_specs")) {
      spec.leaveRest("columns of this type have no such setting");
      for (Setting.Text name : spec.texts("name")) {
        specs.merge(name.text(), spec, (one, other) -> Section.merged(List.of(one, other)));
      }
    }
  }

  void translate() {
    settings.text("min_categr_count").ifPresent(count -> rarer("min_categr_count", count));
    // Those that use the table of another one come behind it.
    List<Section> columns = settings.sections("feature_cols");
    columns.stream().filter(column -> !isLater(column)).forEach(this::column);
    columns.stream().filter(this::isLater).forEach(this::column);
  }

  private void rarer(String path, Setting.Text count) {
    if (count.whole(1, MOST) > 1) {
      notes.changed(
          path,
          count,
          "rarer values read as zeros; model.unknown: hash with model.unknown_buckets: 1"
              + " gives them one row, as FuxiCTR does");
    }
  }

  /** The settings of one of the columns of {@code column}. */
  private Section own(Section column, Setting.Text name) {
    Optional<Section> spec = Optional.ofNullable(specs.get(name.text()));
    spec.ifPresent(section ->
        section
            .names()
            .forEach(each -> column.leave("feature_specs has another one for its columns", each)));
    return spec.map(section -> Section.merged(List.of(column, section))).orElse(column);
  }

  private boolean isLater(Section column) {
    return column.has("share_embedding")
        || column.texts("name").stream()
            .anyMatch(name -> sequences.target(name.text()).isPresent());
  }

  private void column(Section column) {
    column.leave(
        "it is a function of Python; prepare the column before, or by data.dense.transform",
        "preprocess");
    column.leave("models of Tern know no sources of columns", "source");
    column.leave(
        "a missing value has no embedding, or that of missing numbers", "fill_na", "na_value");
    column.leave("vocabularies are learned from the training files", "vocab_size", "remap");
    column.leave("tern train --set model.tables.init names a file of vectors", "pretrained_emb");
    column.leave(
        "it goes with pretrained_emb",
        "freeze_emb",
        "pretrain_dim",
        "pretrain_usage",
        "emb_output_dim");
    String type = column.text("type").map(Setting.Text::text).orElse("categorical");
    Optional<Setting.Text> active = column.text("active");
    for (Setting.Text name : column.texts("name")) {
      if (active.isPresent() && !active.get().flag()) {
        notes.left("feature_cols.name", name, "it is not active, so Tern does not read it either");
        column.leaveRest("its columns are not read");
        continue;
      }
      if (sequences.drawn().contains(name.text())) {
        notes.left("feature_cols.name", name, "other elements of the batch take its place");
        column.leaveRest("its column is not read");
        continue;
      }
      if (!used.isEmpty() && !used.contains(name.text()) && !type.equals("meta")) {
        notes.left("feature_cols.name", name, "use_features does not name it");
        column.leaveRest("its columns are not read");
        continue;
      }
      switch (type) {
        case "numeric" -> numeric(own(column, name), name);
        case "categorical" -> categorical(own(column, name), name);
        case "sequence" -> sequence(own(column, name), name);
        case "meta" -> {
          if (!run.get("data.group").equals(Optional.of(YamlText.quote(name.text())))) {
            notes.left("feature_cols.name", name, "a column of type meta is no feature");
          }
          column.leaveRest("its column is no feature");
        }
        default -> {
          notes.left("feature_cols.name", name, "Tern has no columns of the type " + type);
          column.leaveRest("its columns are not read");
        }
      }
    }
    column.text("dtype");
  }

  private void numeric(Section column, Setting.Text name) {
    Map<String, String> keys = new LinkedHashMap<>();
    String transform = "none";
    for (Setting.Text normalizer : column.text("normalizer").stream().toList()) {
      if (normalizer.text().equals("StandardScaler")) {
        transform = "standardize";
      } else {
        notes.left(
            "feature_cols.normalizer",
            normalizer,
            "Tern has data.dense.transform: standardize and log1p");
      }
    }
    keys.put("transform", transform);
    // FuxiCTR multiplies a vector with each number; DLRM alone has layers over them.
    if (!model.type().has(ModelPart.BOTTOM_TOP)) {
      keys.put("vector", "field");
      width(column, keys);
    }
    run.column("data.dense", name.text(), keys);
  }

  private void categorical(Section column, Setting.Text name) {
    Map<String, String> keys = new LinkedHashMap<>();
    Optional<Setting.Text> processor = column.text("category_processor");
    switch (processor.map(Setting.Text::text).orElse("")) {
      case "quantile_bucket" -> {
        keys.put("vector", "buckets");
        keys.put("bins", buckets(column));
        width(column, keys);
        run.column("data.dense", name.text(), keys);
        return;
      }
      case "hash_bucket" -> {
        keys.put("encode", "hash");
        keys.put("buckets", buckets(column));
      }
      default -> {
        processor.ifPresent(other ->
            notes.left(
                "feature_cols.category_processor",
                other,
                "Tern has vocabularies, hashes and bins"));
        values(column, keys);
      }
    }
    table(column.text("share_embedding"), keys);
    width(column, keys);
    run.column("data.sparse", name.text(), keys);
  }

  private String buckets(Section column) {
    return column
        .text("num_buckets")
        .or(() -> settings.text("num_buckets"))
        .map(count -> Long.toString(count.whole(2, MOST)))
        .orElse("10");
  }

  private void values(Section column, Map<String, String> keys) {
    column
        .text("dtype")
        .filter(type -> parquet && type.text().equals("int"))
        .ifPresent(_ -> keys.put("values", "integer"));
    Optional<Setting.Text> own = column.text("min_categr_count");
    own.ifPresent(count -> rarer("feature_cols.min_categr_count", count));
    long count = own.map(text -> text.whole(1, MOST)).orElse(minCount);
    if (count > 1) {
      keys.put("min_count", Long.toString(count));
    }
  }

  private void sequence(Section column, Setting.Text name) {
    Map<String, String> keys = new LinkedHashMap<>();
    values(column, keys);
    Optional<Setting.Text> owner = column.text("share_embedding");
    if (owner.isEmpty()) {
      owner = sequences.target(name.text());
      owner.ifPresent(target ->
          notes.changed(
              "feature_cols.name",
              name,
              "a sequence shares the table of its target, " + target.text()));
    }
    table(owner, keys);
    Optional<Setting.Text> splitter = column.text("splitter");
    if (!parquet) {
      keys.put("separator", YamlText.quote(splitter.map(Setting.Text::text).orElse("^")));
    }
    long most = column.text("max_len").map(length -> length.whole(0, 1 << 16)).orElse(0L);
    boolean keepsLast =
        column.text("padding").map(padding -> padding.text().equals("pre")).orElse(false);
    String own = "{name: " + YamlText.quote(sequences.name(name.text())) + ", max_length: ";
    if (most > 0) {
      keys.put("sequence", own + most + (keepsLast ? "}" : ", keep: first}"));
    } else if (model.type().readsSequences()) {
      keys.put("sequence", own + "100}");
      notes.changed("feature_cols.name", name, "it has no max_len; Tern keeps 100 values");
    }
    combiner(column, keys);
    width(column, keys);
    run.column("data.sparse", name.text(), keys);
  }

  /** How a model that reads no sequences makes one vector of several. */
  private void combiner(Section column, Map<String, String> keys) {
    String encoder =
        column.text("feature_encoder").map(Setting.Text::text).orElse("MaskedAveragePooling");
    if (encoder.contains("MaskedAveragePooling")) {
      keys.put("combiner", "mean");
    } else if (!encoder.contains("MaskedSumPooling")) {
      column
          .text("feature_encoder")
          .ifPresent(other ->
              notes.left("feature_cols.feature_encoder", other, "Tern has sum, mean and sqrtn"));
    }
  }

  /** A table of another column, whose values become ids in the same way. */
  private void table(Optional<Setting.Text> owner, Map<String, String> keys) {
    if (owner.isEmpty()) {
      return;
    }
    String name = owner.get().text();
    Map<String, String> others = run.keys("data.sparse", name);
    if (!run.columns("data.sparse").contains(name) || others.containsKey("table")) {
      notes.left("feature_cols.share_embedding", owner.get(), "the column has no table of its own");
      return;
    }
    for (String key : List.of("encode", "buckets", "values", "min_count")) {
      keys.remove(key);
      Optional.ofNullable(others.get(key)).ifPresent(value -> keys.put(key, value));
    }
    keys.put("table", YamlText.quote(name));
  }

  private void width(Section column, Map<String, String> keys) {
    if (!column.has("embedding_dim")) {
      return;
    }
    Setting.Text width = column.text("embedding_dim").orElseThrow();
    if (model.type().takesWidths() && !keys.containsKey("table")) {
      keys.put("embedding", Long.toString(width.whole(1, 4096)));
    } else {
      notes.left("feature_cols.embedding_dim", width, "all columns of this model have one width");
    }
  }
}
