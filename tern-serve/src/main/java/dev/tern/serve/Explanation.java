package dev.tern.serve;

import dev.tern.data.Batch;
import dev.tern.data.ColumnPart;
import dev.tern.predict.ColumnShares;
import dev.tern.serve.wire.JsonOutput;
import dev.tern.serve.wire.RefusedException;
import java.util.List;

/**
 * {@link ColumnShares} of the rows that a request is answered with.
 *
 * @param tasks of the model
 * @param found the shares
 */
record Explanation(int tasks, ColumnShares found) {
  /** Rows that are scored for an explanation, with each column left out in turn. */
  private static final int MOST_SCORED = 20_000;

  /** Explains the rows that are answered. */
  static Explanation of(ServedVersion version, RequestContext context) {
    Batch base = selected(context);
    int columns = ColumnPart.of(context.encoder.rawSchema()).size();
    int tasks = version.tasks().size();
    if ((long) base.size() * (columns + 1) > MOST_SCORED) {
      throw new RefusedException(
          400,
          "explain: got %,d rows of %d columns, expected at most %,d rows; send fewer, or ask for top_k"
              .formatted(base.size(), columns, MOST_SCORED / (columns + 1)));
    }
    return new Explanation(tasks, ColumnShares.of(base, context.encoder, tasks, version::logits));
  }

  private static Batch selected(RequestContext context) {
    int count = context.scoring.count();
    Batch base = new Batch(context.rows.schema(), Math.max(1, count));
    for (int i = 0; i < count; i++) {
      base.appendRow(context.rows, context.scoring.row(i));
    }
    return base;
  }

  /** Names of the columns. */
  List<String> columns() {
    return found.columns();
  }

  /** Shares by row, column and task. */
  float[] shares() {
    return found.shares();
  }

  /** Writes an object a row, from columns to shares; of several tasks one of each in an array. */
  void writeRows(JsonOutput out) {
    int columns = found.columns().size();
    out.put('[');
    for (int row = 0; row < found.rows(); row++) {
      out.put(row == 0 ? '{' : ',');
      if (row > 0) {
        out.put('{');
      }
      for (int c = 0; c < columns; c++) {
        if (c > 0) {
          out.put(',');
        }
        out.text(found.columns().get(c)).put(':');
        writeShare(row, c, out);
      }
      out.put('}');
    }
    out.put(']');
  }

  private void writeShare(int row, int column, JsonOutput out) {
    if (tasks == 1) {
      out.number(found.share(row, column, 0));
      return;
    }
    for (int task = 0; task < tasks; task++) {
      out.put(task == 0 ? '[' : ',').number(found.share(row, column, task));
    }
    out.put(']');
  }
}
