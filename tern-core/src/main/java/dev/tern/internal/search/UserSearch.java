package dev.tern.internal.search;

import dev.tern.data.Batch;
import dev.tern.internal.runtime.DeviceAccess;
import dev.tern.model.Scorer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Finds the best items for users. One thread at a time; several searches may share one {@link
 * ItemSet}.
 */
public final class UserSearch implements AutoCloseable {
  private static final int[][] NOTHING = {};

  private final VectorTowers towers;
  private final int width;

  /** Users that scorers have room for, the last at most at once; a call takes the least that do. */
  private final int[] capacities;

  private final @Nullable Scorer[] scorers;
  private final Batch encoded;
  private final float[] vectors;
  private final ItemScores scores;

  /**
   * @param capacities users at a time, ascending
   */
  public UserSearch(VectorTowers towers, int... capacities) {
    this.towers = towers;
    this.capacities = capacities.clone();
    width = towers.width();
    int most = capacities[capacities.length - 1];
    scorers = new Scorer[capacities.length];
    scorers[capacities.length - 1] = towers.users(most);
    encoded = new Batch(towers.encoder().schema(), most);
    vectors = new float[most * width];
    scores =
        new ItemScores(
            DeviceAccess.allocator(towers.network().device()),
            towers.network().device().workers(),
            width,
            most);
  }

  /** Makes what calls of any number of users need. */
  public void prepare() {
    for (int capacity : capacities) {
      scorer(capacity);
    }
  }

  private Scorer scorer(int rows) {
    int fitting = 0;
    while (capacities[fitting] < rows) {
      fitting++;
    }
    Scorer scorer = scorers[fitting];
    if (scorer == null) {
      scorer = towers.users(capacities[fitting]);
      scorers[fitting] = scorer;
    }
    return scorer;
  }

  /**
   * The best items for each row, of which only columns of the user are read. Of equal scores the
   * item that was added first comes first.
   *
   * @param raw raw rows
   * @param found items of a row at most, {@code k}: 1 or more
   * @param items takes their numbers, {@code [B, k]}
   * @param values takes their scores, {@code [B, k]}
   */
  public void top(Batch raw, int found, ItemSet among, int[] items, float[] values) {
    top(raw, found, among, NOTHING, items, values);
  }

  /**
   * The same without some items.
   *
   * @param excluded of each row the numbers of items that are not found, ascending; none for rows
   *     beyond
   * @return of each row how many were found
   */
  public int[] top(
      Batch raw, int found, ItemSet among, int[][] excluded, int[] items, float[] values) {
    int[] counts = new int[raw.size()];
    int rows = capacities[capacities.length - 1];
    BestScores[] best = new BestScores[Math.min(rows, raw.size())];
    Arrays.setAll(best, _ -> new BestScores(found));
    for (int from = 0; from < raw.size(); from += rows) {
      int count = Math.min(rows, raw.size() - from);
      vectors(raw, from, from + count);
      for (int row = 0; row < count; row++) {
        boolean any = from + row < excluded.length;
        best[row].exclude(any ? excluded[from + row] : BestScores.NONE);
      }
      scores.compare(among.vectors(), vectors, count, best);
      for (int row = 0; row < count; row++) {
        counts[from + row] = best[row].drain(items, values, (from + row) * found);
      }
    }
    return counts;
  }

  private void vectors(Batch raw, int from, int to) {
    towers.encoder().apply(raw, from, to, encoded);
    scorer(to - from).logits(encoded, vectors, 0);
    ItemSet.requireNumbers(vectors, width, "user", from, to);
  }

  @Override
  public void close() {
    scores.close();
    for (Scorer scorer : scorers) {
      if (scorer != null) {
        scorer.close();
      }
    }
  }
}
