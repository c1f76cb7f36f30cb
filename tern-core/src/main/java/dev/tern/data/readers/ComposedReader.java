package dev.tern.data.readers;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.BatchPool;
import dev.tern.data.DataReader;
import dev.tern.data.PassOrder;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** See {@link Readers#composed}. */
final class ComposedReader extends JoinedReader {
  private static final int BATCH = 1024;

  private final Batch[] parts;
  private final Schema schema;
  private final BatchPool pool;

  /** Rows joined or skipped in this pass. */
  private long at;

  /** The error, if the sources do not end together; else empty. */
  private String fault = "";

  ComposedReader(List<DataReader> sources) {
    super("compose", sources);
    parts = sources.stream().map(s -> new Batch(s.schema(), BATCH)).toArray(Batch[]::new);
    schema = join(sources);
    pool = new BatchPool(schema, BATCH);
  }

  private static Schema join(List<DataReader> sources) {
    List<String> labels = new ArrayList<>();
    List<String> dense = new ArrayList<>();
    List<Slot> slots = new ArrayList<>();
    for (DataReader source : sources) {
      labels.addAll(source.schema().labels());
      dense.addAll(source.schema().dense());
      slots.addAll(source.schema().slots());
    }
    List<String> weights =
        sources.stream().flatMap(source -> source.schema().weight().stream()).toList();
    if (weights.size() > 1) {
      throw new IllegalArgumentException(
          "compose: got the columns of weights %s, expected one; compose rows without them"
              .formatted(weights));
    }
    try {
      return new Schema(labels, dense, slots, weights.stream().findFirst());
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "compose: " + e.getMessage() + "; map one reader to other names first", e);
    }
  }

  @Override
  public Schema schema() {
    return schema;
  }

  @Override
  protected Optional<Batch> read() {
    requireAligned();
    long[] rows = new long[cursors.length];
    for (int i = 0; i < cursors.length; i++) {
      parts[i].clear();
      rows[i] = cursors[i].fill(parts[i], BATCH);
    }
    int count = (int) common(rows);
    if (count == 0) {
      requireAligned();
      return Optional.empty();
    }
    Batch joined = pool.take();
    joined.resize(count);
    int label = 0;
    int dense = 0;
    int slot = 0;
    for (Batch part : parts) {
      Schema columns = part.schema();
      copyNumbers(part, joined, label, dense);
      if (columns.weighted()) {
        System.arraycopy(part.rowWeights(), 0, joined.rowWeights(), 0, count);
      }
      for (int s = 0; s < columns.slotCount(); s++) {
        SlotIds.copy(part, s, joined, slot++, count);
      }
      label += columns.labelDim();
      dense += columns.denseDim();
    }
    return Optional.of(joined);
  }

  /** Copies labels and dense numbers of all rows, to columns {@code label} and {@code dense}. */
  private static void copyNumbers(Batch from, Batch to, int label, int dense) {
    int labels = from.schema().labelDim();
    int numbers = from.schema().denseDim();
    for (int row = 0; row < to.size(); row++) {
      int toLabel = row * to.schema().labelDim() + label;
      System.arraycopy(from.labels(), row * labels, to.labels(), toLabel, labels);
      int toDense = row * to.schema().denseDim() + dense;
      System.arraycopy(from.dense(), row * numbers, to.dense(), toDense, numbers);
    }
  }

  /** The number of rows that every source gave; notes an error if some gave more. */
  private long common(long[] rows) {
    int shortest = 0;
    int longest = 0;
    for (int i = 1; i < rows.length; i++) {
      shortest = rows[i] < rows[shortest] ? i : shortest;
      longest = rows[i] > rows[longest] ? i : longest;
    }
    at += rows[shortest];
    if (rows[shortest] < rows[longest]) {
      fault =
          ("compose: row %d of pass %d: got the end of reader %d of %d, expected a row as in reader"
                  + " %d; give readers of as many rows each")
              .formatted(at + 1, epoch(), shortest + 1, rows.length, longest + 1);
    }
    return rows[shortest];
  }

  private void requireAligned() {
    if (!fault.isEmpty()) {
      throw new DataException(fault);
    }
  }

  @Override
  protected long pass(long rows) {
    requireAligned();
    long[] passed = new long[cursors.length];
    for (int i = 0; i < cursors.length; i++) {
      passed[i] = cursors[i].skip(rows);
    }
    return common(passed);
  }

  @Override
  protected void begin(int epoch, PassOrder order) {
    at = 0;
    fault = "";
    super.begin(epoch, order);
  }

  /** Rows of the shortest source. */
  @Override
  public OptionalLong rowCount() {
    return rowCount(Math::min);
  }
}
