package dev.tern.train;

import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.readers.ColumnPick;
import dev.tern.internal.search.ItemSet;
import dev.tern.internal.search.UserSearch;
import dev.tern.internal.search.VectorTowers;
import dev.tern.metrics.RetrievalMetrics;
import dev.tern.model.Network;
import java.util.Optional;

/**
 * The share of held-out rows labelled 1 whose own item is among the best for their user, of all
 * items that the held-out rows have. It takes a second pass over them: in the first one the items
 * come together.
 */
final class ItemRecall implements AutoCloseable {
  /** Rows that are compared with all items at once. */
  private static final int ROWS = 256;

  private final Network network;
  private final FeatureEncoder encoder;
  private final int at;
  private final ItemSet items;
  private final UserSearch users;
  private final int[] found;
  private final float[] scores;

  /**
   * Takes the memory that it needs but for the items' vectors.
   *
   * @param at items that are found for each row
   */
  ItemRecall(Network network, FeatureEncoder encoder, int at) {
    this.network = network;
    this.encoder = encoder;
    this.at = at;
    VectorTowers towers = VectorTowers.of(network, encoder, false).orElseThrow();
    items = new ItemSet(towers);
    try {
      users = new UserSearch(towers, ROWS);
    } catch (RuntimeException | Error e) {
      items.close();
      throw e;
    }
    found = new int[ROWS * at];
    scores = new float[ROWS * at];
  }

  /** Forgets the items of the evaluation before. */
  void begin() {
    items.clear();
  }

  /** Adds the items of rows. */
  void add(Batch raw) {
    items.add(raw);
  }

  /**
   * Reads the rows again, and looks for their items.
   *
   * @param pick takes the model's columns out of them
   */
  RetrievalMetrics.Result search(DataReader eval, ColumnPick pick) {
    RetrievalMetrics metrics = new RetrievalMetrics(at);
    eval.start(0);
    Optional<Batch> gathered = Optional.empty();
    for (Optional<Batch> next = eval.next(); next.isPresent(); next = eval.next()) {
      try (Batch read = next.get()) {
        Batch rows = pick.of(read);
        Batch positives = gathered.orElseGet(() -> new Batch(rows.schema(), ROWS));
        gathered = Optional.of(positives);
        for (int row = 0; row < rows.size(); row++) {
          if (weight(rows, row) > 0) {
            positives.appendRows(rows, row, row + 1);
          }
          if (positives.size() == ROWS) {
            search(positives, metrics);
          }
        }
      }
    }
    gathered.filter(rows -> rows.size() > 0).ifPresent(rows -> search(rows, metrics));
    return metrics.result(items.size());
  }

  /** How often a row counts as one labelled 1: a soft label is a share of it. */
  private float weight(Batch rows, int row) {
    return network.tasks().counts(rows, row, 0)
        ? rows.rowWeight(row) * network.tasks().label(rows, row, 0)
        : 0;
  }

  private void search(Batch rows, RetrievalMetrics metrics) {
    encoder.requireFits(rows);
    int most = Math.min(at, items.size());
    if (most > 0) {
      users.top(rows, most, items, found, scores);
    }
    for (int row = 0; row < rows.size(); row++) {
      int own = items.number(rows, row);
      boolean hit = false;
      for (int i = 0; i < most && own >= 0; i++) {
        hit |= found[row * most + i] == own;
      }
      metrics.add(hit, weight(rows, row));
    }
    rows.clear();
  }

  @Override
  public void close() {
    users.close();
    items.close();
  }
}
