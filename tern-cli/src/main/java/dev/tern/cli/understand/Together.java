package dev.tern.cli.understand;

import dev.tern.cli.config.ConfigException;
import dev.tern.cli.config.Names;
import dev.tern.data.ColumnPart;
import dev.tern.data.Schema;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Columns that are shuffled as one.
 *
 * @param groups names of columns, joined by commas
 */
record Together(List<String> groups) {
  /** The parts of rows that stand alone, then each group under the names of its columns. */
  List<ColumnPart> parts(Schema schema) {
    Map<String, ColumnPart> byName = new LinkedHashMap<>();
    ColumnPart.of(schema).forEach(part -> byName.put(part.name(), part));
    Set<String> taken = new HashSet<>();
    Map<String, ColumnPart> joined = new LinkedHashMap<>(byName);
    for (String group : groups) {
      List<String> names = List.of(group.split("\\s*,\\s*", -1));
      if (names.size() < 2) {
        throw wrong(group, "two columns or more, joined by commas");
      }
      Optional<ColumnPart> all = Optional.empty();
      for (String name : names) {
        ColumnPart part = part(group, name, byName, schema);
        if (!taken.add(part.name())) {
          throw wrong(group, "each column once, got " + name + " again");
        }
        all = Optional.of(all.map(before -> before.with(part)).orElse(part));
        joined.remove(part.name());
      }
      String name = String.join(" + ", names);
      joined.put(name, all.orElseThrow().named(name));
    }
    return new ArrayList<>(joined.values());
  }

  /** By its name, or that of a column in it. */
  private static ColumnPart part(
      String group, String name, Map<String, ColumnPart> byName, Schema schema) {
    int slot = schema.slotNames().indexOf(name);
    Optional<ColumnPart> own = Optional.ofNullable(byName.get(name));
    return own.or(
            () -> byName.values().stream().filter(part -> part.slots().contains(slot)).findFirst())
        .orElseThrow(() -> {
          String near =
              Names.nearest(name, new ArrayList<>(byName.keySet()))
                  .map(other -> "; did you mean " + other + "?")
                  .orElse("; the model has " + String.join(", ", byName.keySet()));
          return wrong(group, "columns of the model, got " + name + near);
        });
  }

  private static ConfigException wrong(String group, String expected) {
    return new ConfigException(
        "--together: got "
            + (group.isEmpty() ? "nothing" : group)
            + ", expected "
            + expected
            + (expected.contains(";") || expected.contains("?") ? "" : "; mend it"));
  }
}
