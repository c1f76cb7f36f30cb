package dev.tern.bench.rows;

import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.readers.Readers;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Users and items alone, as {@code peers/train.py} draws them for models of these two. */
public final class UserItemLike implements TrainData {
  private static final int LABEL_STREAM = 31;
  private static final double LABEL_RATE = 0.25;

  /** Share of the rows that are users; the others are items. */
  private static final double USERS = 0.3;

  private static final Schema SCHEMA =
      new Schema(List.of("label"), List.of(), List.of(Slot.oneHot("user"), Slot.oneHot("item")));

  private final long[] sizes;
  private final Draws draws;

  /** Tables of {@code rowsTotal} rows together. */
  public UserItemLike(long rowsTotal, long seed) {
    long users = (long) (USERS * rowsTotal);
    sizes = new long[] {users, rowsTotal - users};
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
    return FeatureEncoder.fit(
        Readers.inMemory(SCHEMA, List.of()),
        List.of(),
        Collections.nCopies(sizes.length, IdEncoding.verbatim()),
        TextDictionary.none(),
        read -> {});
  }

  @Override
  public List<Batch> batches(int count, int batch) {
    List<Batch> batches = new ArrayList<>();
    for (int b = 0; b < count; b++) {
      Batch rows = new Batch(SCHEMA, batch);
      for (long row = (long) b * batch; row < (b + 1L) * batch; row++) {
        rows.setLabel(0, draws.uniform(LABEL_STREAM, row) < LABEL_RATE ? 1 : 0);
        for (int s = 0; s < sizes.length; s++) {
          rows.addId(s, draws.id(s, row, sizes[s]));
        }
        rows.endRow();
      }
      batches.add(rows);
    }
    return batches;
  }
}
