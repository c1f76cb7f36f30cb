package dev.tern.serve.http.metrics;

import dev.tern.serve.ServedVersion;
import java.util.concurrent.atomic.DoubleAdder;
import java.util.concurrent.atomic.LongAdder;

/** What is counted of one model; its series are those of the models that are served, no others. */
public final class ModelMetrics {
  private static final float[] HALF = {0.5f};

  private final String label;
  private final RequestCounts infer = RequestCounts.ofHttp();
  private final RequestCounts predict = RequestCounts.ofHttp();
  private final RequestCounts grpc = RequestCounts.ofGrpc();
  private final RequestCounts other = RequestCounts.ofHttp();
  private final LongAdder rows = new LongAdder();
  private final LongAdder predictions = new LongAdder();
  private final DoubleAdder predictionSum = new DoubleAdder();
  private final Histogram scoring = new Histogram();
  private final RequestCounts retrieve = RequestCounts.ofHttp();
  private final LongAdder users = new LongAdder();
  private final Histogram finding = new Histogram();
  private final ColumnWatch columns = new ColumnWatch();
  private final DriftWatch drift = new DriftWatch();

  public ModelMetrics(String model) {
    label = Exposition.label("model", model);
  }

  public String label() {
    return label;
  }

  /**
   * Counts one answer: its rows, what the first task predicts of them, and the time of scoring.
   *
   * @param scores those of all tasks, row by row
   */
  void scored(int count, int tasks, float[] scores, long nanos) {
    rows.add(count);
    double sum = 0;
    int finite = 0;
    for (int row = 0; row < count; row++) {
      float score = scores[row * tasks];
      if (Float.isFinite(score)) { // A NaN would hide the sum of all others for good.
        sum += score;
        finite++;
      }
    }
    predictions.add(finite);
    predictionSum.add(sum);
    scoring.add(nanos);
    drift.add(scores, count, tasks);
  }

  /** Counts an answer, so that the JIT has seen counters that one thread alone adds to. */
  public void rehearse() {
    scored(1, 1, HALF, 1_000);
    columns.rehearse();
  }

  ColumnWatch columns() {
    return columns;
  }

  DriftWatch drift() {
    return drift;
  }

  /** Counts one answer of items. */
  void retrieved(int count, long nanos) {
    users.add(count);
    finding.add(nanos);
  }

  /** A version of the model whose scores and items are counted here. */
  public ServedVersion counted(ServedVersion version) {
    ServedVersion counted = version.with(new CountedScorer(version.scorer(), this));
    return version.items().isEmpty()
        ? counted
        : counted.with(new CountedItems(version.items().get(), this));
  }

  /** Requests by the Open Inference Protocol over HTTP. */
  public RequestCounts infer() {
    return infer;
  }

  /** Requests by the protocols of rows over HTTP. */
  public RequestCounts predict() {
    return predict;
  }

  /** Calls by gRPC. */
  public RequestCounts grpc() {
    return grpc;
  }

  /** Requests for items. */
  public RequestCounts retrieve() {
    return retrieve;
  }

  /** Requests that ask for neither scores nor items. */
  public RequestCounts other() {
    return other;
  }

  public void writeCodes(Exposition page, String name) {
    infer.writeCodes(page, name, label + ",protocol=\"v2\"");
    predict.writeCodes(page, name, label + ",protocol=\"v1\"");
    grpc.writeCodes(page, name, label + ",protocol=\"grpc\"");
    if (retrieve.isUsed()) {
      retrieve.writeCodes(page, name, label + ",protocol=\"retrieve\"");
    }
    other.writeCodes(page, name, label + ",protocol=\"other\"");
  }

  void writeTimes(Exposition page, String name) {
    infer.writeTimes(page, name, label + ",protocol=\"v2\"");
    predict.writeTimes(page, name, label + ",protocol=\"v1\"");
    grpc.writeTimes(page, name, label + ",protocol=\"grpc\"");
    if (retrieve.isUsed()) {
      retrieve.writeTimes(page, name, label + ",protocol=\"retrieve\"");
    }
  }

  void writeScoring(Exposition page, String name) {
    scoring.write(page, name, label);
  }

  /** Users that items were found for, and the time that it took. */
  void writeFinding(Exposition page, String usersName, boolean isTime) {
    if (retrieve.isUsed() && isTime) {
      finding.write(page, usersName, label);
    } else if (retrieve.isUsed()) {
      page.line(usersName, label, users.sum());
    }
  }

  void writeRows(Exposition page, String name) {
    page.line(name, label, rows.sum());
  }

  void writePredictions(Exposition page, String sumName, boolean isSum) {
    if (isSum) {
      page.line(sumName, label, predictionSum.sum());
    } else {
      page.line(sumName, label, predictions.sum());
    }
  }
}
