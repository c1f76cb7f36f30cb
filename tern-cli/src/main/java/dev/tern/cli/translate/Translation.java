package dev.tern.cli.translate;

import dev.tern.base.Shown;
import dev.tern.cli.config.Config;
import dev.tern.cli.config.ConfigException;
import java.util.ArrayList;
import java.util.List;

/**
 * A configuration of another tool as one of Tern's.
 *
 * @param source what was translated, in words
 * @param yaml the configuration
 */
record Translation(String source, String yaml, TranslationNotes notes) {
  private static final String LEFT = "not translated:";
  private static final String CHANGED = "translated, but not the same:";

  /** The configuration under comments that say what it lacks. */
  String text() {
    StringBuilder out = new StringBuilder("# Made by tern config from, of ");
    out.append(Shown.line(source)).append(".\n");
    lines(out, LEFT, notes.left());
    lines(out, CHANGED, notes.changed());
    return out.append(yaml).toString();
  }

  private static void lines(StringBuilder out, String title, List<String> lines) {
    if (!lines.isEmpty()) {
      out.append("# ").append(title).append('\n');
      lines.forEach(line -> out.append("#   ").append(line).append('\n'));
    }
  }

  /** What is not translated or not the same, a line each. */
  List<String> lines() {
    List<String> all = new ArrayList<>();
    notes.left().forEach(line -> all.add("not translated: " + line));
    notes.changed().forEach(line -> all.add("not the same: " + line));
    return all;
  }

  /**
   * Checks that Tern reads it.
   *
   * @throws ConfigException if it does not
   */
  void requireReadable() {
    try {
      Config.parse(text(), "translation", List.of());
    } catch (ConfigException e) {
      throw new ConfigException(
          "config from: got settings of %s that Tern refuses together (%s), expected such that it takes; change them in a copy and translate that"
              .formatted(source, e.getMessage()),
          e);
    }
  }
}
