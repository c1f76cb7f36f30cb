package dev.tern.data.readers;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Reading;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** See {@link Readers#between}. */
final class TimeSpanReader extends DerivedReader {
  private final Optional<Reading> reading;

  private TimeSpanReader(DataReader source, Optional<Reading> reading) {
    super(source);
    this.reading = reading;
  }

  static DataReader of(DataReader source, String slot, long from, long end) {
    Schema all = source.schema();
    int time = all.slotNames().indexOf(slot);
    if (time < 0) {
      throw new IllegalArgumentException(
          "times: got the slot %s, expected one of %s".formatted(slot, all.slotNames()));
    }
    List<Slot> others = new ArrayList<>(all.slots());
    others.remove(time);
    Schema schema = new Schema(all.labels(), all.dense(), others, all.weight());
    RowFilter within =
        (batch, row) -> {
          long at = time(batch, time, row);
          return from <= at && at < end;
        };
    DataReader rows = AllColumns.of(new FilteredReader(source, within), schema);
    return new TimeSpanReader(rows, source.reading());
  }

  private static long time(Batch batch, int slot, int row) {
    int count = batch.idCount(slot, row);
    if (count != 1) {
      throw new DataException(
          "%s: got %d times, expected one; mend the row, or name another column of times"
              .formatted(batch.schema().slotNames().get(slot), count));
    }
    return batch.ids(slot)[batch.offsets(slot)[row]];
  }

  /** How the fields of the rows' columns were read: a column less is no other reading. */
  @Override
  public Optional<Reading> reading() {
    return reading;
  }

  @Override
  protected Optional<Batch> read() {
    return source.next();
  }

  @Override
  protected long pass(long rows) {
    return source.skip(rows);
  }
}
