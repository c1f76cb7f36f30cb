package dev.tern.embedding;

import dev.tern.embedding.config.RowBlock;
import dev.tern.embedding.config.RowSource;
import dev.tern.internal.table.RowLayer;

/**
 * What changed in a table between two moments: rows that came or changed, ids whose rows are gone,
 * and what ids without a row read as at the later moment. They lie in memory as the table's rows
 * do, so a table reads the same bits beneath its changes ({@link SlotTables#beneath}) as after it
 * took them in ({@link EmbeddingTable#fold}). One thread fills it; from then on any number of
 * threads may read.
 */
public final class TableChanges implements AutoCloseable {
  final RowLayer layer;
  private final EmbeddingTable table;

  /** No changes yet of a table like {@code table}, in the memory of the same device. */
  public TableChanges(EmbeddingTable table) {
    this.table = table;
    layer = new RowLayer(table.rows);
  }

  /**
   * Takes all rows of the later moment, and keeps those that the table has not, or has otherwise;
   * those that the table has and {@code rows} has not are gone. One call at most. The table must
   * not change meanwhile.
   *
   * @param rows in ascending order of id
   * @param most bytes that this may take
   * @return whether it did not take more
   */
  public boolean putDifferences(RowSource rows, long most) {
    return layer.putDifferences(table.rows, rows, most);
  }

  /**
   * As {@link #putDifferences} for some of the rows alone: nothing is said of all others.
   *
   * @param rows in ascending order of id
   */
  public void putSomeDifferences(RowSource rows) {
    layer.putSomeDifferences(table.rows, rows);
  }

  /** Takes the rows that came or changed, in any order, each id once; one call at most. */
  public void put(RowSource rows) {
    layer.rows().importFrom(rows);
  }

  /** The rows of {@code ids[0 .. count)} are gone; none of them is among {@link #put}. */
  public void remove(long[] ids, int count) {
    layer.remove(ids, count);
  }

  /**
   * Takes the bucket rows of the later moment ({@link
   * dev.tern.embedding.config.UnknownRow.Hashed}), before {@link #put}.
   *
   * @return whether they are as many as the table has
   */
  public boolean putBuckets(RowBlock.Source source) {
    return layer.rows().restoreBuckets(source);
  }

  /** Some of the ids that came or changed. */
  public long[] someIds(int most) {
    long[] ids = new long[(int) Math.min(most, layer.rows().size())];
    int[] count = {0};
    layer
        .rows()
        .forEachEntry((id, _) -> {
          if (count[0] < ids.length) {
            ids[count[0]++] = id;
          }
        });
    return ids;
  }

  /** Ids that came, changed or are gone. */
  public long size() {
    return layer.size();
  }

  /** Bytes of memory. */
  public long bytes() {
    return layer.bytes();
  }

  /** Gives the memory back; no thread may read it. */
  @Override
  public void close() {
    layer.close();
  }
}
