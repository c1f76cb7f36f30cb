package dev.tern.cli.config;

import dev.tern.embedding.config.Eviction;
import java.time.Duration;

/** The keys of a section that says which rows go. */
final class EvictionKeys {
  private final String section;
  private final Key.Section keys;
  private final Key<String> type;
  private final Key<Long> steps;
  private final Key<Duration> time;
  private final Key<Double> norm;
  private final Key<Double> decay;
  private final Key<Double> score;
  private final Key<Double> showWeight;
  private final Key<Double> clickWeight;

  EvictionKeys(Key.Section keys, String section) {
    this.keys = keys;
    this.section = section;
    Kind<String> types =
        Kind.Choice.of(
            "never",
            "unseen",
            "unseen-for",
            "small-norm",
            "low-score",
            "least-recent",
            "least-frequent");
    String which =
        "Which rows go: those unseen for some steps, or for a time by the clock, those unseen for"
            + " some steps that are small, those with a low score, or, where a table is full, the"
            + " least recent or least frequent.";
    type = keys.key(section + ".type", types, "never", which);
    Kind<Long> someSteps = new Kind.Whole(1, 1L << 30);
    String unseen = "Steps that a row must be unseen.";
    steps = add("steps", someSteps, 100_000L, unseen, "unseen", "small-norm");
    String age =
        "Time that a row must be unseen, that between a run and its resumption included. Runs are"
            + " alike only with the same times.";
    time = add("time", new Kind.Time(), Duration.ofDays(30), age, "unseen-for");
    Kind<Double> positive = new Kind.Real(1e-9, 1e9);
    String small = "L2 norm of its weights below which it goes.";
    norm = add("norm", positive, 0.01, small, "small-norm");
    Kind<Double> share = new Kind.Real(1e-6, 1 - 1e-6);
    String less = "By what the score of a row, the times it was met, is multiplied in each step.";
    decay = add("decay", share, 0.9999, less, "low-score");
    score = add("score", positive, 0.1, "Score below which it goes.", "low-score");
    Kind<Double> weight = new Kind.Real(1e-3, 1e3);
    String shown = "What it adds to the score that an id is met in a row of label 0.";
    showWeight = add("show_weight", weight, 1.0, shown, "low-score");
    String clicked =
        "What it adds to the score that an id is met in a clicked row, one of label 1.";
    clickWeight = add("click_weight", weight, 1.0, clicked, "low-score");
  }

  private <T> Key<T> add(String name, Kind<T> kind, T fallback, String doc, String... types) {
    return keys.key(section + "." + name, kind, fallback, doc).when(type, types);
  }

  Key<String> type() {
    return type;
  }

  /** Whether rows go only where a table has a limit. */
  boolean needsLimit(Settings.Group group) {
    return group.get(type).startsWith("least");
  }

  Eviction read(Settings.Group group) {
    return switch (group.get(type)) {
      case "unseen" -> new Eviction.Unseen(group.get(steps));
      case "unseen-for" -> new Eviction.UnseenFor(group.get(time));
      case "small-norm" -> new Eviction.SmallNorm(group.get(norm).floatValue(), group.get(steps));
      case "low-score" ->
          new Eviction.LowScore(
              group.get(decay),
              group.get(score).floatValue(),
              group.get(showWeight).floatValue(),
              group.get(clickWeight).floatValue());
      case "least-recent" -> new Eviction.LeastRecent();
      case "least-frequent" -> new Eviction.LeastFrequent();
      default -> new Eviction.Never();
    };
  }
}
