package dev.tern.cli.translate;

import dev.tern.cli.config.YamlText;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** A configuration of Tern's that is put together key by key. */
final class RunYaml {
  private static final List<String> SECTIONS = List.of("data", "model", "run", "train");

  /** Values by path, each as YAML. */
  private final Map<String, String> values = new LinkedHashMap<>();

  /** Groups of columns by section. */
  private final Map<String, List<Group>> groups = new LinkedHashMap<>();

  /** Columns with the same keys beside them. */
  private record Group(List<String> columns, Map<String, String> keys) {
    String yaml() {
      StringBuilder out = new StringBuilder("{columns: ").append(names(columns));
      keys.forEach((key, value) -> out.append(", ").append(key).append(": ").append(value));
      return out.append('}').toString();
    }
  }

  /** Sets a key to a value that is YAML. */
  void set(String path, String yaml) {
    values.put(path, yaml);
  }

  void set(String path, long value) {
    set(path, Long.toString(value));
  }

  void set(String path, double value) {
    set(path, number(value));
  }

  /** Sets a key to a text. */
  void text(String path, String text) {
    set(path, YamlText.quote(text));
  }

  /** The keys of a section with their values. */
  Map<String, String> section(String path) {
    Map<String, String> keys = new LinkedHashMap<>();
    values.forEach((key, value) -> {
      if (key.startsWith(path + ".")) {
        keys.put(key.substring(path.length() + 1), value);
      }
    });
    return keys;
  }

  Optional<String> get(String path) {
    return Optional.ofNullable(values.get(path));
  }

  /**
   * Adds a column to the group of {@code section} that has the same keys.
   *
   * @param section as in {@code data.sparse}
   * @param keys beside the column, each with its value as YAML
   */
  void column(String section, String column, Map<String, String> keys) {
    List<Group> all = groups.computeIfAbsent(section, _ -> new ArrayList<>());
    Optional<Group> same = all.stream().filter(group -> group.keys.equals(keys)).findFirst();
    if (same.isPresent()) {
      same.get().columns.add(column);
    } else {
      all.add(new Group(new ArrayList<>(List.of(column)), new LinkedHashMap<>(keys)));
    }
  }

  /** The columns of a section of groups. */
  List<String> columns(String section) {
    return groups.getOrDefault(section, List.of()).stream()
        .flatMap(group -> group.columns.stream())
        .toList();
  }

  /** The keys beside a column. */
  Map<String, String> keys(String section, String column) {
    return groups.getOrDefault(section, List.of()).stream()
        .filter(group -> group.columns.contains(column))
        .map(Group::keys)
        .findFirst()
        .orElse(Map.of());
  }

  /** The columns that have an embedding table of their own. */
  List<String> tables() {
    Set<String> tables = new TreeSet<>();
    for (Group group : groups.getOrDefault("data.sparse", List.of())) {
      if (!group.keys.containsKey("table")) {
        tables.addAll(group.columns);
      }
    }
    for (Group group : groups.getOrDefault("data.dense", List.of())) {
      if (group.keys.containsKey("vector")) {
        tables.addAll(group.columns);
      }
    }
    return List.copyOf(tables);
  }

  /** Names as a list of YAML. */
  static String names(List<String> names) {
    return names.stream().map(YamlText::quote).collect(Collectors.joining(", ", "[", "]"));
  }

  /** A number as YAML. */
  static String number(double value) {
    BigDecimal decimal = BigDecimal.valueOf(value).stripTrailingZeros();
    boolean plain = value == 0 || Math.abs(value) >= 1e-4 && Math.abs(value) < 1e7;
    return plain ? decimal.toPlainString() : decimal.toString().toLowerCase(Locale.ROOT);
  }

  /** The text of the configuration. */
  String yaml() {
    StringBuilder out = new StringBuilder();
    for (String section : SECTIONS) {
      out.append(section).append(":\n");
      Set<String> done = new TreeSet<>();
      for (String path : values.keySet()) {
        if (path.startsWith(section + ".") && done.add(child(section, path))) {
          String child = child(section, path);
          out.append("  ").append(child).append(": ");
          out.append(flow(section + "." + child)).append('\n');
        }
      }
      groups.forEach((path, all) -> {
        if (path.startsWith(section + ".")) {
          out.append("  ").append(child(section, path)).append(":\n");
          all.forEach(group -> out.append("    - ").append(group.yaml()).append('\n'));
        }
      });
    }
    return out.toString();
  }

  private static String child(String section, String path) {
    return path.substring(section.length() + 1).split("\\.", 2)[0];
  }

  /** What stands at a path on one line: its value, or the keys below it in braces. */
  private String flow(String path) {
    String value = values.get(path);
    if (value != null) {
      return value;
    }
    Set<String> children = new LinkedHashSet<>();
    for (String each : values.keySet()) {
      if (each.startsWith(path + ".")) {
        children.add(child(path, each));
      }
    }
    return children.stream()
        .map(child -> child + ": " + flow(path + "." + child))
        .collect(Collectors.joining(", ", "{", "}"));
  }
}
