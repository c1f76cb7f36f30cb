package dev.tern.data.readers;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.BatchPool;
import dev.tern.data.DataReader;
import dev.tern.data.Reading;
import dev.tern.data.Schema;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.TextHash;
import java.util.Optional;

/** See {@link Readers#encoded(DataReader, FeatureEncoder, String)}. */
final class GroupedReader extends DerivedReader {
  private final FeatureEncoder encoder;
  private final String column;
  private final int slot;
  private final ColumnPick pick;
  private final BatchPool pool;
  private long[] groups = {};

  GroupedReader(DataReader source, FeatureEncoder encoder, String column) {
    super(source);
    this.encoder = encoder;
    this.column = column;
    slot = source.schema().slotNames().indexOf(column);
    if (slot < 0) {
      throw new IllegalArgumentException(
          "groups: got the column %s, expected a column of ids among %s; name one of them, or read it with the rows"
              .formatted(column, source.schema().slotNames()));
    }
    boolean isBeside = !encoder.rawSchema().slotNames().contains(column);
    pick = ColumnPick.of(source.schema(), isBeside ? encoder.rawSchema() : source.schema());
    pool = new BatchPool(encoder.schema(), 1024);
  }

  @Override
  public Schema schema() {
    return encoder.schema();
  }

  /** None: the values are features, which no file holds. */
  @Override
  public Optional<Reading> reading() {
    return Optional.empty();
  }

  @Override
  protected Optional<Batch> read() {
    return readFrom(pool);
  }

  @Override
  protected boolean readInto(Batch target) {
    Optional<Batch> next = source.nextView();
    if (next.isEmpty()) {
      return false;
    }
    try (Batch raw = next.get()) {
      encoder.apply(pick.of(raw), target);
      find(raw);
      target.setGroups(groups);
    }
    return true;
  }

  private void find(Batch raw) {
    if (groups.length < raw.size()) {
      groups = new long[raw.size()];
    }
    int[] offsets = raw.offsets(slot);
    for (int row = 0; row < raw.size(); row++) {
      int values = offsets[row + 1] - offsets[row];
      if (values > 1) {
        throw new DataException(
            "groups: got %d values of %s in row %d of a batch, expected one; name a column with one value a row"
                .formatted(values, column, row + 1));
      }
      groups[row] = values == 0 ? TextHash.EMPTY : raw.ids(slot)[offsets[row]];
    }
  }

  @Override
  protected long pass(long rows) {
    return source.skip(rows);
  }
}
