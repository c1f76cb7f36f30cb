package dev.tern.cli.translate;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The groups of features that a model of EasyRec reads.
 *
 * @param features their names by group, in order
 * @param wide features that a group of the wide part has
 * @param deep features that a group of the deep part has
 * @param targets for sequences the feature that they are compared with
 * @param sequences for features that form one sequence its name
 * @param columns that features are read from, by the name of the feature
 */
record EasyRecGroups(
    Map<String, Set<String>> features,
    Set<String> wide,
    Set<String> deep,
    Map<String, String> targets,
    Map<String, String> sequences,
    Map<String, String> columns) {
  static EasyRecGroups of(Section model) {
    EasyRecGroups groups =
        new EasyRecGroups(
            new LinkedHashMap<>(),
            new TreeSet<>(),
            new TreeSet<>(),
            new LinkedHashMap<>(),
            new LinkedHashMap<>(),
            new LinkedHashMap<>());
    for (Section group : model.sections("feature_groups")) {
      groups.add(group);
    }
    model.sections("seq_att_groups").forEach(groups::sequences);
    return groups;
  }

  private void add(Section group) {
    String name = group.text("group_name").map(Setting.Text::text).orElse("");
    List<Setting.Text> names = group.texts("feature_names");
    Set<String> of = features.computeIfAbsent(name, _ -> new LinkedHashSet<>());
    String part = group.text("wide_deep").map(Setting.Text::text).orElse("DEEP");
    for (Setting.Text feature : names) {
      of.add(feature.text());
      if (!part.equals("DEEP")) {
        wide.add(feature.text());
      }
      if (!part.equals("WIDE")) {
        deep.add(feature.text());
      }
    }
    group.sections("sequence_features").forEach(this::sequences);
  }

  private void sequences(Section group) {
    group.text("group_name");
    group.leave("it changes no model", "tf_summary");
    group.leave("each sequence names its target by data.sparse.table", "allow_key_search");
    group.leave("model.attention has the widths of the layers that compare", "seq_dnn");
    String name = "";
    for (Section map : group.sections("seq_att_map")) {
      List<Setting.Text> keys = map.texts("key");
      List<Setting.Text> histories = map.texts("hist_seq");
      for (int i = 0; i < histories.size(); i++) {
        String history = histories.get(i).text();
        name = name.isEmpty() ? history : name;
        sequences.putIfAbsent(history, name); // All maps of a group are one sequence.
        features.computeIfAbsent("", _ -> new LinkedHashSet<>()).add(history);
        if (i < keys.size()) {
          targets.put(history, keys.get(i).text());
        }
      }
    }
  }

  /** Whether the model reads a feature; any where no group names one. */
  boolean reads(String feature) {
    return features.isEmpty() || features.values().stream().anyMatch(of -> of.contains(feature));
  }

  /** The columns of features, of those that have one. */
  List<String> columns(Collection<String> names) {
    return names.stream().map(columns::get).filter(Objects::nonNull).distinct().toList();
  }

  /** The column of the feature that a sequence is compared with. */
  Optional<String> target(String feature) {
    return Optional.ofNullable(targets.get(feature)).map(name -> columns.getOrDefault(name, name));
  }
}
