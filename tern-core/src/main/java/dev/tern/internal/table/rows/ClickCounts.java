package dev.tern.internal.table.rows;

import java.util.Arrays;

/**
 * At how many positions the distinct ids of a {@link RowLookup} stand in samples that were clicked,
 * which are those with a label of 1.
 */
public final class ClickCounts {
  private boolean counted;

  /** Per distinct id, once counted. */
  private int[] positions = new int[0];

  /** Nothing is known of the samples. */
  void clear() {
    counted = false;
  }

  public boolean areCounted() {
    return counted;
  }

  /** Positions of distinct id {@code u} in clicked samples; 0 where none were counted. */
  public int of(int u) {
    return counted ? positions[u] : 0;
  }

  /**
   * Counts those of a lookup.
   *
   * @param offsets where bags begin and end among its positions
   * @param bags one for each sample, or several, each time of all samples
   * @param labels sample {@code b}'s at {@code b * stride}, sound
   */
  public void count(
      RowLookup lookup, int[] offsets, int bags, float[] labels, int samples, int stride) {
    if (positions.length < lookup.unique()) {
      positions = new int[lookup.counts.length];
    }
    Arrays.fill(positions, 0, lookup.unique(), 0);
    for (int first = 0; first < bags; first += samples) {
      for (int b = 0; b < samples; b++) {
        if (labels[b * stride] == 1) {
          int end = offsets[first + b + 1];
          for (int i = offsets[first + b]; i < end; i++) {
            positions[lookup.inverse[i]]++;
          }
        }
      }
    }
    counted = true;
  }

  /** Refuses labels that are neither 0 nor 1. */
  public static void requireLabels(float[] labels, int samples, int stride) {
    for (int b = 0; b < samples; b++) {
      float label = labels[b * stride];
      if (label != 0 && label != 1) {
        throw new IllegalArgumentException(
            "lookup: got label %s of sample %d of the batch, expected 0 or 1, as rows depend on clicks; correct the label"
                .formatted(label, b));
      }
    }
  }
}
