package dev.tern.files;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/**
 * What a perfect model of a generated set would reach: one that scores each row with its true
 * probability.
 *
 * @param rows rows of the set
 * @param positiveRate share of rows with label 1
 * @param auc area under the ROC curve of true probabilities against drawn labels, ties counting
 *     half; NaN where all labels are equal
 * @param logLoss mean of -ln of the true probability of the drawn label
 * @param recallAt10 where rows are of users and items: the share of rows with label 1 whose item is
 *     among the 10 that are shown to the row's user, and then get the label, most often
 */
public record Optimum(
    long rows, double positiveRate, double auc, double logLoss, OptionalDouble recallAt10) {
  /** Without items to choose from. */
  public Optimum(long rows, double positiveRate, double auc, double logLoss) {
    this(rows, positiveRate, auc, logLoss, OptionalDouble.empty());
  }

  Optimum withRecallAt10(double share) {
    return new Optimum(rows, positiveRate, auc, logLoss, OptionalDouble.of(share));
  }

  /**
   * Exact, from the true probabilities of the rows, which are sorted in place: of those with label
   * 1 up to {@code positives}, then of the others.
   */
  static Optimum of(double[] p, int positives) {
    double loss = 0;
    for (int i = 0; i < p.length; i++) {
      loss -= i < positives ? StrictMath.log(p[i]) : StrictMath.log1p(-p[i]);
    }
    return new Optimum(p.length, (double) positives / p.length, auc(p, positives), loss / p.length);
  }

  private static double auc(double[] p, int positives) {
    Arrays.sort(p, 0, positives);
    Arrays.sort(p, positives, p.length);
    long twice = 0;
    int below = positives;
    int upTo = positives;
    for (int i = 0; i < positives; i++) {
      while (below < p.length && p[below] < p[i]) {
        below++;
      }
      while (upTo < p.length && p[upTo] <= p[i]) {
        upTo++;
      }
      twice += (long) below - positives + upTo - positives;
    }
    return twice / 2.0 / ((double) positives * (p.length - positives));
  }

  /**
   * The figures as a JSON object; what is NaN is null. Of several labels an object by the label's
   * name.
   */
  public static String toJson(Map<String, Optimum> byLabel) {
    Map<String, Object> objects = new LinkedHashMap<>();
    byLabel.forEach((label, optimum) -> objects.put(label, optimum.fields()));
    Object written = objects.size() == 1 ? objects.values().iterator().next() : objects;
    return JsonMapper.shared().writerWithDefaultPrettyPrinter().writeValueAsString(written) + "\n";
  }

  private Map<String, Object> fields() {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("rows", rows);
    object.put("positive_rate", orNull(positiveRate));
    object.put("auc", orNull(auc));
    object.put("log_loss", orNull(logLoss));
    recallAt10.ifPresent(recall -> object.put("recall_at_10", orNull(recall)));
    return object;
  }

  private static @Nullable Double orNull(double value) {
    return Double.isNaN(value) ? null : value;
  }
}
