package dev.tern.embedding;

import dev.tern.internal.table.rows.RowLookup;

/**
 * The result of looking a batch of ids up in an {@link EmbeddingTable}: the ids, and where the row
 * of each lies. {@link EmbeddingTable#find} fills it. Use one lookup for batch after batch: it
 * grows to the largest and then allocates nothing. One thread at a time may fill or apply it;
 * several threads may pool it at once.
 */
public final class Lookup {
  final RowLookup found = new RowLookup();

  /** Number of positions in the batch, {@code N}. */
  public int count() {
    return found.count();
  }

  /** Number of distinct ids, {@code U}; counted anew at each call after a find without insert. */
  public int unique() {
    return found.countDistinct();
  }

  /** Whether every id has a row. */
  public boolean isComplete() {
    return found.complete;
  }

  /** The {@link EmbeddingTable#version()} at which the rows were found. */
  public long version() {
    return found.version();
  }

  /**
   * Says which samples were clicked. A table whose row policy weighs clicks needs that in training,
   * between {@link EmbeddingTable#lookAhead} and {@link EmbeddingTable#find(Lookup, boolean)}.
   *
   * @param offsets as in {@link Bags}; the ids of sample {@code b} are bag {@code b}
   * @param bags number of samples, {@code B}
   * @param labels one for each sample, {@code [B]}: 1 if it was clicked, else 0
   */
  public void label(int[] offsets, int bags, float[] labels) {
    found.label(offsets, bags, labels);
  }
}
