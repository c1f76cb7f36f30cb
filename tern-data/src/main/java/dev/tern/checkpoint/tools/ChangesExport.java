package dev.tern.checkpoint.tools;

import dev.tern.base.DType;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.embedding.config.RowSource;
import dev.tern.internal.checkpoint.LongColumn;
import dev.tern.internal.checkpoint.RowShape;
import dev.tern.internal.checkpoint.RowWriter;
import dev.tern.internal.checkpoint.SafeTensors;
import dev.tern.internal.checkpoint.TableFile;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/** Writes the changes of a table's weights between two checkpoints. */
final class ChangesExport {
  private ChangesExport() {}

  static TableExport.Changes count(Checkpoint since, Checkpoint checkpoint, int slot) {
    long rows = 0;
    long gone = 0;
    try (RowPairs pairs = RowPairs.open(since, checkpoint, slot)) {
      while (pairs.next()) {
        if (!pairs.inSecond()) {
          gone++;
        } else if (pairs.changed()) {
          rows++;
        }
      }
    }
    return new TableExport.Changes(rows, gone);
  }

  static void text(Checkpoint since, Checkpoint checkpoint, int slot, Path target)
      throws IOException {
    try (RowPairs pairs = RowPairs.open(since, checkpoint, slot);
        RowLines lines =
            new RowLines(target, pairs.width(), RowValues.unsigned(checkpoint, slot))) {
      while (pairs.next()) {
        if (!pairs.inSecond()) {
          lines.gone(pairs.id());
        } else if (pairs.changed()) {
          lines.row(pairs.second());
        }
      }
    }
  }

  /** Writes a file; {@code count} is the number of its rows and of the ids that are gone. */
  static void safetensors(
      Checkpoint since, Checkpoint checkpoint, int slot, TableExport.Changes count, Path target) {
    RowShape all = RowShape.of(checkpoint.tableFiles(slot).getLast());
    RowShape shape = new RowShape(all.storage(), all.width(), 0, 0);
    SafeTensors.Layout layout =
        RowWriter.layout(shape, count.rows()).add(TableFile.GONE, DType.I64, count.gone());
    String name = checkpoint.tables().get(slot);
    try (RowPairs pairs = RowPairs.open(since, checkpoint, slot);
        SafeTensors file = SafeTensors.create(target, layout, TableFile.name(name))) {
      ChangedRowSource source = new ChangedRowSource(pairs, new LongColumn(file, TableFile.GONE));
      new RowWriter(shape, file, count.rows()).appendAll(source);
      source.flush();
    }
  }

  /** Gives the rows that are new or changed; writes the ids that are gone on the way. */
  private static final class ChangedRowSource implements RowSource {
    private final RowPairs pairs;
    private final LongColumn gone;
    private final long[] buffer = new long[256];
    private int buffered;

    ChangedRowSource(RowPairs pairs, LongColumn gone) {
      this.pairs = pairs;
      this.gone = gone;
    }

    @Override
    public int next(long[] ids, MemorySegment rows) {
      long values = rows.address();
      int count = 0;
      while (count < ids.length && pairs.next()) {
        if (!pairs.inSecond()) {
          addGone(pairs.id());
        } else if (pairs.changed()) {
          ids[count] = pairs.id();
          pairs.copyWeights(values, count);
          count++;
        }
      }
      return count;
    }

    private void addGone(long id) {
      if (buffered == buffer.length) {
        flush();
      }
      buffer[buffered++] = id;
    }

    void flush() {
      gone.append(buffer, buffered);
      buffered = 0;
    }
  }
}
