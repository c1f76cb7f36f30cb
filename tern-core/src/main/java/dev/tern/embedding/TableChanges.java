package dev.tern.embedding;

/**
 * What changed in a table since {@link EmbeddingTable#trackChanges}. Of use while nothing changes
 * the table.
 */
public final class TableChanges {
  private final boolean all;
  private final long[] rows;
  private final long[] gone;
  private final long[] filterWords;

  TableChanges(boolean all, long[] rows, long[] gone, long[] filterWords) {
    this.all = all;
    this.rows = rows;
    this.gone = gone;
    this.filterWords = filterWords;
  }

  /** Whether so much did that the lists below are not kept: take the whole table. */
  public boolean all() {
    return all;
  }

  /** Ids whose rows came or changed, ascending. */
  public long[] rows() {
    return rows.clone();
  }

  /** Ids without a row that may have had one, ascending. */
  public long[] gone() {
    return gone.clone();
  }

  /** Numbers of the words of {@link TableHistory}'s filter that changed, ascending. */
  public long[] filterWords() {
    return filterWords.clone();
  }
}
