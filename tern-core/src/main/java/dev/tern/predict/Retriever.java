package dev.tern.predict;

import dev.tern.base.DataException;
import dev.tern.base.Shape;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.table.index.IdNumbers;
import dev.tern.model.Network;
import dev.tern.model.RetrievalModel;
import dev.tern.model.Scorer;
import dev.tern.tensor.Computation;
import dev.tern.tensor.Device;
import dev.tern.tensor.Variable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

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
  /** Items whose scores are computed in one product. */
  private static final int BLOCK = 4096;

  /** Rows whose vectors are computed, and compared with items, at once. */
  private static final int ROWS = 256;

  /** Results of one call. */
  private static final int MOST_RESULTS = Integer.MAX_VALUE - 8;

  private final Device device;
  private final FeatureEncoder encoder;
  private final Network network;
  private final int width;
  private final List<String> itemColumns;
  private final int slot;
  private final Scorer users;
  private final Scorer items;
  private final Batch encoded;
  private final float[] vectors;

  /** The vectors of all items, {@link #BLOCK} in each. */
  private final List<Variable> blocks = new ArrayList<>();

  private final IdNumbers numbers = new IdNumbers();
  private final Variable queries;
  private final Variable candidates;
  private final Computation products;

  private Retriever(Device device, FeatureEncoder encoder, Network network, RetrievalModel model) {
    this.device = device;
    this.encoder = encoder;
    this.network = network;
    width = model.vectorWidth();
    itemColumns = model.itemColumns();
    slot = encoder.rawSchema().slotNames().indexOf(itemColumns.getFirst());
    if (slot < 0) {
      throw new IllegalArgumentException(
          "retrieve: got items named by %s, which is no column of ids of the rows, %s; train a model whose first item column is one"
              .formatted(itemColumns.getFirst(), encoder.rawSchema().slotNames()));
    }
    users = Scorer.ofConstant(network, ROWS, model::users, width);
    items = Scorer.ofConstant(network, ROWS, model::items, width);
    encoded = new Batch(encoder.schema(), ROWS);
    vectors = new float[ROWS * width];
    queries = Variable.zeros(device, "users", Shape.of(ROWS, width));
    candidates = Variable.zeros(device, "items", Shape.of(BLOCK, width));
    products =
        Computation.of(
            device,
            List.of(queries.tensor().matmul(candidates.tensor().transpose(0, 1))),
            Map.of());
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
      if (!(network.model() instanceof RetrievalModel model)) {
        throw new IllegalArgumentException(
            "%s: got a model without vectors of items, expected one of two towers; train one of model.type: twotower"
                .formatted(checkpoint.folder()));
      }
      return new Retriever(device, checkpoint.encoder(), network, model);
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
    return itemColumns;
  }

  /** Items added so far. */
  public int size() {
    return numbers.size();
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
    encoder.requireFits(rows);
    int[] result = new int[rows.size()];
    for (int from = 0; from < rows.size(); from += ROWS) {
      int to = Math.min(rows.size(), from + ROWS);
      if (hasNew(rows, from, to)) {
        encoder.apply(rows, from, to, encoded);
        items.logits(encoded, vectors, 0);
        requireNumbers("item", from, to);
      }
      for (int row = from; row < to; row++) {
        result[row] = add(rows, row, (row - from) * width);
      }
    }
    return result;
  }

  /** Whether vectors are needed: in rows of clicks most items are there already. */
  private boolean hasNew(Batch rows, int from, int to) {
    long[] ids = rows.ids(slot);
    int end = rows.offsets(slot)[to];
    for (int i = rows.offsets(slot)[from]; i < end; i++) {
      if (numbers.find(ids[i]) < 0) {
        return true;
      }
    }
    return false;
  }

  private int add(Batch rows, int row, int vector) {
    int at = rows.offsets(slot)[row];
    int ids = rows.offsets(slot)[row + 1] - at;
    if (ids > 1) {
      throw new DataException(
          "retrieve: got %d values of %s in row %d of a batch, expected one, as they name the row's item; mend the row"
              .formatted(ids, itemColumns.getFirst(), row));
    }
    if (ids == 0) {
      return -1;
    }
    int before = numbers.size();
    int number = numbers.of(rows.ids(slot)[at]);
    if (number == before) {
      if (number / BLOCK == blocks.size()) {
        blocks.add(Variable.zeros(device, "items", Shape.of(BLOCK, width)));
      }
      long to = blocks.get(number / BLOCK).memory().address();
      Memory.copyIn(vectors, vector, to + 4L * (number % BLOCK) * width, width);
    }
    return number;
  }

  /** The number of the item of row {@code row}; -1 where it has none, or one that was not added. */
  public int number(Batch rows, int row) {
    int at = rows.offsets(slot)[row];
    return at == rows.offsets(slot)[row + 1] ? -1 : numbers.find(rows.ids(slot)[at]);
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
    if (found == 0) {
      return result;
    }
    BestScores[] best = new BestScores[Math.min(ROWS, rows.size())];
    Arrays.setAll(best, _ -> new BestScores(found));
    for (int from = 0; from < rows.size(); from += ROWS) {
      int count = Math.min(ROWS, rows.size() - from);
      encoder.apply(rows, from, from + count, encoded);
      users.logits(encoded, vectors, 0);
      requireNumbers("user", from, from + count);
      Memory.copyIn(vectors, 0, queries.memory().address(), count * width);
      compare(best, count);
      for (int row = 0; row < count; row++) {
        best[row].drain(result.items(), result.scores(), (from + row) * found);
      }
    }
    return result;
  }

  private void requireNumbers(String of, int from, int to) {
    for (int i = 0; i < (to - from) * width; i++) {
      if (!Float.isFinite(vectors[i])) {
        throw new DataException(
            "retrieve: got %s in the vector of the %s of row %d of a batch, expected a finite number; look for a huge value among its columns, or for weights that diverged in training"
                .formatted(vectors[i], of, from + i / width));
      }
    }
  }

  /** Offers the scores of all items to the first {@code rows} rows. */
  private void compare(BestScores[] best, int rows) {
    for (int block = 0; block < blocks.size(); block++) {
      candidates.memory().copyFrom(blocks.get(block).memory());
      products.run();
      long scores = products.output(0).address();
      int first = block * BLOCK;
      int count = Math.min(BLOCK, size() - first);
      device
          .workers()
          .run(rows, (row, _) -> best[row].offer(scores + 4L * BLOCK * row, first, count));
    }
  }

  @Override
  public void close() {
    products.close();
    blocks.forEach(Variable::close);
    List.of(queries, candidates).forEach(Variable::close);
    users.close();
    items.close();
    network.close();
    device.close();
  }
}
