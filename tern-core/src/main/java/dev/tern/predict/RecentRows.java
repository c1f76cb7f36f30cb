package dev.tern.predict;

import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.encode.FeatureEncoder;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Some of the rows scored last, to compare versions of a model on. Whoever scores offers rows; they
 * are taken only where no other thread gives some at the same moment, so nobody waits.
 */
final class RecentRows {
  /** Keeps nothing. */
  static final RecentRows NONE = new RecentRows(Optional.empty());

  /** Rows of each half: the older half goes when the newer one is full. */
  private static final int HALF = 500;

  /** Fewest rows whose mean prediction says something. */
  private static final int FEWEST = 100;

  /** Of single rows every so many-th is taken, as taking one costs about as much as scoring it. */
  private static final int EVERY = 16;

  private final AtomicBoolean busy = new AtomicBoolean();
  private final AtomicInteger offered = new AtomicInteger();
  private final Optional<Halves> halves;

  private static final class Halves {
    private Batch newer;
    private Batch older;

    Halves(Schema schema) {
      newer = new Batch(schema, HALF);
      older = new Batch(schema, HALF);
    }

    /** The half with room for a row. */
    Batch room() {
      if (newer.size() >= HALF) {
        Batch oldest = older;
        older = newer;
        newer = oldest;
        newer.clear();
      }
      return newer;
    }
  }

  private RecentRows(Optional<Halves> halves) {
    this.halves = halves;
  }

  /** Keeps rows of a schema. */
  static RecentRows of(Schema schema) {
    return new RecentRows(Optional.of(new Halves(schema)));
  }

  /** Whether it keeps rows of this schema. */
  boolean isOf(Schema schema) {
    return halves.isPresent() && halves.get().newer.schema().equals(schema);
  }

  /** Offers rows that were scored. */
  void offer(Batch rows) {
    if (halves.isEmpty() || !busy.compareAndSet(false, true)) {
      return;
    }
    try {
      Batch room = halves.get().room();
      int labels = rows.schema().labelDim();
      if (labels == 0 || labels == room.schema().labelDim()) {
        room.appendRows(rows, 0, Math.min(rows.size(), HALF - room.size()));
      }
    } finally {
      busy.set(false);
    }
  }

  /** Offers a row that was scored. */
  void offer(Map<String, ?> row, FeatureEncoder encoder) {
    if (halves.isEmpty()
        || offered.getAndIncrement() % EVERY != 0
        || !busy.compareAndSet(false, true)) {
      return;
    }
    try {
      encoder.addRow(row, halves.get().room());
    } finally {
      busy.set(false);
    }
  }

  /** A copy of the rows kept, for one thread at a time; empty if there are none. */
  Optional<Batch> rows() {
    if (halves.isEmpty()) {
      return Optional.empty();
    }
    while (!busy.compareAndSet(false, true)) {
      Thread.onSpinWait();
    }
    try {
      Halves all = halves.get();
      Batch copy = new Batch(all.newer.schema(), 2 * HALF);
      copy.appendRows(all.older, 0, all.older.size());
      copy.appendRows(all.newer, 0, all.newer.size());
      return copy.size() == 0 ? Optional.empty() : Optional.of(copy);
    } finally {
      busy.set(false);
    }
  }

  /**
   * Why these rows forbid a version: one's mean prediction of some task is far from the other's.
   *
   * @param most that the means may be apart
   */
  Optional<String> shift(ModelVersion before, ModelVersion next, double most) {
    Optional<Batch> rows = rows();
    if (rows.isEmpty()
        || rows.get().size() < FEWEST
        || !before.schema().equals(next.schema())
        || !before.tasks().equals(next.tasks())) {
      return Optional.empty();
    }
    double[] was = means(before, rows.get());
    double[] is = means(next, rows.get());
    for (int task = 0; task < was.length; task++) {
      if (!(Math.abs(is[task] - was[task]) <= most)) {
        return Optional.of(
            "got the mean prediction %s for %d recent rows, %s before, expected a shift of %s at most; look at the training, or allow more"
                .formatted(is[task], rows.get().size(), was[task], most));
      }
    }
    return Optional.empty();
  }

  private static double[] means(ModelVersion version, Batch rows) {
    float[] scores = version.predictor().score(rows);
    int tasks = version.tasks().size();
    double[] means = new double[tasks];
    for (int i = 0; i < scores.length; i++) {
      means[i % tasks] += scores[i];
    }
    for (int task = 0; task < tasks; task++) {
      means[task] /= rows.size();
    }
    return means;
  }
}
