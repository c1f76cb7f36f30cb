package dev.tern.bench.stress;

import dev.tern.embedding.BenchTables;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.Lookup;
import dev.tern.embedding.TableSnapshot;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.Eviction;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.embedding.config.WhenFull;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.optim.Optimizer;

/**
 * One thread's use of a small table. Updates add 1 to all columns of a row, so what a row reads as
 * is told by one number: {@link #NONE}, or 1 and one more for each update. A row that is not whole,
 * or belongs to another id, is {@link #WRONG}.
 */
final class TableUser {
  static final int WRONG = -1;
  static final int NONE = 0;
  static final int INITIAL = 1;

  /** What calls end with that are refused: after a change, close, or in a full table. */
  static final int CHANGED = 7;

  static final int CLOSED = 8;
  static final int FULL = 9;

  /** Ids that tests use are below. */
  private static final int IDS = 4;

  private static final int WIDTH = 64;
  private static final float CLOSE = 1e-3f;
  private static final Allocator ALLOCATOR = Allocator.of(1L << 30);
  private static final long GRADIENT = ALLOCATOR.allocate(4L * WIDTH * IDS, "gradient");
  private static final int[] ONE_EACH = {0, 1, 2, 3, 4};
  private static final float[][] INITIALS = new float[IDS][];

  static {
    for (int i = 0; i < WIDTH * IDS; i++) {
      Memory.setFloat(GRADIENT + 4L * i, -1);
    }
    EmbeddingTable table = table(RowPolicy.ALL, UnknownRow.ZEROS);
    TableUser user = new TableUser(table);
    for (int id = 0; id < IDS; id++) {
      user.pool(true, id);
      INITIALS[id] = new float[WIDTH];
      Memory.copyOut(user.out, INITIALS[id], 0, WIDTH);
    }
    user.close();
    table.close();
  }

  private final EmbeddingTable table;
  private final Lookup lookup = new Lookup();
  private final long out = ALLOCATOR.allocate(4L * WIDTH * IDS, "rows");

  TableUser(EmbeddingTable table) {
    this.table = table;
  }

  /** A table of a row for every id. */
  static EmbeddingTable table() {
    return table(RowPolicy.ALL, UnknownRow.ZEROS);
  }

  static EmbeddingTable table(RowPolicy policy, UnknownRow unknown) {
    Optimizer sgd = Optimizer.sgd(1);
    return BenchTables.create(
        new TableConfig(
            "t", 0, WIDTH, 1, TableOptions.of(sgd).initRange(0.4f).unknown(unknown).rows(policy)),
        ALLOCATOR);
  }

  /** A table of one row, which makes room for another. */
  static EmbeddingTable ofOneRow() {
    return table(RowPolicy.ALL.withRoomMadeBy(new Eviction.LeastRecent(), 1), UnknownRow.ZEROS);
  }

  /** A table that one row fills. */
  static EmbeddingTable full() {
    return table(RowPolicy.ALL.withMaxRows(1, WhenFull.ERROR), UnknownRow.ZEROS);
  }

  private void pool(boolean insert, long... ids) {
    int count = ids.length;
    BenchTables.findAndPool(
        table, ids, count, lookup, insert, ONE_EACH, count, Combiner.SUM, out, WIDTH);
  }

  /** Finds and pools at once, in training; what the id reads as, or how that was refused. */
  int insert(long id) {
    try {
      pool(true, id);
      return code(id, out);
    } catch (IllegalStateException e) {
      return refusal(e);
    }
  }

  /** The code of the row of {@code id} as scoring reads it. */
  int read(long id) {
    try {
      pool(false, id);
      return code(id, out);
    } catch (IllegalStateException e) {
      return refusal(e);
    }
  }

  /** Reads two ids at once: the first one's number, times 10, and the second's. */
  int readBoth(long first, long second) {
    pool(false, first, second);
    return 10 * code(first, out) + code(second, out + 4L * WIDTH);
  }

  /** Finds ids, in training or not, and keeps the lookup. */
  TableUser find(boolean insert, long... ids) {
    table.find(ids, ids.length, lookup, insert);
    return this;
  }

  /** Pools what was found before. */
  int pool(long id) {
    try {
      BenchTables.pool(table, lookup, ONE_EACH, 0, 1, Combiner.SUM, out, WIDTH);
      return code(id, out);
    } catch (IllegalStateException e) {
      return refusal(e);
    }
  }

  /** Copies what was found before. */
  int ragged(long id) {
    try {
      BenchTables.ragged(table, lookup, out);
      return code(id, out);
    } catch (IllegalStateException e) {
      return refusal(e);
    }
  }

  /** Takes what was found before as it is now. */
  TableUser refresh() {
    table.refresh(lookup);
    return this;
  }

  /** Looks ids up ahead. */
  TableUser lookAhead(long... ids) {
    table.lookAhead(ids, ids.length, lookup);
    return this;
  }

  /** Finds, in scoring, what was looked up ahead. */
  TableUser findAhead() {
    table.find(lookup, false);
    return this;
  }

  void erase(long... ids) {
    table.erase(ids, ids.length);
  }

  /** Updates what was found before. */
  TableUser update() {
    BenchTables.apply(table, lookup, ONE_EACH, lookup.count(), Combiner.SUM, GRADIENT, WIDTH, 1, 1);
    return this;
  }

  /** What ids 1 and 2 are exported as, as {@link #readBoth} says it. */
  int export() {
    int[] code = {0};
    table.exportTo((ids, segment, count) -> {
      long values = segment.address();
      for (int i = 0; i < count; i++) {
        int one = code(ids[i], values + 4L * WIDTH * i);
        code[0] = one == WRONG ? WRONG : 10 * code[0] + one;
      }
    });
    return code[0];
  }

  /** The codes of the rows in a snapshot, one digit each. */
  static int code(TableSnapshot snapshot) {
    int[] code = {0};
    snapshot.exportBlocks(block -> {
      long weights = block.weights().address();
      for (int i = 0; i < block.count(); i++) {
        int one = code(block.ids()[i], weights + 4L * WIDTH * i);
        code[0] = one == WRONG ? WRONG : 10 * code[0] + one;
      }
    });
    return code[0];
  }

  private static int refusal(IllegalStateException e) {
    String message = String.valueOf(e.getMessage());
    if (message.contains("refresh it")) {
      return CHANGED;
    }
    if (message.contains("after close")) {
      return CLOSED;
    }
    return message.contains("beyond 1 rows") ? FULL : WRONG;
  }

  /** What the row at an address is of id {@code id}. */
  static int code(long id, long row) {
    float[] initial = INITIALS[(int) id];
    int updates = Math.round(Memory.getFloat(row) - initial[0]);
    boolean whole = true;
    boolean zero = true;
    for (int j = 0; j < WIDTH; j++) {
      float weight = Memory.getFloat(row + 4L * j);
      whole &= Math.abs(weight - initial[j] - updates) < CLOSE;
      zero &= weight == 0;
    }
    return zero ? NONE : whole ? INITIAL + updates : WRONG;
  }

  void close() {
    ALLOCATOR.free(out);
  }
}
