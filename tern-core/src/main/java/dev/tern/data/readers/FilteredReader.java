package dev.tern.data.readers;

import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import java.util.Objects;
import java.util.OptionalLong;

/** See {@link Readers#filtered}. */
final class FilteredReader extends PickedReader {
  private final RowFilter filter;

  FilteredReader(DataReader source, RowFilter filter) {
    super(source);
    this.filter = Objects.requireNonNull(filter, "filter");
  }

  @Override
  int pick(Batch batch, int[] picked) {
    int count = 0;
    for (int row = 0; row < batch.size(); row++) {
      try {
        if (filter.keeps(batch, row)) {
          picked[count++] = row;
        }
      } catch (RuntimeException e) {
        throw CheckedMap.failed("filter", "row " + (at + row + 1), epoch(), e);
      }
    }
    return count;
  }

  @Override
  public OptionalLong rowCount() {
    return OptionalLong.empty();
  }
}
