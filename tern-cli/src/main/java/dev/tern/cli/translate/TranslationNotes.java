package dev.tern.cli.translate;

import dev.tern.base.Shown;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** What a translation has to say about single settings. */
final class TranslationNotes {
  private final Set<Note> notes = new LinkedHashSet<>();

  /**
   * A note.
   *
   * @param left whether the setting is not translated; else it means something else now
   */
  private record Note(Place place, String setting, String reason, boolean left) {
    String line() {
      return place + ": " + setting + ": " + reason;
    }
  }

  /** The setting of {@code path} is not translated. */
  void left(String path, Setting value, String reason) {
    add(path, value, reason, true);
  }

  /** The setting of {@code path} is translated, and means something else now. */
  void changed(String path, Setting value, String reason) {
    add(path, value, reason, false);
  }

  private void add(String path, Setting value, String reason, boolean left) {
    String setting = Shown.line(path) + ": " + value.shown();
    notes.add(new Note(value.place(), setting, Shown.line(reason), left));
  }

  /** A line for each setting that is not translated, in the order of the files. */
  List<String> left() {
    return lines(true);
  }

  /** A line for each setting that means something else now. */
  List<String> changed() {
    return lines(false);
  }

  private List<String> lines(boolean left) {
    return notes.stream()
        .filter(note -> note.left == left)
        .sorted(
            Comparator.comparing((Note note) -> note.place.file())
                .thenComparingInt(note -> note.place.line()))
        .map(Note::line)
        .toList();
  }
}
