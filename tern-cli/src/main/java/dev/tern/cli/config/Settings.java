package dev.tern.cli.config;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * The values of all keys that apply: from the file, then overrides, then defaults; each read by its
 * key's kind.
 */
final class Settings {
  private static final Pattern GROUP = Pattern.compile("(.+)\\[(\\d+)](\\..+)");

  private final String name;
  private final Map<String, Raw> written;
  private final Absent absent;
  private final Map<String, Object> values = new LinkedHashMap<>();

  private Settings(String name, Map<String, Raw> written, Absent absent) {
    this.name = name;
    this.written = written;
    this.absent = absent;
  }

  /** What a key means that is not written. */
  sealed interface Absent {
    /** Its default: the configuration of a user. */
    record Default() implements Absent {}

    /** What it was {@link Key#before}: the configuration that an earlier run wrote. */
    record Before() implements Absent {}

    /**
     * The value of the run that goes on, for a key that has not always meant its default: the
     * configuration of a user for that run.
     */
    record Earlier(Settings run) implements Absent {}
  }

  /**
   * Resolves a configuration.
   *
   * @param name the file's name for messages
   * @param file values by path, as {@link YamlFile#read} gives them
   * @param overrides {@code path=value} each, applied in order
   */
  static Settings resolve(String name, Map<String, Raw> file, List<String> overrides) {
    return resolve(name, file, overrides, Keys.ALL, new Absent.Default());
  }

  /**
   * Resolves only {@code keys}, as if there were no others.
   *
   * @param absent what keys mean that are not written
   */
  static Settings resolve(
      String name,
      Map<String, Raw> file,
      List<String> overrides,
      List<Key<?>> keys,
      Absent absent) {
    Map<String, Raw> written = new LinkedHashMap<>(file);
    overrides.forEach(override -> Overrides.apply(override, written));
    Settings settings = new Settings(name, written, absent);
    for (Key<?> key : keys) {
      for (String path : settings.paths(key)) {
        settings.resolve(key, path);
      }
    }
    return settings;
  }

  /** The value of a key that stands in no group; its default where the key does not apply. */
  <T> T get(Key<T> key) {
    return value(key, key.path());
  }

  /** The value of a key in group {@code index} of its section. */
  <T> T get(Key<T> key, int index) {
    return value(key, path(key, index));
  }

  /** The path of a key in group {@code index} of its section. */
  static String path(Key<?> key, int index) {
    String section = Keys.groupsOf(key).orElseThrow();
    return section + "[" + index + "]" + key.path().substring(section.length());
  }

  @SuppressWarnings("unchecked") // resolve() put what the key's own kind gave
  private <T> T value(Key<T> key, String path) {
    Object value = values.get(path);
    return value == null ? key.fallback().orElseThrow(() -> missing(key, path)) : (T) value;
  }

  /** The values of one group of a section, or of keys that stand in none. */
  record Group(Settings settings, OptionalInt index) {
    <T> T get(Key<T> key) {
      return index.isPresent() ? settings.get(key, index.getAsInt()) : settings.get(key);
    }

    /** Where the value of a key was written, for messages. */
    String where(Key<?> key) {
      return settings.where(path(key));
    }

    /** Whether a value of the key was written. */
    boolean states(Key<?> key) {
      return settings.written.containsKey(path(key));
    }

    private String path(Key<?> key) {
      return index.isPresent() ? Settings.path(key, index.getAsInt()) : key.path();
    }
  }

  /** Keys that stand in no group. */
  Group top() {
    return new Group(this, OptionalInt.empty());
  }

  /** The groups of a section, in order. */
  List<Group> all(String section) {
    return IntStream.range(0, groups(section))
        .mapToObj(i -> new Group(this, OptionalInt.of(i)))
        .toList();
  }

  /** Groups of a section that may hold a list. */
  int groups(String section) {
    return groups(section, written);
  }

  static int groups(String section, Map<String, Raw> written) {
    int groups = 0;
    for (String path : written.keySet()) {
      Matcher group = GROUP.matcher(path);
      if (group.matches() && group.group(1).equals(section)) {
        groups = Math.max(groups, Integer.parseInt(group.group(2)) + 1);
      }
    }
    return groups;
  }

  /** Where the value of {@code path} was written, for messages: the file alone for a default. */
  String where(String path) {
    Raw raw = written.get(path);
    return raw == null ? name : raw.source().text();
  }

  private List<String> paths(Key<?> key) {
    return Keys.groupsOf(key)
        .map(section -> IntStream.range(0, groups(section)).mapToObj(i -> path(key, i)).toList())
        .orElseGet(() -> List.of(key.path()));
  }

  private <T> void resolve(Key<T> key, String path) {
    Raw raw = written.get(path);
    if (!applies(key, path, Optional.ofNullable(raw))) {
      return;
    }
    T value;
    if (raw != null) {
      value = key.kind().read(raw).orElseThrow(() -> mismatch(key, path, raw));
    } else {
      value = unwritten(key, path).orElseThrow(() -> missing(key, path));
    }
    values.put(path, value);
  }

