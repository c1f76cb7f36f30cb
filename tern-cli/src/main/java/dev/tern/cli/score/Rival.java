package dev.tern.cli.score;

import dev.tern.cli.config.ConfigException;
import dev.tern.cli.config.DataConfig;
import dev.tern.cli.files.ColumnChoice;
import dev.tern.cli.run.Format;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.readers.ColumnPick;
import dev.tern.files.Columns;
import dev.tern.files.SparseColumn;
import dev.tern.metrics.PairedMetrics;
import dev.tern.model.Task;
import dev.tern.model.TaskLabels;
import dev.tern.predict.Predictor;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** A second model that scores the rows of an evaluation, beside the first. */
final class Rival implements Scoring.Taker {
  private final Predictor predictor;
  private final ColumnChoice columns;
  private final List<PairedMetrics> pairs = new ArrayList<>();
  private ColumnPick pick;
  private TaskLabels tasks;
  private String source = "";
  private long rows;

  /**
   * A rival of another model.
   *
   * @param columns how files are read for it
   */
  Rival(Predictor predictor, ColumnChoice columns) {
    this.predictor = predictor;
    this.columns = columns;
    pick = ColumnPick.of(predictor.schema(), predictor.schema());
    tasks = TaskLabels.of(predictor.schema(), predictor.tasks());
  }

  /**
   * Begins to take rows.
   *
   * @param read their columns, those of both models
   * @param of the tasks of both in these rows
   * @param from where the rows come from, for messages
   */
  void begin(Schema read, TaskLabels of, String from) {
    pick = ColumnPick.of(read, predictor.schema());
    tasks = of;
    source = from;
    of.tasks().forEach(_ -> pairs.add(new PairedMetrics()));
  }

  /** Checks that the models predict the same labels. */
  static void requireSameTasks(Predictor first, Predictor second) {
    List<String> expected = first.tasks().stream().map(Rival::words).toList();
    List<String> got = second.tasks().stream().map(Rival::words).toList();
    if (!got.equals(expected)) {
      throw new ConfigException(
          "--against: got a model of %s, expected one of %s as the first; compare models of the same labels"
              .formatted(String.join(", ", got), String.join(", ", expected)));
    }
  }

  private static String words(Task task) {
    if (!task.loss().hasAuc() || task.loss().accepts(0.5f)) {
      throw new ConfigException(
          "--against: got the task %s of %s, expected one of labels 0 and 1, for which alone the interval is known; evaluate each model by itself"
              .formatted(task.label(), task.loss()));
    }
    return task.label() + task.within().map(other -> " within " + other).orElse("");
  }

  /**
   * The columns that the second model reads and the first does not; none where both read the same.
   *
   * @param first how files are read for the first model
   * @param takesMore whether more columns can be read from the files
   * @throws ConfigException if one reading of the files does not do for both
   */
  Columns more(ColumnChoice first, boolean takesMore) {
    requireSameReading(first.config(), columns.config());
    if (!takesMore) {
      return requireSameColumns(first, columns);
    }
    Columns has = first.columns();
    Columns wants = columns.columns();
    List<String> dense =
        wants.dense().stream().filter(name -> !has.dense().contains(name)).toList();
    List<SparseColumn> sparse = new ArrayList<>();
    for (SparseColumn column : wants.sparse()) {
      Optional<SparseColumn> same =
          has.sparse().stream().filter(own -> own.name().equals(column.name())).findFirst();
      if (same.isEmpty()) {
        sparse.add(column);
      } else if (!same.get().equals(column)) {
        throw new ConfigException(
            "--against: got the column %s read as %s, expected %s as for the first model; compare models that read it alike"
                .formatted(column.name(), words(column), words(same.get())));
      }
    }
    return new Columns(List.of(), Set.of(), dense, sparse);
  }

