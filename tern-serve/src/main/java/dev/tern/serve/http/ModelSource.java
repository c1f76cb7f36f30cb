package dev.tern.serve.http;

import dev.tern.predict.Candidates;
import dev.tern.predict.ScoreOptions;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Pattern;

/**
 * A model to serve.
 *
 * @param name what requests call it: 1 to 64 of {@code A-Z a-z 0-9 . _ -}
 * @param label what tells it from others of the same name, as {@code canary}; the first of a name
 *     is answered where a request names neither label nor version
 * @param path a checkpoint, or the folder of a run
 * @param follow which checkpoints of a run take the place of the one served
 * @param scoring how it computes
 * @param candidates reads the items that a model of two towers finds the best of, if it is to
 * @param memory the most bytes outside the heap; where it has none of its own, {@link
 *     ServeOptions#memory}
 */
public record ModelSource(
    String name,
    String label,
    Path path,
    Follow follow,
    ScoreOptions scoring,
    Optional<Candidates.Source> candidates,
    OptionalLong memory) {
  /** The label of a model that is given none. */
  public static final String STABLE = "stable";

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,64}");

  /** Which checkpoints of a run are served. */
  public enum Follow {
    /** The newest one, as training writes them. */
    LATEST,
    /** The best one by its evaluation. */
    BEST,
    /** The one found at the start. */
    NONE
  }

  /** Checks name, label and memory. */
  public ModelSource {
    requireName("model", name);
    requireName("label", label);
    memory.ifPresent(ServeOptions::requireMemory);
  }

  /** A model that finds no items. */
  public ModelSource(String name, String label, Path path, Follow follow, ScoreOptions scoring) {
    this(name, label, path, follow, scoring, Optional.empty(), OptionalLong.empty());
  }

  /** The same with a limit of its own. */
  public ModelSource withMemory(long bytes) {
    return new ModelSource(name, label, path, follow, scoring, candidates, OptionalLong.of(bytes));
  }

  /** Whether {@code text} may be the name of a model. */
  static boolean isName(String text) {
    return NAME.matcher(text).matches() && !text.equals(".") && !text.equals("..");
  }

  private static void requireName(String what, String text) {
    if (!isName(text)) {
      throw new IllegalArgumentException(
          "%s: got %s, expected 1 to 64 of A-Z a-z 0-9 . _ -; name it as in census=%s"
              .formatted(what, text, "runs/census"));
    }
  }
}
