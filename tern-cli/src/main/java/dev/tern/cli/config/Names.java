package dev.tern.cli.config;

import dev.tern.base.Shown;
import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/** Finds what a misspelt name may have meant. */
public final class Names {
  private Names() {}

  /** {@code text} as a message shows it: on one line, and of a long one only the beginning. */
  static String excerpt(String text) {
    int most = 80;
    String start = text.length() <= most ? text : text.substring(0, most);
    String line = Shown.line(start.replaceAll("\\p{Cntrl}+", " "));
    return text.length() <= most ? line : "%s... (%,d characters)".formatted(line, text.length());
  }

  /**
   * The nearest of {@code candidates}, or empty where none is near: more than 1 edit in 3 letters,
   * but 2 are always near. To a text of over 1000 letters none is.
   */
  public static Optional<String> nearest(String name, Collection<String> candidates) {
    return nearest(name, candidates, Math.max(2, name.length() / 3));
  }

  /** The nearest of {@code candidates} that is at most {@code limit} edits away. */
  static Optional<String> nearest(String name, Collection<String> candidates, int limit) {
    if (name.length() > 1000) {
      return Optional.empty();
    }
    return candidates.stream()
        .filter(candidate ->
            edits(name, candidate) <= limit && edits(name, candidate) < candidate.length())
        .min(
            Comparator.<String>comparingInt(candidate -> edits(name, candidate))
                .thenComparing(Comparator.naturalOrder()));
  }

  /**
   * Edits from {@code a} to {@code b}: letters added, removed, replaced, or two neighbours swapped
   * (optimal string alignment distance).
   */
  static int edits(String a, String b) {
    int[][] d = new int[a.length() + 1][b.length() + 1];
    for (int i = 0; i <= a.length(); i++) {
      for (int j = 0; j <= b.length(); j++) {
        if (i == 0 || j == 0) {
          d[i][j] = i + j;
          continue;
        }
        boolean same = a.charAt(i - 1) == b.charAt(j - 1);
        d[i][j] =
            Math.min(Math.min(d[i - 1][j], d[i][j - 1]) + 1, d[i - 1][j - 1] + (same ? 0 : 1));
        if (i > 1
            && j > 1
            && a.charAt(i - 1) == b.charAt(j - 2)
            && a.charAt(i - 2) == b.charAt(j - 1)) {
          d[i][j] = Math.min(d[i][j], d[i - 2][j - 2] + 1);
        }
      }
    }
    return d[a.length()][b.length()];
  }
}
