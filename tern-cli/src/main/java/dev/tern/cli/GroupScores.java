package dev.tern.cli;

import dev.tern.base.DataException;
import dev.tern.cli.config.ConfigException;
import dev.tern.cli.run.Format;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.model.TaskLabels;
import dev.tern.train.GroupMetrics;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/** Figures of the rows of each value of a column, for each task. */
final class GroupScores implements Scoring.Taker {
  private final TaskLabels tasks;
  private final String column;
  private final int slot;
  private final int at;
  private final List<GroupMetrics> metrics = new ArrayList<>();
  private long rows;
  private long without;

  /**
   * Figures of raw rows.
   *
   * @param column a slot of {@code schema}
   * @param at rows that count as the first of a group
   */
  GroupScores(Schema schema, TaskLabels tasks, String column, int at) {
    this.tasks = tasks;
    this.column = column;
    this.at = at;
    slot = schema.slotNames().indexOf(column);
    if (slot < 0) {
      throw new ConfigException(
          "--group: got "
              + column
              + ", expected a column of ids that the model reads: "
              + String.join(", ", schema.slotNames())
              + "; name one of them");
    }
    tasks.tasks().forEach(_ -> metrics.add(new GroupMetrics(at)));
  }

  @Override
  public void add(float[] logits, Batch batch) {
    int[] offsets = batch.offsets(slot);
    for (int row = 0; row < batch.size(); row++) {
      int ids = offsets[row + 1] - offsets[row];
      if (ids > 1) {
        throw new DataException(
            "--group: got %d values of %s in row %d, expected one; name a column with one value a row"
                .formatted(ids, column, rows + row + 1));
      }
      without += ids == 0 ? 1 : 0;
      for (int k = 0; k < metrics.size() && ids == 1; k++) {
        if (tasks.counts(batch, row, k)) {
          metrics
              .get(k)
              .add(
                  batch.ids(slot)[offsets[row]],
                  logits[row * metrics.size() + k],
                  tasks.label(batch, row, k));
        }
      }
    }
    rows += batch.size();
  }

  /** Prints the figures. */
  void print(PrintWriter out, Progress progress) {
    if (without > 0) {
      progress.note(
          "rows without a value of "
              + column
              + ", which are in no group: "
              + Format.whole(without)
              + " of "
              + Format.whole(rows));
    }
    for (int k = 0; k < metrics.size(); k++) {
      String name = metrics.size() > 1 ? tasks.tasks().get(k).label() + " " : "";
      GroupMetrics.Result result = metrics.get(k).result();
      out.printf(
          "%sgroups %s by %s, %s with both labels, %s with a positive row%n",
          name,
          Format.whole(result.counts().groups()),
          column,
          Format.whole(result.counts().mixed()),
          Format.whole(result.counts().positive()));
      line(out, name + "GAUC by rows", result.auc().byRows());
      line(out, name + "GAUC by positive rows", result.auc().byPositives());
      line(out, name + "GAUC by groups", result.auc().byGroups());
      line(out, name + "NDCG@" + at, result.order().ndcg());
      line(out, name + "recall@" + at, result.order().recall());
      line(out, name + "hit rate@" + at, result.order().hitRate());
      line(out, name + "MRR", result.order().reciprocalRank());
    }
  }

  private static void line(PrintWriter out, String name, double value) {
    out.println(name + " " + Format.fixed(value, 6));
  }
}