  private static String words(SparseColumn column) {
    String values =
        switch (column.values()) {
          case TEXT -> "texts";
          case SIGNED -> "integers";
          case UNSIGNED -> "unsigned integers";
          case TIME, INSTANT -> "times";
        };
    return column.separator().isEmpty()
        ? values
        : values + " between \"" + column.separator() + "\"";
  }

  private static Columns requireSameColumns(ColumnChoice first, ColumnChoice second) {
    List<String> has = names(first);
    List<String> wants = names(second);
    if (!has.equals(wants)) {
      throw new ConfigException(
          "--against: got a model of the columns %s in files of %s, whose columns have places, expected %s as the first model; compare models of the same columns"
              .formatted(wants, first.config().format(), has));
    }
    return Columns.NONE;
  }

  private static List<String> names(ColumnChoice choice) {
    List<String> names = new ArrayList<>(choice.model().orElseThrow().rawSchema().dense());
    names.addAll(choice.model().orElseThrow().rawSchema().slotNames());
    return names;
  }

  private static void requireSameReading(DataConfig first, DataConfig second) {
    requireSame("data.format", first.format(), second.format());
    requireSame("data.label", first.labels(), second.labels());
    requireSame("data.weight", first.weight(), second.weight());
    requireSame("data.label.positive", first.positive(), second.positive());
    requireSame("data.missing_values", first.missing(), second.missing());
    requireSame("how lines are read", first.text(), second.text());
    requireSame("how fields of csv are read", first.csv(), second.csv());
    requireSame("how features of libsvm are read", first.libsvm(), second.libsvm());
    requireSame("how records are read", first.binary(), second.binary());
  }

  private static void requireSame(String what, Object first, Object second) {
    if (!first.equals(second)) {
      throw new ConfigException(
          "--against: %s: got %s for the second model, expected %s as for the first, as rows are read once for both; give --set with a value for both"
              .formatted(what, second, first));
    }
  }

  @Override
  public void add(float[] logits, Batch batch) {
    int count = pairs.size();
    float[] own = new float[batch.size() * count];
    predictor.logits(pick.of(batch), own);
    for (int row = 0; row < batch.size(); row++) {
      for (int k = 0; k < count; k++) {
        if (Float.isNaN(own[row * count + k])) {
          throw new ConfigException(
              "--against: got a score of the second model that is no number in row %d of %s, expected one; look for huge values in the row, or use another checkpoint"
                  .formatted(rows + row + 1, source));
        }
        if (tasks.counts(batch, row, k)) {
          float label = tasks.label(batch, row, k);
          int place = row * count + k;
          pairs.get(k).add(logits[place], own[place], label, batch.rowWeight(row));
        }
      }
    }
    rows += batch.size();
  }

  /**
   * Prints the figures of the second model, and by how much those of the first differ.
   *
   * @param first which has a log loss if its scores are probabilities
   */
  void print(PrintWriter out, Predictor first) {
    boolean probabilities = !first.hasOwnLoss() && !predictor.hasOwnLoss();
    for (int k = 0; k < pairs.size(); k++) {
      String name = pairs.size() > 1 ? tasks.tasks().get(k).label() + " " : "";
      PairedMetrics.Result result = pairs.get(k).result();
      out.println(name + "AUC of the other " + Format.fixed(result.auc().second(), 6));
      print(out, name + "AUC", result.auc());
      if (probabilities) {
        out.println(name + "log loss of the other " + Format.fixed(result.logLoss().second(), 6));
        print(out, name + "log loss", result.logLoss());
      }
    }
  }

  private static void print(PrintWriter out, String name, PairedMetrics.Difference difference) {
    String start = name + " difference";
    out.println(start + " (first - other) " + Format.signed(difference.value(), 6));
    out.println(
        start
            + " in 95% of samples "
            + Format.signed(difference.low(), 6)
            + " to "
            + Format.signed(difference.high(), 6));
    out.println(start + " by chance p " + Format.probability(difference.pValue()));
  }
}
