package dev.tern.predict;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.internal.search.ItemSet;
import dev.tern.internal.search.UserSearch;
import dev.tern.internal.search.VectorTowers;
import dev.tern.model.Network;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;

/**
 * Finds the best of {@link Candidates} for users, by a served version of a model of two towers: the
 * bits that {@link Retriever} gives for the version's checkpoint and the same items. All items are
 * compared. Thread-safe; each call takes working memory from a pool and gives it back.
 */
public final class ItemFinder {
  /** Users that a call compares at once. */
  private static final int[] USERS = {1, 8, 64};

  /** Items that are made ready at once. */
  private static final int ROWS = 256;

  /** Results of one call. */
  private static final int MOST_RESULTS = 1 << 24;

  private final FeatureEncoder encoder;
  private final Candidates candidates;
  private final VectorTowers towers;
  private final ItemSet items;
  private final Semaphore turns;
  private final int callers;
  private final ArrayDeque<UserSearch> free = new ArrayDeque<>();

  /**
   * What was found for {@code B} users.
   *
   * @param most items of a user, {@code k}: as many as were asked for, or all there are
   * @param counts of each user, how many were found: fewer than {@code k} where others were
   *     excluded
   * @param items their numbers, {@code [B, k]} row by row, by falling score; of equal scores the
   *     candidate that was added first comes first
   * @param scores their scores, {@code [B, k]}
   */
  public record Found(int most, int[] counts, int[] items, float[] scores) {}

  private ItemFinder(
      FeatureEncoder encoder, Candidates candidates, VectorTowers towers, int threads) {
    this.encoder = encoder;
    this.candidates = candidates;
    this.towers = towers;
    callers = Math.max(threads, Runtime.getRuntime().availableProcessors());
    turns = new Semaphore(callers);
    items = new ItemSet(towers);
  }

  /**
   * Computes the vectors of candidates.
   *
   * @throws DataException if a vector is not finite
   * @throws IllegalArgumentException if the network is of another model
   */
  static ItemFinder of(
      Network network, FeatureEncoder encoder, Candidates candidates, int threads) {
    VectorTowers towers =
        VectorTowers.of(network, encoder, true)
            .orElseThrow(() ->
                new IllegalArgumentException(
                    "candidates: got items for a model without vectors of them, expected one of two"
                        + " towers; leave them out"));
    if (!candidates.fits(encoder.rawSchema(), towers.itemColumns())) {
      throw new IllegalArgumentException(
          "candidates: got items of other columns than the model's, expected its own, %s; read them for this model"
              .formatted(towers.itemColumns()));
    }
    ItemFinder finder = new ItemFinder(encoder, candidates, towers, threads);
    try {
      finder.items.reserve(candidates.size());
      candidates.forEach(ROWS, finder.items::add);
      finder.items.finish();
      return finder;
    } catch (RuntimeException | Error e) {
      finder.close();
      throw e;
    }
  }

  /** Items that are compared. */
  public int size() {
    return items.size();
  }

  /** Bytes of memory outside the heap that their vectors take. */
  public long bytes() {
    return items.bytes();
  }

  /** The items themselves. */
  public Candidates candidates() {
    return candidates;
  }

  /** The columns of the item. The first one's ids name it; all other columns are the user's. */
  public List<String> itemColumns() {
    return towers.itemColumns();
  }

  /** The slot of raw rows whose ids name items. */
  public int slot() {
    return towers.slot();
  }

  /** The number of the item with this raw id; -1 where it is no candidate. */
  public int find(long id) {
    return items.find(id);
  }

  /**
   * The best items for each row.
   *
   * @param users raw rows, of which only columns of the user are read
   * @param most items of a row, 1 or more
   * @param excluded of each row the numbers of items that are not found, ascending; rows beyond
   *     have none
   * @throws DataException if the vector of a user is not finite
   */
  public Found top(Batch users, int most, int[][] excluded) {
    encoder.requireFits(users);
    int found = Math.min(most, size());
    if (most < 1 || (long) users.size() * found > MOST_RESULTS) {
      throw new IllegalArgumentException(
          "retrieve: got %,d items for each of %,d rows, expected 1 or more for each and %,d in all at most; ask for fewer at once"
              .formatted(most, users.size(), MOST_RESULTS));
    }
    int all = users.size() * found;
    Found result = new Found(found, new int[users.size()], new int[all], new float[all]);
    if (found == 0) {
      return result;
    }
    turns.acquireUninterruptibly();
    try {
      UserSearch search = take();
      try {
        int[] counts = search.top(users, found, items, excluded, result.items(), result.scores());
        return new Found(found, counts, result.items(), result.scores());
      } finally {
        give(search);
      }
    } finally {
      turns.release();
    }
  }

  private UserSearch take() {
    synchronized (free) {
      if (!free.isEmpty()) {
        return free.pollFirst();
      }
    }
    return new UserSearch(towers, USERS);
  }

  private void give(UserSearch search) {
    synchronized (free) {
      free.addFirst(search);
    }
  }

  /** Makes the working memory of all calls that may run at once. */
  void prepare() {
    List<UserSearch> all = new ArrayList<>();
    turns.acquireUninterruptibly(callers);
    try {
      for (int i = 0; i < callers; i++) {
        UserSearch search = take();
        all.add(search);
        search.prepare();
      }
    } finally {
      all.forEach(this::give);
      turns.release(callers);
    }
  }

  /** Frees its memory; no call may be under way. */
  void close() {
    synchronized (free) {
      free.forEach(UserSearch::close);
      free.clear();
    }
    items.close();
  }
}
