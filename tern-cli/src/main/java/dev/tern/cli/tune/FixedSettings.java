package dev.tern.cli.tune;

import dev.tern.cli.config.Config;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The settings that all trials of a search have in common, as text by their paths. Trials with
 * other ones could not be compared, so a search that goes on must have the same.
 */
record FixedSettings(Map<String, String> values) {
  /** Where a trial computes, how fast, and what it writes: nothing that its figure depends on. */
  private static final Set<String> FREE =
      Set.of(
          "run.dir",
          "data.threads",
          "data.largest_page",
          "train.device",
          "train.threads",
          "train.memory",
          "train.activation_memory",
          "train.plan_seconds",
          "train.table_memory",
          "train.checkpoint_every",
          "train.delta.steps",
          "train.delta.seconds",
          "train.delta.most",
          "train.log_every");

  FixedSettings {
    values = new TreeMap<>(values);
  }

  /**
   * What a trial's configuration has beside the keys that are searched.
   *
   * @param trial of the first trial that has one: which keys apply may depend on searched values
   */
  static FixedSettings of(List<Search> searches, Config trial) {
    Map<String, String> fixed = new TreeMap<>(trial.values());
    fixed.keySet().removeIf(path -> FREE.contains(path) || isSearched(path, searches));
    return new FixedSettings(fixed);
  }

  /** A search of a key without an index is of all groups that have it. */
  private static boolean isSearched(String path, List<Search> searches) {
    String plain = path.replaceAll("\\[\\d+]", "");
    return searches.stream()
        .map(Search::key)
        .anyMatch(key -> key.equals(path) || key.equals(plain));
  }

  /**
   * What differs from {@code before}, each as {@code key: VALUE, was VALUE}. A key that is missing
   * there was not known to the build that began the search.
   */
  List<String> changesFrom(FixedSettings before) {
    Map<String, String> then = new TreeMap<>(before.values);
    for (String path : values.keySet()) {
      if (!then.containsKey(path)) {
        Config.unknown(path).ifPresent(text -> then.put(path, text));
      }
    }
    return Config.changes(then, values);
  }
}
