package dev.tern.cli.translate;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * The groups of features that a model of EasyRec reads.
 *
 * @param features their names by group, in order
 * @param wide features that a group of the wide part has
 * @param deep features that a group of the deep part has
 * @param targets for sequences the feature that they are compared with
 */
record EasyRecGroups(
    Map<String, Set<String>> features,
    Set<String> wide,
    Set<String> deep,
    Map<String, String> targets) {
  static EasyRecGroups of(Section model) {
    EasyRecGroups groups =
        new EasyRecGroups(
            new LinkedHashMap<>(), new TreeSet<>(), new TreeSet<>(), new LinkedHashMap<>());
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
    for (Section map : group.sections("seq_att_map")) {
      List<Setting.Text> keys = map.texts("key");
      List<Setting.Text> sequences = map.texts("hist_seq");
      for (int i = 0; i < sequences.size(); i++) {
        features.computeIfAbsent("", _ -> new LinkedHashSet<>()).add(sequences.get(i).text());
        if (i < keys.size()) {
          targets.put(sequences.get(i).text(), keys.get(i).text());
        }
      }
    }
  }

  /** Whether the model reads a feature; any where no group names one. */
  boolean reads(String feature) {
    return features.isEmpty() || features.values().stream().anyMatch(of -> of.contains(feature));
  }
}
