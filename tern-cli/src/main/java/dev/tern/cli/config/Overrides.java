package dev.tern.cli.config;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/** Puts {@code --set path=value} over what a file says. */
final class Overrides {
  private static final String COLUMNS = "columns";

  private Overrides() {}

  /**
   * Applies one override. A key of a group without an index is set in all groups; the columns of
   * the index behind the last begin another group. A list is written with commas, or as YAML in
   * brackets; all other values are taken as they stand.
   */
  static void apply(String override, Map<String, Raw> written) {
    Raw.Source source = source(override);
    Key<?> key = key(override);
    int equals = override.indexOf('=');
    String path = override.substring(0, equals).strip();
    String text = override.substring(equals + 1).strip();
    Raw value = key.kind().list() ? list(text, source) : new Raw.Scalar(text, source);
    targets(key, path, written, source).forEach(target -> written.put(target, value));
  }

  private static Raw.Source source(String override) {
    return new Raw.Source("--set " + Names.excerpt(override), true);
  }

  /** The key that an override is of. */
  static Key<?> key(String override) {
    Raw.Source source = source(override);
    int equals = override.indexOf('=');
    if (equals < 1) {
      throw new ConfigException(
          source.text()
              + ": got no key and value, expected key=value; write it as in --set"
              + " train.batch=1024");
    }
    String path = override.substring(0, equals).strip();
    if (Keys.isSection(path)) {
      throw new ConfigException(
          source.text()
              + ": got the section "
              + path
              + ", expected one of its keys; "
              + Keys.members(Keys.plain(path)));
    }
    return Keys.find(path)
        .orElseThrow(() ->
            new ConfigException(
                source.text()
                    + ": got the unknown key "
                    + Names.excerpt(path)
                    + "; "
                    + Keys.advice(path)));
  }

  private static Raw list(String text, Raw.Source source) {
    if (text.startsWith("[")) {
      return switch (YamlFile.read("data: {columns: " + text + "}", source.text())
          .get("data.columns")) {
        case Raw.Sequence(List<Raw.Scalar> items, Raw.Source _) -> new Raw.Sequence(items, source);
        case null, default -> new Raw.Scalar(text, source);
      };
    }
    List<String> items = text.isEmpty() ? List.of() : Arrays.asList(text.split("\\s*,\\s*", -1));
    return new Raw.Sequence(
        items.stream().map(item -> new Raw.Scalar(item, source)).toList(), source);
  }

  private static List<String> targets(
      Key<?> key, String path, Map<String, Raw> written, Raw.Source source) {
    Optional<String> section = Keys.groupsOf(key);
    if (section.isEmpty()) {
      if (!path.equals(key.path())) {
        throw new ConfigException(
            source.text()
                + ": got an index, expected none, for "
                + key.section()
                + " is no list; give "
                + key.path());
      }
      return List.of(path);
    }
    int there = Settings.groups(section.get(), written);
    if (key.name().equals(COLUMNS) && path.equals(Settings.path(key, there))) {
      return List.of(path);
    }
    int groups = Math.max(1, there);
    List<String> all = IntStream.range(0, groups).mapToObj(i -> Settings.path(key, i)).toList();
    if (path.equals(key.path())) {
      return all;
    }
    if (!all.contains(path)) {
      throw new ConfigException(
          source.text()
              + ": got "
              + path
              + ", expected an index from 0 to "
              + (groups - 1)
              + ", as the file has "
              + groups
              + " in "
              + section.get()
              + "; give one of them, none for all, or another group's "
              + Settings.path(Keys.find(section.get() + "." + COLUMNS).orElseThrow(), groups)
              + " first");
    }
    return List.of(path);
  }
}
