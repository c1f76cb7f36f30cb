package dev.tern.predict;

import dev.tern.checkpoint.Checkpoint;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.internal.search.ItemSet;
import dev.tern.internal.search.UserSearch;
import dev.tern.internal.search.VectorTowers;
import dev.tern.model.Network;
import dev.tern.tensor.Device;
import java.nio.file.Path;
import java.util.List;

/**
 * Finds the items with the highest scores for users, by a trained model of two towers. All items
 * are compared, so the result is exact. Items are computed once, when they are added; users in each
 * call. One thread at a time.
 *
 * <pre>{@code
 * try (Retriever retriever = Retriever.open(Path.of("runs/shop"), ScoreOptions.DEFAULT)) {
 *   Batch items = new Batch(retriever.schema(), 2);
 *   retriever.encoder().addRow(Map.of("item", "A17", "category", "shoes"), items);
 *   retriever.encoder().addRow(Map.of("item", "B02", "category", "hats"), items);
 *   int[] numbers = retriever.add(items);
 *   Batch users = new Batch(retriever.schema(), 1);
 *   retriever.encoder().addRow(Map.of("user", "ann"), users);
 *   TopItems best = retriever.top(users, 10);
 * }
 * }</pre>
 */
public final class Retriever implements AutoCloseable {
  /** Rows whose vectors are computed, and compared with items, at once. */
  private static final int ROWS = 256;

  /** Results of one call. */
  static final int MOST_RESULTS = Integer.MAX_VALUE - 8;

  private final Device device;
  private final FeatureEncoder encoder;
  private final Network network;
  private final VectorTowers towers;
  private final ItemSet items;
  private final UserSearch users;

  private Retriever(Device device, FeatureEncoder encoder, Network network, VectorTowers towers) {
    this.device = device;
    this.encoder = encoder;
    this.network = network;
    this.towers = towers;
    items = new ItemSet(towers);
    users = new UserSearch(towers, ROWS);
  }

  /**
   * Opens a checkpoint of a model of two towers, or a run's best one.
   *
   * @param options threads that compute, and how rows of tables lie in memory
   * @throws IllegalArgumentException if it is of another model
   */
  public static Retriever open(Path checkpoint, ScoreOptions options) {
    return open(Checkpoint.open(checkpoint), options);
  }

  /** As {@link #open(Path, ScoreOptions)}, for who opened the checkpoint already. */
  public static Retriever open(Checkpoint checkpoint, ScoreOptions options) {
    Device device = Device.cpu(options.threads(), Long.MAX_VALUE);
    try {
      Network network = checkpoint.load(device, options.tables());
      VectorTowers towers =
          VectorTowers.of(network, checkpoint.encoder(), true)
              .orElseThrow(() ->
                  new IllegalArgumentException(
                      "%s: got a model without vectors of items, expected one of two towers; train one of model.type: twotower"
                          .formatted(checkpoint.folder())));
      return new Retriever(device, checkpoint.encoder(), network, towers);
    } catch (RuntimeException | Error e) {
      device.close();
      throw e;
    }
  }

  /** Turns rows into the model's features. */
  public FeatureEncoder encoder() {
    return encoder;
  }

  /** The columns of rows: of users and of items. A row may leave out those that are not used. */
  public Schema schema() {
    return encoder.rawSchema();
  }

  /** The columns of the item. The first one's ids name it; all other columns are the user's. */
  public List<String> itemColumns() {
    return towers.itemColumns();
  }

  /** Items added so far. */
  public int size() {
    return items.size();
  }

  /**
   * Adds the items of rows, of which only columns of the item are read. An item that is there
   * already, by its id, stays as it is.
   *
   * @param rows raw rows
   * @return of each row the number of its item: 0 for the item added first; -1 for a row without an
   *     item
   */
  public int[] add(Batch rows) {
    return items.add(rows);
  }

  /** The number of the item of row {@code row}; -1 where it has none, or one that was not added. */
  public int number(Batch rows, int row) {
    return items.number(rows, row);
  }

  /**
   * The best items for each row, of which only columns of the user are read.
   *
   * @param rows raw rows
   * @param most items of a row, 1 or more
   */
  public TopItems top(Batch rows, int most) {
    encoder.requireFits(rows);
    if (most < 1) {
      throw new IllegalArgumentException(
          "retrieve: got %d items a row, expected 1 or more".formatted(most));
    }
    int found = Math.min(most, size());
    if ((long) rows.size() * found > MOST_RESULTS) {
      throw new IllegalArgumentException(
          "retrieve: got %,d items for each of %,d rows, expected %,d results at most; ask for fewer rows at once"
              .formatted(found, rows.size(), MOST_RESULTS));
    }
    int all = rows.size() * found;
    TopItems result = new TopItems(found, new int[all], new float[all]);
    if (found > 0) {
      users.top(rows, found, items, result.items(), result.scores());
    }
    return result;
  }

  @Override
  public void close() {
    users.close();
    items.close();
    network.close();
    device.close();
  }
}
