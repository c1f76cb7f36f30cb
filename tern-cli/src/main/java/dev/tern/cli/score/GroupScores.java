package dev.tern.cli.score;

import dev.tern.base.DataException;
import dev.tern.cli.config.ConfigException;
import dev.tern.cli.notes.Progress;
import dev.tern.cli.run.Format;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.metrics.GroupMetrics;
import dev.tern.metrics.GroupedRows;
import dev.tern.model.TaskLabels;
import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;

/** Figures of the rows of each value of a column, for each task. */
final class GroupScores implements Scoring.Taker {
  private final GroupedRows groups;
  private final int at;

  /**
   * Figures of raw rows.
   *
   * @param column a slot of {@code schema}
   * @param at rows that count as the first of a group
   */
  GroupScores(Schema schema, TaskLabels tasks, String column, int at) {
    this.at = at;
    if (!schema.slotNames().contains(column)) {
      throw new ConfigException(
          "--group: got "
              + column
              + ", expected a column of ids that the model reads: "
              + String.join(", ", schema.slotNames())
              + "; name one of them");
    }
    groups = new GroupedRows(schema, tasks, column, at);
  }

  @Override
  public void add(float[] logits, Batch batch) {
    try {
      groups.add(logits, batch);
    } catch (DataException e) {
      throw new DataException("--group: " + e.getMessage(), e);
    }
  }

  /** Prints the figures. */
  void print(PrintWriter out, Progress progress) {
    if (groups.without() > 0) {
      progress.note(
          "rows without a value of "
              + groups.column()
              + ", which are in no group: "
              + Format.whole(groups.without())
              + " of "
              + Format.whole(groups.rows()));
    }
    List<Optional<GroupMetrics.Result>> results = groups.results();
    for (int k = 0; k < results.size(); k++) {
      String label = groups.tasks().tasks().get(k).label();
      String name = results.size() > 1 ? label + " " : "";
      if (results.get(k).isEmpty()) {
        progress.note("no figures by group of " + label + ", whose labels are not 0 and 1");
      }
      results.get(k).ifPresent(result -> print(out, name, result));
    }
  }

  private void print(PrintWriter out, String name, GroupMetrics.Result result) {
    out.printf(
        "%sgroups %s by %s, %s with both labels, %s with a positive row%n",
        name,
        Format.whole(result.counts().groups()),
        groups.column(),
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

  private static void line(PrintWriter out, String name, double value) {
    out.println(name + " " + Format.fixed(value, 6));
  }
}
