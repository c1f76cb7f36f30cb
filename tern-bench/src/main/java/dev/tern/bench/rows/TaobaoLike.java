package dev.tern.bench.rows;

import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Sequence;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.NumberEncoding;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.readers.Readers;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/**
 * Users, items, categories and a history of items with their categories, as {@code peers/train.py}
 * draws them for models of sequences.
 */
public final class TaobaoLike implements TrainData {
  private static final int LABEL_STREAM = 31;
  private static final int LENGTH_STREAM = 33;
  private static final double LABEL_RATE = 0.25;

  /** Shares of the rows that are users and items; the others are categories. */
  private static final double USERS = 0.3;

  private static final double ITEMS = 0.69;

  private static final Schema SCHEMA =
      new Schema(
          List.of("label"),
          List.of(),
          List.of(
              Slot.oneHot("user"),
              Slot.oneHot("item"),
              Slot.oneHot("category"),
              Slot.ragged("items"),
              Slot.ragged("categories")));

  private final long[] sizes;
  private final int longest;
  private final boolean full;
  private final Draws draws;

  /**
   * Rows.
   *
   * @param longest elements of a history
   * @param full whether each row has so many; else from 0 to {@code longest}, all equally often
   */
  public TaobaoLike(long rowsTotal, int longest, boolean full, long seed) {
    long users = (long) (USERS * rowsTotal);
    long items = (long) (ITEMS * rowsTotal);
    sizes = new long[] {users, items, rowsTotal - users - items};
    this.longest = longest;
    this.full = full;
    draws = new Draws(seed);
  }

  @Override
  public long[] sizes() {
    return sizes.clone();
  }

  @Override
  public Schema schema() {
    return SCHEMA;
  }

  @Override
  public FeatureEncoder encoder() {
    Sequence seen = Sequence.last("seen", longest);
    return FeatureEncoder.fit(
            Readers.inMemory(SCHEMA, List.of()),
            List.<NumberEncoding>of(),
            Collections.nCopies(SCHEMA.slotCount(), IdEncoding.verbatim()),
            Map.of("items", "item", "categories", "category"),
            TextDictionary.none(),
            read -> {})
        .withSequences(Map.of("items", seen, "categories", seen));
  }

  @Override
  public List<Batch> batches(int count, int batch) {
    List<Batch> batches = new ArrayList<>();
    for (int b = 0; b < count; b++) {
      Batch rows = new Batch(SCHEMA, batch);
      for (long row = (long) b * batch; row < (b + 1L) * batch; row++) {
        rows.setLabel(0, draws.uniform(LABEL_STREAM, row) < LABEL_RATE ? 1 : 0);
        for (int s = 0; s < 3; s++) {
          rows.addId(s, draws.id(s, row, sizes[s]));
        }
        int length = full ? longest : (int) (draws.uniform(LENGTH_STREAM, row) * (longest + 1));
        for (int i = 0; i < length; i++) {
          rows.addId(3, draws.id(3, row * longest + i, sizes[1]));
          rows.addId(4, draws.id(4, row * longest + i, sizes[2]));
        }
        rows.endRow();
      }
      batches.add(rows);
    }
    return batches;
  }
}
