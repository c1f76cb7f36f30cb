package dev.tern.cli.translate;

import dev.tern.cli.config.YamlText;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The features of a configuration of EasyRec as columns of {@code data.dense} and {@code
 * data.sparse}.
 */
final class EasyRecFeatures {
  private static final long MOST = 1L << 40;

  private final ModelSizes model;
  private final EasyRecGroups groups;
  private final RunYaml run;
  private final TranslationNotes notes;

  /** The column that has the table of an embedding's name. */
  private final Map<String, String> tables = new LinkedHashMap<>();

  EasyRecFeatures(ModelSizes model, EasyRecGroups groups, RunYaml run, TranslationNotes notes) {
    this.model = model;
    this.groups = groups;
    this.run = run;
    this.notes = notes;
  }

  void translate(List<Section> features) {
    Optional<Setting.Text> first =
        features.stream().flatMap(feature -> feature.text("embedding_dim").stream()).findFirst();
    if (model.takes("embedding")) {
      first.ifPresent(width -> run.set("model.embedding", width.whole(1, 4096)));
    }
    // A table belongs to the first column that is no sequence.
    List<Section> sequences = new ArrayList<>();
    for (Section feature : features) {
      if (type(feature).equals("SequenceFeature")) {
        sequences.add(feature);
      } else {
        feature(feature);
      }
    }
    sequences.forEach(this::feature);
  }

  private static String type(Section feature) {
    return feature.text("feature_type").map(Setting.Text::text).orElse("IdFeature");
  }

  private void feature(Section feature) {
    feature.leave("weights of rows' values are in LIBSVM and LIBFFM alone", "kv_separator");
    feature.leave("model.initializer says how embeddings begin", "initializer");
    feature.leave("a table is one", "max_partitions");
    feature.leave(
        "see data.sparse of Tern, which has one value between separators", "seq_multi_sep");
    feature.leave("vocabularies are learned from the training files", "vocab_file", "vocab_list");
    List<Setting.Text> inputs = feature.texts("input_names");
    Optional<Setting.Text> named = feature.text("feature_name");
    if (inputs.isEmpty()) {
      return;
    }
    List<Setting.Text> columns = new ArrayList<>(inputs.subList(0, 1));
    columns.addAll(feature.texts("shared_names"));
    String name = named.map(Setting.Text::text).orElse(inputs.getFirst().text());
    if (columns.size() == 1 && !groups.reads(name)) {
      notes.left("features.input_names", inputs.getFirst(), "no feature group has it");
      feature.leaveRest("its feature is not read");
      return;
    }
    String type = type(feature);
    for (Setting.Text column : columns) {
      switch (type) {
        case "IdFeature", "TagFeature", "SequenceFeature" ->
            sparse(feature, column, known(column, inputs, name));
        case "RawFeature" -> {
          known(column, inputs, name);
          raw(feature, column);
        }
        default -> {
          notes.left("features.input_names", column, "Tern has no features of the type " + type);
          feature.leaveRest("its feature is not read");
        }
      }
    }
  }

  /** Keeps the column of a feature; others that share its settings have the names of theirs. */
  private String known(Setting.Text column, List<Setting.Text> inputs, String name) {
    String of = column.equals(inputs.getFirst()) ? name : column.text();
    groups.columns().put(of, column.text());
    return of;
  }

  private void raw(Section feature, Setting.Text column) {
    Map<String, String> keys = new LinkedHashMap<>();
    List<Setting.Text> boundaries = feature.texts("boundaries");
    boolean embedded =
        feature.text("embedding_dim").map(width -> width.whole(0, 4096) > 0).orElse(false);
    feature.leave("a number has no hash", "hash_bucket_size");
    feature.leave(
        "data.dense.transform: standardize takes its place, if you set it",
        "min_val",
        "max_val",
        "normalizer_fn");
    if (!boundaries.isEmpty()) {
      keys.put("vector", "buckets");
      keys.put(
          "boundaries",
          boundaries.stream().map(Setting.Text::real).map(RunYaml::number).toList().toString());
    } else {
      keys.put("transform", "none");
      if (embedded) {
        keys.put("vector", "field");
      }
    }
    if (keys.containsKey("vector")) {
      width(feature, keys);
    }
    run.column("data.dense", column.text(), keys);
  }

