package dev.tern.cli.understand;

import dev.tern.base.DataException;
import dev.tern.cli.run.Format;
import dev.tern.cli.run.Spread;
import dev.tern.data.Batch;
import dev.tern.data.ColumnPart;
import dev.tern.data.Schema;
import dev.tern.metrics.ClassMetrics;
import dev.tern.metrics.Metrics;
import dev.tern.metrics.TaskMetrics;
import dev.tern.model.TaskLabels;
import dev.tern.predict.Predictor;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.LongConsumer;

/**
 * How much worse a model is once the values of a column are shuffled among the rows, so that they
 * say nothing of their rows any more but are as frequent as before (Breiman, "Random Forests",
 * 2001; Fisher, Rudin and Dominici, 2019).
 *
 * <p>The rows are encoded once and stay in memory. For each shuffle a few thousand at a time are
 * copied, get the values of other rows in the shuffled columns, and are scored by all threads.
 */
final class Importance {
  /** Rows of either label below which an AUC says little. */
  static final int LEAST_OF_A_LABEL = 10;

  /** Rows that are scored at a time. */
  private static final int CHUNK = 4096;

  private final Predictor predictor;
  private final Batch rows;
  private final Batch labels;
  private final TaskMetrics metrics;
  private final LongConsumer progress;
  private final Batch scratch;
  private final Batch scratchLabels;
  private final float[] logits;
  private long scored;

  /**
   * Measures on rows.
   *
   * @param raw rows with the columns of the model, which are not needed any more
   * @param progress receives the rows scored so far
   */
  Importance(Predictor predictor, Batch raw, TaskLabels tasks, LongConsumer progress) {
    this.predictor = predictor;
    this.progress = progress;
    rows = new Batch(predictor.encoder().schema(), Math.max(1, raw.size()));
    predictor.encoder().apply(raw, rows);
    labels = labels(raw);
    metrics = new TaskMetrics(tasks);
    scratch = new Batch(rows.schema(), CHUNK);
    scratchLabels = new Batch(labels.schema(), CHUNK);
    logits = new float[CHUNK * predictor.tasks().size()];
  }

  /** The labels and weights of rows alone, as encoded rows may have other labels. */
  private static Batch labels(Batch raw) {
    Schema own = raw.schema();
    Schema schema = new Schema(own.labels(), List.of(), List.of(), own.weight());
    Batch labels = new Batch(schema, Math.max(1, raw.size()));
    labels.resize(raw.size());
    System.arraycopy(raw.labels(), 0, labels.labels(), 0, raw.size() * own.labelDim());
    if (own.weighted()) {
      System.arraycopy(raw.rowWeights(), 0, labels.rowWeights(), 0, raw.size());
    }
    return labels;
  }

  /**
   * Figures of one task, NaN where it has none.
   *
   * @param task its label
   * @param auc area under the ROC curve
   * @param loss mean log loss, or mean loss of a task that predicts values
   */
  record Figures(String task, double auc, double loss) {}

  /**
   * What shuffling columns costs each task.
   *
   * @param part the columns
   * @param tasks of each task what it loses
   */
  record Column(ColumnPart part, List<Lost> tasks) {}

  /**
   * What shuffling costs a task.
   *
   * @param auc AUC before, less AUC after
   * @param loss loss after, less loss before
   */
  record Lost(Spread auc, Spread loss) {}

  /** Figures of the rows as they are. */
  List<TaskMetrics.Result> base() {
    score(new ColumnPart("", List.of(), List.of()), new int[0]);
    return metrics.results();
  }

  /** What shuffling a part costs, {@code repeats} times, beside {@code base}. */
  Column of(ColumnPart part, List<Figures> base, int repeats, long seed) {
    double[][] auc = new double[base.size()][repeats];
    double[][] loss = new double[base.size()][repeats];
    ColumnPart encoded = predictor.encoder().encoded(part);
    for (int repeat = 0; repeat < repeats; repeat++) {
      score(encoded, shuffled(part.name(), repeat, seed));
      List<Figures> after = figures(metrics.results(), predictor.hasOwnLoss());
      for (int k = 0; k < base.size(); k++) {
        auc[k][repeat] = base.get(k).auc() - after.get(k).auc();
        loss[k][repeat] = after.get(k).loss() - base.get(k).loss();
      }
    }
    List<Lost> lost = new ArrayList<>();
    for (int k = 0; k < base.size(); k++) {
      lost.add(new Lost(Spread.of(auc[k]), Spread.of(loss[k])));
    }
    return new Column(part, lost);
  }

