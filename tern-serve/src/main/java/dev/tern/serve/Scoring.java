package dev.tern.serve;

import dev.tern.data.Batch;
import java.util.Arrays;

/** The scores of the rows of a request, and which of them are answered. One thread at a time. */
final class Scoring {
  private static final long INDEX = 0xFFFFFFFFL;

  private int tasks;
  private int count;
  private boolean ranked;
  private float[] probabilities = new float[64];
  private float[] logits = new float[64];
  private long[] order = new long[64];
  private int[] selected = new int[64];

  /**
   * Scores all rows.
   *
   * @param top how many rows are answered, by falling prediction of the first task; 0 for all, in
   *     their order
   * @param logit whether logits are wanted
   */
  void run(ServedVersion version, Batch rows, int top, boolean logit) {
    tasks = version.tasks().size();
    int size = rows.size() * tasks;
    if (probabilities.length < size) {
      probabilities = new float[size];
    }
    version.score(rows, probabilities);
    if (logit) {
      if (logits.length < size) {
        logits = new float[size];
      }
      version.logits(rows, logits);
    }
    count = rows.size();
    ranked = top > 0;
    if (ranked) {
      rank(rows.size());
      count = Math.min(top, rows.size());
    }
  }

  /** Orders rows by falling prediction; of equal ones the first comes first, NaN last. */
  private void rank(int rows) {
    if (order.length < rows) {
      order = new long[rows];
      selected = new int[rows];
    }
    for (int row = 0; row < rows; row++) {
      float score = probabilities[row * tasks];
      int bits = Float.floatToIntBits(Float.isNaN(score) ? Float.NEGATIVE_INFINITY : score + 0f);
      int ascending = bits ^ bits >> 31 & Integer.MAX_VALUE;
      order[row] = (long) ~ascending << 32 | row;
    }
    Arrays.sort(order, 0, rows);
    for (int i = 0; i < rows; i++) {
      selected[i] = (int) (order[i] & INDEX);
    }
  }

  /** Rows that are answered. */
  int count() {
    return count;
  }

  /** The row that is answered at a place. */
  int row(int place) {
    return ranked ? selected[place] : place;
  }

  int tasks() {
    return tasks;
  }

  /** What a task predicts of the row at a place. */
  float probability(int place, int task) {
    return probabilities[row(place) * tasks + task];
  }

  float logit(int place, int task) {
    return logits[row(place) * tasks + task];
  }

  /** The predictions of all rows. */
  float[] probabilities() {
    return probabilities;
  }
}
