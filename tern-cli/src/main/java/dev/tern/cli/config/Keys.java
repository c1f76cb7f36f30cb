package dev.tern.cli.config;

import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * All configuration keys. {@link DataKeys}, {@link ModelKeys} and {@link TrainKeys} declare them; a
 * key with a condition stands after the key that it depends on. Unknown names get the key as advice
 * that {@link NearKeys} finds.
 *
 * <p>The sections {@link #GROUPS} may hold a list: {@code data.sparse[1].encode} is the key {@code
 * data.sparse.encode} of the second group.
 */
final class Keys {
  private static final Key.Section RUN = new Key.Section();
  static final Key<Path> DIR =
      RUN.required(
              "run.dir",
              new Kind.File("a path"),
              "Folder of the run: configuration, metrics, checkpoints, report.")
          .mayChange();

  /** All keys, in the order they are read and written. */
  static final List<Key<?>> ALL =
      Stream.of(DataKeys.all(), ModelKeys.all(), RUN.keys(), TrainKeys.all())
          .flatMap(List::stream)
          .toList();

  /** Sections that may hold a list of groups. */
  static final List<String> GROUPS =
      List.of("data.labels", "data.dense", "data.sparse", "model.tables");

  private static final Set<String> SECTIONS = sections();
  private static final Pattern INDEX = Pattern.compile("\\[\\d+]");

  private Keys() {}

  /** The key of {@code path}, where indices of groups are ignored. */
  static Optional<Key<?>> find(String path) {
    String plain = plain(path);
    return ALL.stream().filter(key -> key.path().equals(plain)).findFirst();
  }

  /** The section of groups in which a key stands. */
  static Optional<String> groupsOf(Key<?> key) {
    return GROUPS.stream().filter(section -> key.path().startsWith(section + ".")).findFirst();
  }

  /** Whether {@code path} names a section. */
  static boolean isSection(String path) {
    return SECTIONS.contains(plain(path));
  }

  /** {@code path} without the indices of groups. */
  static String plain(String path) {
    return INDEX.matcher(path).replaceAll("");
  }

  /**
   * Advice about {@code path}, which is neither a key nor a section: the nearest name, or the names
   * that could stand there.
   */
  static String advice(String path) {
    String plain = plain(path);
    Optional<String> near = NearKeys.of(plain, names());
    if (near.isPresent()) {
      return "did you mean " + near.get() + "?";
    }
    return members(plain.contains(".") ? plain.substring(0, plain.lastIndexOf('.')) : "");
  }

  /** "use one of" and what stands in {@code section}. */
  static String members(String section) {
    String prefix = section.isEmpty() ? "" : section + ".";
    Set<String> here = new TreeSet<>();
    for (String name : names()) {
      if (name.startsWith(prefix)) {
        here.add(name.substring(prefix.length()).split("\\.", 2)[0]);
      }
    }
    return "use one of " + String.join(", ", here);
  }

  /** All keys and sections. */
  static Set<String> names() {
    Set<String> names = new LinkedHashSet<>(SECTIONS);
    ALL.forEach(key -> names.add(key.path()));
    return names;
  }

  private static Set<String> sections() {
    Set<String> sections = new LinkedHashSet<>();
    for (Key<?> key : ALL) {
      for (int dot = key.path().indexOf('.'); dot >= 0; dot = key.path().indexOf('.', dot + 1)) {
        sections.add(key.path().substring(0, dot));
      }
    }
    return sections;
  }
}
