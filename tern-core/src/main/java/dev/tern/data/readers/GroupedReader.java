package dev.tern.data.readers;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.TextHash;

/** See {@link Readers#encoded(DataReader, FeatureEncoder, String)}. */
final class GroupedReader extends EncodedReader {
  private final String column;
  private final int slot;
  private final ColumnPick pick;
  private long[] groups = {};

  GroupedReader(DataReader source, FeatureEncoder encoder, String column) {
    super(source, encoder);
    this.column = column;
    slot = source.schema().slotNames().indexOf(column);
    if (slot < 0) {
      throw new IllegalArgumentException(
          "groups: got the column %s, expected a column of ids among %s; name one of them, or read it with the rows"
              .formatted(column, source.schema().slotNames()));
    }
    boolean isBeside = !encoder.rawSchema().slotNames().contains(column);
    pick = ColumnPick.of(source.schema(), isBeside ? encoder.rawSchema() : source.schema());
  }

  @Override
  void encode(Batch raw, Batch target) {
    super.encode(pick.of(raw), target);
    find(raw);
    target.setGroups(groups);
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
}
