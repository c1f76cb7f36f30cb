package dev.tern.cli.files;

import dev.tern.base.DataException;
import dev.tern.cli.run.Format;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.files.Columns;
import dev.tern.files.SparseColumn;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.LongConsumer;

/** Which times the rows to train and to evaluate on have. */
final class RowTimes {
  private final String column;

  /** A time that parts the rows of the training files, or after all of them. */
  private final long evalFrom;

  private final boolean parts;
  private final Span train = new Span();
  private final Span eval = new Span();

  /** Rows, and the times of the first and the last in microseconds since 1970. */
  private static final class Span {
    private long rows;
    private long first = Long.MAX_VALUE;
    private long last = Long.MIN_VALUE;

    void add(long time) {
      rows++;
      first = Math.min(first, time);
      last = Math.max(last, time);
    }
  }

  /**
   * No rows yet.
   *
   * @param column of the times
   * @param evalFrom from when on rows of training files are to be evaluated on
   */
  RowTimes(String column, OptionalLong evalFrom) {
    this.column = column;
    this.evalFrom = evalFrom.orElse(Long.MAX_VALUE);
    parts = evalFrom.isPresent();
  }

  /** The column of times, to be read beside others. */
  static Columns column(String name) {
    return new Columns(
        List.of(), Set.of(), List.of(), List.of(SparseColumn.instant(name)), Set.of());
  }

  /** The slot that {@link #column} becomes. */
  static String slot(String name) {
    return SparseColumn.instant(name).name();
  }

  /**
   * Reads all rows.
   *
   * @param reader of rows with the column of times
   * @param evaluation whether all of them are evaluated on
   * @param progress told the rows read so far
   */
  void read(DataReader reader, boolean evaluation, LongConsumer progress) {
    int slot = reader.schema().slotNames().indexOf(slot(column));
    long rows = 0;
    for (Optional<Batch> next = reader.next(); next.isPresent(); next = reader.next()) {
      try (Batch batch = next.get()) {
        for (int row = 0; row < batch.size(); row++) {
          if (batch.idCount(slot, row) != 1) {
            throw new DataException(
                "data.time: got %d values of %s in row %d of these files, expected one time; name another column"
                    .formatted(batch.idCount(slot, row), column, rows + row + 1));
          }
          long time = batch.ids(slot)[batch.offsets(slot)[row]];
          (evaluation || time >= evalFrom ? eval : train).add(time);
        }
        rows += batch.size();
      }
      progress.accept(rows);
    }
  }

  /**
   * What to say of the times.
   *
   * @throws DataException if no row is left to train or to evaluate on
   */
  List<String> notes() {
    if (parts && (train.rows == 0 || eval.rows == 0)) {
      Span all = train.rows == 0 ? eval : train;
      throw new DataException(
          "data.eval_from: got %s, with %s of %s rows from then on, expected some rows before and some after; they are from %s to %s"
              .formatted(
                  text(evalFrom),
                  train.rows == 0 ? "all" : "none",
                  Format.whole(all.rows),
                  text(all.first),
                  text(all.last)));
    }
    List<String> notes = new ArrayList<>();
    note("training", train, notes);
    note("evaluation", eval, notes);
    if (train.rows > 0 && eval.rows > 0 && train.last >= eval.first) {
      notes.add(
          "warning: training rows reach to %s, and evaluation rows begin at %s: a model that is used on later rows than it learned from may do worse; part them by time, as data.eval_from does"
              .formatted(text(train.last), text(eval.first)));
    }
    return notes;
  }

  private void note(String what, Span span, List<String> notes) {
    if (span.rows > 0) {
      notes.add(
          "%s rows (data.time: %s): %s from %s to %s"
              .formatted(what, column, Format.whole(span.rows), text(span.first), text(span.last)));
    }
  }

  private static String text(long micros) {
    return Instant.EPOCH.plus(micros, ChronoUnit.MICROS).toString();
  }
}
