package dev.tern.internal.table.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.embedding.config.Admission;
import dev.tern.embedding.config.Eviction;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Scores that rows have where those with a low one go, and what a click counts. */
final class RowScoresTest {
  @Test
  void aRowNeverGoesEarlierForBeingSeen() {
    SplittableRandom random = new SplittableRandom(3);
    for (int i = 0; i < 200_000; i++) {
      float show = (float) Math.pow(10, random.nextDouble(-2.9, 2.9));
      float click = (float) Math.pow(10, random.nextDouble(-2.9, 2.9));
      double decay = 1 - Math.pow(10, random.nextDouble(-6, -0.3));
      var rule = new Eviction.LowScore(decay, 1e-3f * show, show, click);
      RowScores low = new RowScores(rule);
      float most = low.seen(Float.MAX_VALUE, 0, 0, 0);
      double least = Math.min(show, click);
      float score = (float) Math.min(most, least * Math.pow(2, random.nextDouble(0, 40)));
      int unseen = random.nextInt(20);
      int clicks = random.nextInt(2);
      float more = low.seen(score, unseen, 1, clicks);
      assertThat(unseen + low.lasts(more))
          .as("%s, score %s, unseen %d", rule, score, unseen)
          .isGreaterThanOrEqualTo(low.lasts(score));
      assertThat(low.isScore(more)).isTrue();
    }
  }

  @Test
  void aScoreLastsUntilAStepLeavesItBelowTheLeast() {
    RowScores low = new RowScores(new Eviction.LowScore(0.5, 1));
    assertThat(low.lasts(4)).isEqualTo(3); // 2, 1, then 0.5
    assertThat(low.lasts(Math.nextDown(4f))).isEqualTo(2);
    assertThat(low.lasts(Math.nextUp(4f))).isEqualTo(3);
    assertThat(low.lasts(1)).isEqualTo(1);
    assertThat(low.lasts(0.25f)).isEqualTo(1);
  }

  @Test
  void aScoreIsThatOfAPositionOrOfAnImportOrMoreUpToTheLargest() {
    RowScores light = new RowScores(new Eviction.LowScore(0.5, 1, 0.25f, 4));
    assertThat(light.isScore(0.25f)).isTrue();
    assertThat(light.isScore(Math.nextDown(0.25f))).isFalse();
    RowScores heavy = new RowScores(new Eviction.LowScore(0.5, 1, 4, 2));
    assertThat(heavy.isScore(1)).as("of an import").isTrue();
    assertThat(heavy.isScore(Math.nextDown(1f))).isFalse();
    float most = 2 * (1 << 23);
    assertThat(heavy.seen(Float.MAX_VALUE, 0, 1, 0)).isEqualTo(most);
    assertThat(heavy.isScore(most)).isTrue();
    assertThat(heavy.isScore(Math.nextUp(most))).isFalse();
    assertThat(heavy.isScore(Float.NaN)).isFalse();
  }

  @Test
  void weightsOfManyClicksEndAtTheLargestNumber() {
    assertThat(RowAdmission.weight(new Admission.ByCount(128, 9, 128), 1 << 27, 1 << 27))
        .isEqualTo(Integer.MAX_VALUE);
  }
}