  private void sparse(Section feature, Setting.Text column, String name) {
    String type = type(feature);
    Map<String, String> keys = new LinkedHashMap<>();
    encode(feature, keys);
    Optional<String> owner =
        feature
            .text("embedding_name")
            .map(Setting.Text::text)
            .filter(text -> !text.isEmpty())
            .map(embedding -> tables.computeIfAbsent(embedding, _ -> column.text()));
    Optional<String> target = groups.target(name).filter(_ -> type.startsWith("Seq"));
    String table = target.or(() -> owner).filter(t -> !t.equals(column.text())).orElse("");
    if (!table.isEmpty() && run.columns("data.sparse").contains(table)) {
      Map<String, String> of = run.keys("data.sparse", table);
      keys.keySet().removeAll(List.of("encode", "buckets"));
      for (String key : List.of("encode", "buckets")) {
        Optional.ofNullable(of.get(key)).ifPresent(value -> keys.put(key, value));
      }
      keys.put("table", Optional.ofNullable(of.get("table")).orElse(YamlText.quote(table)));
    }
    if (!type.equals("IdFeature")) {
      String separator = feature.text("separator").map(Setting.Text::text).orElse("|");
      if (!separator.isEmpty() && run.get("data.format").equals(Optional.of("csv"))) {
        keys.put("separator", YamlText.quote(separator));
      }
      combiner(feature, keys);
    }
    if (type.startsWith("Seq")) {
      String own = groups.sequences().getOrDefault(name, name);
      sequence(feature, column, own, keys);
    }
    width(feature, keys);
    run.column("data.sparse", column.text(), keys);
  }

  private void encode(Section feature, Map<String, String> keys) {
    long hashed = feature.text("hash_bucket_size").map(size -> size.whole(0, MOST)).orElse(0L);
    boolean free = feature.text("use_embedding_variable").map(Setting.Text::flag).orElse(false);
    Optional<Setting.Text> numbered = feature.text("num_buckets");
    if (free || hashed > 0) {
      keys.put("encode", "hash");
      if (!free) {
        keys.put("buckets", Long.toString(hashed));
      }
    } else if (numbered.isPresent() && numbered.get().whole(0, MOST) > 0) {
      keys.put("encode", "id");
      notes.changed(
          "features.num_buckets", numbered.get(), "any 64-bit number is an id, without a bound");
    }
  }

  private void combiner(Section feature, Map<String, String> keys) {
    Optional<Setting.Text> told = feature.text("combiner");
    String combiner = told.map(Setting.Text::text).orElse("mean");
    if (List.of("sum", "mean", "sqrtn").contains(combiner)) {
      keys.put("combiner", combiner);
    } else {
      notes.left("features.combiner", told.orElseThrow(), "Tern has sum, mean and sqrtn");
    }
  }

  private void sequence(
      Section feature, Setting.Text column, String name, Map<String, String> keys) {
    Optional<Setting.Text> length =
        feature.text("max_seq_len").or(() -> feature.text("sequence_length"));
    long most = length.map(text -> text.whole(0, 1 << 16)).filter(n -> n > 1).orElse(0L);
    feature.leave("sequences are of ids in Tern", "sub_feature_type");
    feature.leave("the model says what becomes of a sequence", "sequence_combiner");
    // EasyRec keeps the first values of a longer sequence.
    String own = "{name: " + YamlText.quote(name) + ", keep: first, max_length: ";
    if (most > 0) {
      keys.put("sequence", own + most + "}");
    } else if (model.type().readsSequences()) {
      keys.put("sequence", own + "100}");
      notes.changed("features.input_names", column, "it has no max_seq_len; Tern keeps 100 values");
    }
  }

  private void width(Section feature, Map<String, String> keys) {
    Optional<Setting.Text> width = feature.text("embedding_dim");
    if (width.isEmpty() || keys.containsKey("table")) {
      return;
    }
    boolean usual = run.get("model.embedding").equals(Optional.of(width.get().text()));
    if (!usual && model.type().takesWidths()) {
      keys.put("embedding", Long.toString(width.get().whole(1, 4096)));
    } else if (!usual) {
      notes.left("features.embedding_dim", width.get(), "all columns of this model have one width");
    }
  }
}
