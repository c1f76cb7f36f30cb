package dev.tern.data.readers;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.PassOrder;
import java.util.List;
import java.util.Optional;

/** See {@link Readers#withEqualLengths}. */
final class EqualLengthsReader extends DerivedReader {
  private final List<List<Integer>> groups;
  private final String name;
  private long rows;

  EqualLengthsReader(DataReader source, List<List<Integer>> groups, String name) {
    super(source);
    this.groups = groups;
    this.name = name;
  }

  @Override
  protected Optional<Batch> read() {
    Optional<Batch> next = source.next();
    if (next.isPresent()) {
      try {
        check(next.get());
      } catch (DataException e) {
        next.get().close();
        throw e;
      }
      rows += next.get().size();
    }
    return next;
  }

  private void check(Batch batch) {
    for (List<Integer> slots : groups) {
      int one = slots.getFirst();
      for (int slot : slots.subList(1, slots.size())) {
        int row = batch.firstUnequal(slot, one, 0, batch.size());
        if (row >= 0) {
          throw new DataException(
              "%s: row %d: got %d values of %s and %d of %s, which are one sequence, expected equally many; mend the row, or give the columns sequences of their own"
                  .formatted(
                      name,
                      rows + row + 1,
                      batch.idCount(slot, row),
                      schema().slots().get(slot).name(),
                      batch.idCount(one, row),
                      schema().slots().get(one).name()));
        }
      }
    }
  }

  @Override
  protected void begin(int epoch, PassOrder order) {
    rows = 0;
    super.begin(epoch, order);
  }

  @Override
  protected long pass(long count) {
    long passed = source.skip(count);
    rows += passed;
    return passed;
  }
}
