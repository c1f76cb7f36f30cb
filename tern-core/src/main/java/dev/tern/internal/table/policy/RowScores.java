package dev.tern.internal.table.policy;

import dev.tern.embedding.config.Eviction;
import dev.tern.internal.table.rows.Powers;

/**
 * Scores of rows by {@link Eviction.LowScore}. For example, with a decay of 0.5 and weights of 1, a
 * row of score 4 that is seen again at one position two steps later has {@code 4 * 0.5^2 + 1 = 2}.
 */
final class RowScores {
  /** No score is so large that the weight of one position is lost when it is added. */
  private static final float MOST = 1 << 23;

  private final Eviction.LowScore rule;
  private final Powers decays;
  private final float most;

  RowScores(Eviction.LowScore rule) {
    this.rule = rule;
    decays = new Powers(rule.decay());
    most = MOST * Math.min(rule.showWeight(), rule.clickWeight());
  }

  /**
   * The score of a row that had {@code score} {@code steps} steps ago and is seen now.
   *
   * @param positions positions that hold its id
   * @param clicks how many of these are in clicked samples
   */
  float seen(float score, int steps, int positions, int clicks) {
    double weight =
        (double) rule.showWeight() * (positions - clicks) + (double) rule.clickWeight() * clicks;
    return (float) Math.min(most, score * decays.of(steps) + weight);
  }

  /** Steps, 1 or more, until {@code score} decays below the least score. */
  long lasts(float score) {
    double steps = StrictMath.log(rule.least() / (double) score) / StrictMath.log(rule.decay());
    return Math.max(1, (long) StrictMath.floor(steps) + 1);
  }

  /** Whether a row can have this score: from positions, or the 1 that an import gives. */
  boolean isScore(float score) {
    return score >= Math.min(1, Math.min(rule.showWeight(), rule.clickWeight())) && score <= most;
  }
}