  /**
   * The figures of each task; of a label that is a class, those of all classes together.
   *
   * @param ranks whether scores are no probabilities, so that log loss says nothing
   */
  static List<Figures> figures(List<TaskMetrics.Result> results, boolean ranks) {
    List<Figures> figures = new ArrayList<>();
    for (TaskMetrics.Result result : labels(results)) {
      if (result.classes().isPresent()) {
        ClassMetrics.Result classes = result.classes().get();
        figures.add(new Figures(classes.label(), Double.NaN, classes.logLoss()));
      } else if (result.values().isPresent()) {
        figures.add(new Figures(result.task(), Double.NaN, result.loss()));
      } else {
        double loss = ranks ? Double.NaN : result.loss();
        figures.add(new Figures(result.task(), result.metrics().auc(), loss));
      }
    }
    return figures;
  }

  /** The results without classes of a label behind its first, whose result has all of them. */
  private static List<TaskMetrics.Result> labels(List<TaskMetrics.Result> results) {
    List<TaskMetrics.Result> labels = new ArrayList<>();
    int next = 0;
    for (int k = 0; k < results.size(); k++) {
      if (k >= next) {
        labels.add(results.get(k));
        next = k + results.get(k).classes().map(ClassMetrics.Result::classes).orElse(1);
      }
    }
    return labels;
  }

  /**
   * Refuses rows with too few of either label for an AUC to say much.
   *
   * @param source where the rows come from, for the message
   */
  static void requireBothLabels(List<TaskMetrics.Result> results, String source) {
    for (TaskMetrics.Result result : labels(results)) {
      Metrics.Result of = result.metrics();
      boolean hasAuc = result.values().isEmpty() && result.classes().isEmpty();
      long others = of.rows() - of.positives();
      if (hasAuc && Math.min(of.positives(), others) < LEAST_OF_A_LABEL) {
        throw new DataException(
            "%s: got %s rows labelled 1 and %s labelled 0 for %s, expected at least %d of each, as an AUC of fewer says little; give more rows"
                .formatted(
                    source,
                    Format.whole(of.positives()),
                    Format.whole(others),
                    result.task(),
                    LEAST_OF_A_LABEL));
      }
    }
  }

  /** Which row each row has the values of. The same for a name, whatever else is shuffled. */
  private int[] shuffled(String name, int repeat, long seed) {
    long first = new SplittableRandom(seed).nextLong();
    SplittableRandom random = new SplittableRandom(first + 31L * name.hashCode() + repeat);
    int[] from = new int[rows.size()];
    for (int row = 0; row < from.length; row++) {
      int other = random.nextInt(row + 1);
      from[row] = from[other];
      from[other] = row;
    }
    return from;
  }

  /** Scores all rows with the values of other rows in some columns. */
  private void score(ColumnPart part, int[] from) {
    metrics.clear();
    for (int at = 0; at < rows.size(); at += CHUNK) {
      int end = Math.min(rows.size(), at + CHUNK);
      scratch.clear();
      scratch.appendRows(rows, at, end);
      scratchLabels.clear();
      scratchLabels.appendRows(labels, at, end);
      for (int number : part.dense()) {
        exchangeNumber(number, from, at, end);
      }
      for (int slot : part.slots()) {
        exchangeSlot(slot, from, at, end);
      }
      predictor.encodedLogits(scratch, logits);
      requireNumbers(end - at, part);
      metrics.addLogits(logits, scratchLabels);
      scored += end - at;
      progress.accept(scored);
    }
  }

  private void exchangeNumber(int number, int[] from, int at, int end) {
    int dim = rows.schema().denseDim();
    for (int row = at; row < end; row++) {
      scratch.dense()[(row - at) * dim + number] = rows.dense()[from[row] * dim + number];
    }
  }

  private void exchangeSlot(int slot, int[] from, int at, int end) {
    int[] offsets = scratch.offsets(slot);
    int count = 0;
    for (int row = at; row < end; row++) {
      count = Math.addExact(count, rows.idCount(slot, from[row]));
      offsets[row - at + 1] = count;
    }
    long[] ids = scratch.ensureIds(slot, count);
    boolean weighted = rows.schema().slots().get(slot).weighted();
    float[] weights = weighted ? scratch.ensureWeights(slot, count) : new float[0];
    for (int row = at; row < end; row++) {
      int source = rows.offsets(slot)[from[row]];
      int target = offsets[row - at];
      int length = offsets[row - at + 1] - target;
      System.arraycopy(rows.ids(slot), source, ids, target, length);
      if (weighted) {
        System.arraycopy(rows.weights(slot), source, weights, target, length);
      }
    }
  }

  private void requireNumbers(int count, ColumnPart part) {
    for (int i = 0; i < count * predictor.tasks().size(); i++) {
      if (Float.isNaN(logits[i])) {
        throw new DataException(
            "importance: got a score that is no number"
                + (part.name().isEmpty() ? "" : " once " + part.name() + " is shuffled")
                + ", expected one; look for huge values among the features, or use another"
                + " checkpoint");
      }
    }
  }
}
