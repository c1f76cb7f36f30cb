package dev.tern.metrics;

/** Adds the figures of groups up to those of {@link GroupMetrics}. */
final class GroupSums {
  private long groups;
  private long mixed;
  private long positive;
  private double rows;
  private double positives;
  private double byRows;
  private double byPositives;
  private double auc;
  private double ndcg;
  private double recall;
  private double hits;
  private double reciprocal;

  /** Counts a group. */
  void addGroup() {
    groups++;
  }

  /** Adds the figures of a group with a row labelled 1. */
  void addOrder(double ownNdcg, double ownRecall, boolean hit, double ownReciprocal) {
    positive++;
    ndcg += ownNdcg;
    recall += ownRecall;
    hits += hit ? 1 : 0;
    reciprocal += ownReciprocal;
  }

  /**
   * Adds the AUC of a group with rows of both labels.
   *
   * @param all weight of its rows
   * @param ones weight of those labelled 1
   */
  void addAuc(double own, double all, double ones) {
    mixed++;
    rows += all;
    positives += ones;
    byRows += own * all;
    byPositives += own * ones;
    auc += own;
  }

  /** The means; NaN without a group. */
  GroupMetrics.Result result() {
    return new GroupMetrics.Result(
        new GroupMetrics.Counts(groups, mixed, positive),
        new GroupMetrics.Auc(byRows / rows, byPositives / positives, auc / mixed),
        new GroupMetrics.Order(
            ndcg / positive, recall / positive, hits / positive, reciprocal / positive));
  }
}