  private <T> Optional<T> unwritten(Key<T> key, String path) {
    Optional<T> earlier =
        switch (absent) {
          case Absent.Default _ -> Optional.empty();
          case Absent.Before _ -> key.earlier();
          case Absent.Earlier(Settings run) ->
              key.earlier().map(_ -> run).flatMap(r -> r.given(key, path));
        };
    return earlier.or(key::fallback);
  }

  @SuppressWarnings("unchecked") // resolve() put what the key's own kind gave
  private <T> Optional<T> given(Key<T> key, String path) {
    return Optional.ofNullable((T) values.get(path));
  }

  /**
   * Whether the key's condition holds. A value written for a key that does not apply is an error,
   * except where an override has changed the condition: {@code --set model.type=wdl} may leave
   * {@code model.cross_layers} behind.
   */
  private boolean applies(Key<?> key, String path, Optional<Raw> raw) {
    if (key.condition().isEmpty()) {
      return true;
    }
    Key.Condition condition = key.condition().get();
    String other =
        condition.path().startsWith(key.section() + ".")
            ? path.replaceAll("[^.]+$", "") + lastName(condition.path())
            : condition.path();
    String actual = String.valueOf(values.get(other));
    if (condition.values().contains(actual)) {
      return true;
    }
    Raw switched = written.get(other);
    boolean leftBehind =
        switched != null
            && switched.source().override()
            && raw.filter(r -> r.source().override()).isEmpty();
    if (raw.isPresent() && !leftBehind) {
      throw new ConfigException(
          raw.get().source().text()
              + ": got "
              + shown(path)
              + ", expected it only where "
              + condition.path()
              + " is "
              + String.join(" or ", condition.values())
              + ", but that is "
              + actual
              + "; remove it");
    }
    return false;
  }

  private static String lastName(String path) {
    return path.substring(path.lastIndexOf('.') + 1);
  }

  private <T> ConfigException mismatch(Key<T> key, String path, Raw raw) {
    String hint = "; change it, or see tern train --help-config";
    if (key.kind() instanceof Kind.Choice choice && raw instanceof Raw.Scalar scalar) {
      hint =
          Names.nearest(scalar.text(), choice.names())
              .map(near -> "; did you mean " + near + "?")
              .orElse(hint);
    }
    String got =
        switch (raw) {
          case Raw.Sequence(List<Raw.Scalar> items, Raw.Source _) when items.isEmpty() -> "nothing";
          case Raw.Sequence list -> "the list " + list.shown();
          case Raw.Scalar scalar -> scalar.shown();
        };
    return new ConfigException(
        raw.source().text()
            + ": "
            + shown(path)
            + ": got "
            + got
            + ", expected "
            + key.kind().expected()
            + hint);
  }

  private ConfigException missing(Key<?> key, String path) {
    return new ConfigException(
        name
            + ": got no "
            + shown(path)
            + ", expected "
            + key.kind().expected()
            + "; add it to the file or give --set "
            + shown(path)
            + "=VALUE");
  }

  /** A path as the user writes it: without an index where there is one group. */
  private String shown(String path) {
    Matcher group = GROUP.matcher(path);
    return group.matches() && groups(group.group(1)) == 1 ? group.group(1) + group.group(3) : path;
  }

  /** All values as YAML; reading it gives the same settings. */
  String toYaml() {
    StringBuilder out = new StringBuilder();
    section(out, "", "", "");
    return out.toString();
  }

  /**
   * Appends the keys and sections of {@code path}; the first line begins with {@code first}, all
   * others with {@code indent}.
   */
  private void section(StringBuilder out, String path, String first, String indent) {
    String prefix = path.isEmpty() ? "" : path + ".";
    Set<String> done = new HashSet<>();
    String start = first;
    for (String entry : values.keySet()) {
      if (!entry.startsWith(prefix)) {
        continue;
      }
      String name = entry.substring(prefix.length()).split("[.\\[]", 2)[0];
      if (done.add(name)) {
        out.append(start).append(name).append(':');
        member(out, prefix + name, indent);
        start = indent;
      }
    }
  }

  private void member(StringBuilder out, String path, String indent) {
    String deeper = indent + "  ";
    int groups = groups(path);
    if (values.containsKey(path)) {
      out.append(' ').append(write(Keys.find(path).orElseThrow(), path)).append('\n');
    } else if (groups == 1) {
      out.append('\n');
      section(out, path + "[0]", deeper, deeper);
    } else if (groups > 1) {
      out.append('\n');
      for (int i = 0; i < groups; i++) {
        section(out, path + "[" + i + "]", deeper + "- ", deeper + "  ");
      }
    } else {
      out.append('\n');
      section(out, path, deeper, deeper);
    }
  }

  private <T> String write(Key<T> key, String path) {
    return key.kind().write(value(key, path));
  }
}
