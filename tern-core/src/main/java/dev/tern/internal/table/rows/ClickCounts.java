package dev.tern.internal.table.rows;

import java.util.Arrays;

/** Counts the positions of each distinct id of a {@link RowLookup} in clicked samples (label 1). */
public final class ClickCounts {
  private final RowLookup lookup;
  private boolean counted;

  /** Per distinct id, once counted. */
  private int[] positions = new int[0];

  ClickCounts(RowLookup lookup) {
    this.lookup = lookup;
  }

  void clear() {
    counted = false;
  }

  public boolean areCounted() {
    return counted;
  }

  /** Positions of distinct id {@code u} in clicked samples; 0 if nothing was counted. */
  public int of(int u) {
    return counted ? positions[u] : 0;
  }

  /** Begins to count the positions of the lookup in clicked samples. */
  public void begin() {
    if (positions.length < lookup.unique()) {
      positions = new int[lookup.counts.length];
    }
    Arrays.fill(positions, 0, lookup.unique(), 0);
    counted = true;
  }

  /**
   * Adds the positions of one bag of each sample.
   *
   * @param offsets where bags begin and end
   * @param first the bag of the first sample; the bags of the others follow
   * @param labels 0 or 1; the label of sample {@code b} lies at {@code b * stride}
   */
  public void add(int[] offsets, int first, float[] labels, int samples, int stride) {
    for (int b = 0; b < samples; b++) {
      if (labels[b * stride] == 1) {
        int end = offsets[first + b + 1];
        for (int i = offsets[first + b]; i < end; i++) {
          positions[lookup.inverse[i]]++;
        }
      }
    }
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
