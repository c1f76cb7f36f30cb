package dev.tern.serve;

import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.encode.TextHash;
import dev.tern.model.Task;
import dev.tern.serve.wire.JsonOutput;
import dev.tern.serve.wire.RefusedException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What each column adds to the logits of rows: the logit less the one that the row has with the
 * column missing. Slots of one sequence are left out together, under the name of the sequence.
 *
 * <p>With {@code N} rows, {@code C} columns and {@code T} tasks, {@code shares} is {@code N x C x
 * T}, row-major. For example, where a logit of 1.5 becomes 1.25 without {@code age}, the share of
 * {@code age} is 0.25.
 */
record Explanation(List<Task> tasks, List<String> columns, int rows, float[] shares) {
  /** Rows that are scored for an explanation, with each column left out in turn. */
  private static final int MOST_SCORED = 20_000;

  /**
   * Columns that are left out together.
   *
   * @param dense the dense column, -1 for slots
   */
  private record Part(String name, int dense, List<Integer> slots) {}

  /** Explains the rows that are answered. */
  static Explanation of(ServedVersion version, RequestContext context) {
    Batch base = selected(context);
    List<Part> parts = parts(base.schema());
    int tasks = version.tasks().size();
    int rows = base.size();
    if ((long) rows * (parts.size() + 1) > MOST_SCORED) {
      throw new RefusedException(
          400,
          "explain: got %,d rows of %d columns, expected at most %,d rows; send fewer, or ask for top_k"
              .formatted(rows, parts.size(), MOST_SCORED / (parts.size() + 1)));
    }
    float[] whole = new float[rows * tasks];
    version.logits(base, whole);
    float[] without = new float[whole.length];
    float[] shares = new float[whole.length * parts.size()];
    Batch scratch = new Batch(base.schema(), Math.max(1, rows));
    for (int c = 0; c < parts.size(); c++) {
      scratch.clear();
      scratch.appendRows(base, 0, rows);
      leaveOut(parts.get(c), scratch, context);
      version.logits(scratch, without);
      for (int row = 0; row < rows; row++) {
        for (int task = 0; task < tasks; task++) {
          shares[(row * parts.size() + c) * tasks + task] =
              whole[row * tasks + task] - without[row * tasks + task];
        }
      }
    }
    List<String> names = parts.stream().map(Part::name).toList();
    return new Explanation(version.tasks(), names, rows, shares);
  }

  private static Batch selected(RequestContext context) {
    int count = context.scoring.count();
    Batch base = new Batch(context.rows.schema(), Math.max(1, count));
    for (int i = 0; i < count; i++) {
      base.appendRow(context.rows, context.scoring.row(i));
    }
    return base;
  }

  private static List<Part> parts(Schema schema) {
    List<Part> parts = new ArrayList<>();
    for (int f = 0; f < schema.denseDim(); f++) {
      parts.add(new Part(schema.dense().get(f), f, List.of()));
    }
    for (int s = 0; s < schema.slotCount(); s++) {
      if (schema.slots().get(s).sequence().isEmpty()) {
        parts.add(new Part(schema.slots().get(s).name(), -1, List.of(s)));
      }
    }
    schema.sequences().forEach((name, slots) -> parts.add(new Part(name, -1, slots)));
    return parts;
  }

  private static void leaveOut(Part part, Batch rows, RequestContext context) {
    int dim = rows.schema().denseDim();
    for (int row = 0; part.dense >= 0 && row < rows.size(); row++) {
      rows.dense()[row * dim + part.dense] = Float.NaN;
    }
    for (int slot : part.slots) {
      boolean text = context.encoder.slots().get(slot).text();
      boolean filled = text && rows.schema().slots().get(slot).hotness() == 1;
      long[] ids = rows.ensureIds(slot, rows.size());
      for (int row = 0; row < rows.size(); row++) {
        ids[row] = TextHash.EMPTY;
        rows.offsets(slot)[row + 1] = filled ? row + 1 : 0;
      }
      if (rows.schema().slots().get(slot).weighted()) {
        int count = filled ? rows.size() : 0;
        Arrays.fill(rows.ensureWeights(slot, count), 0, count, 1);
      }
    }
  }

  /** Writes an object a row, from columns to shares; of several tasks one of each in an array. */
  void writeRows(JsonOutput out) {
    out.put('[');
    for (int row = 0; row < rows; row++) {
      out.put(row == 0 ? '{' : ',');
      if (row > 0) {
        out.put('{');
      }
      for (int c = 0; c < columns.size(); c++) {
        if (c > 0) {
          out.put(',');
        }
        out.text(columns.get(c)).put(':');
        writeShare(row * columns.size() + c, out);
      }
      out.put('}');
    }
    out.put(']');
  }

  private void writeShare(int place, JsonOutput out) {
    int count = tasks.size();
    if (count == 1) {
      out.number(shares[place]);
      return;
    }
    for (int task = 0; task < count; task++) {
      out.put(task == 0 ? '[' : ',').number(shares[place * count + task]);
    }
    out.put(']');
  }
}
