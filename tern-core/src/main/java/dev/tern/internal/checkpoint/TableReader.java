package dev.tern.internal.checkpoint;

import dev.tern.base.DType;
import dev.tern.base.DataException;
import dev.tern.embedding.TableShard;
import dev.tern.embedding.config.RowBlock;
import dev.tern.internal.memory.Memory;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Walks over one file of a table in ascending order of id. A delta also has the ids whose rows are
 * gone. The values of a row are read when they are asked for.
 */
final class TableReader implements AutoCloseable {
  private static final int BLOCK = 1024;
  private static final long BLOCK_BYTES = 1 << 20;

  final Path path;
  private final RowShape shape;
  final SafeTensors file;

  /** The shard of the table that it holds. */
  final TableShard shard;

  private final RowColumns columns;
  private final Arena arena = Arena.ofConfined();
  private final long values;
  private final LongColumn ids;
  private final IdCursor rows;
  private final Optional<IdCursor> gone;

  /** Number of bucket rows; they are not among the {@link #size} rows of ids. */
  final int buckets;

  /** Rows that {@link #next} has read, and the id of the last of them. */
  private long read;

  private long lastRead;

  /** First row of the block whose values are loaded; -1 for none. */
  private long loaded = -1;

  private TableReader(Path path, RowShape shape, SafeTensors file) {
    this.path = path;
    this.shape = shape;
    this.file = file;
    shard = shard(path, file);
    buckets = BucketColumns.count(path, file, shape);
    columns = new RowColumns(shape, file);
    int block = (int) Math.clamp(BLOCK_BYTES / shape.packedBytes(), 1, BLOCK);
    ids = LongColumn.open(path, file, TableFile.IDS);
    rows = new IdCursor(path, ids, block);
    gone =
        file.names().contains(TableFile.GONE)
            ? Optional.of(new IdCursor(path, LongColumn.open(path, file, TableFile.GONE), BLOCK))
            : Optional.empty();
    values = Memory.allocate(arena, block * shape.packedBytes(), 8, "rows read").address();
  }

  /** Opens a file whose rows must have this shape. The file may hold other arrays too. */
  static TableReader open(Path path, RowShape shape) {
    SafeTensors file = SafeTensors.open(path);
    try {
      checkRows(path, file, shape);
      return new TableReader(path, shape, file);
    } catch (RuntimeException | Error e) {
      file.close();
      throw e;
    }
  }

  private static TableShard shard(Path path, SafeTensors file) {
    String text = file.metadata(TableFile.SHARD).orElse("0/1");
    try {
      String[] numbers = text.split("/", 2);
      return new TableShard(Integer.parseInt(numbers[0]), Integer.parseInt(numbers[1]));
    } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
      throw new DataException(
          path + ": got shard " + text + ", expected one as 0/4; the file is damaged", e);
    }
  }

  private static void checkRows(Path path, SafeTensors file, RowShape shape) {
    long count = file.entry(TableFile.IDS).elements();
    requireArray(path, file, RowColumns.WEIGHTS, shape.storage(), count, shape.width());
    requireArray(path, file, RowColumns.STATE, DType.F32, count, shape.state());
    if (shape.metadata() > 0) {
      requireArray(path, file, RowColumns.METADATA, DType.I32, count, shape.metadata());
    }
  }

  static void requireArray(
      Path path, SafeTensors file, String name, DType type, long rows, long columns) {
    SafeTensors.Entry got = file.entry(name);
    if (!got.shape().equals(List.of(rows, columns))) {
      throw new DataException(
          "%s: got %s of shape %s, expected [%d, %d]; the checkpoint is of another model or optimizer"
              .formatted(path, name, got.shape(), rows, columns));
    }
    if (got.type() != type) {
      throw new DataException(
          "%s: got %s stored as %s, expected %s; read the checkpoint with the table storage of its run"
              .formatted(path, name, got.type(), type));
    }
  }

  /** Whether it holds the whole table or shard; false for a delta. */
  boolean isWhole() {
    return gone.isEmpty();
  }

  /** Number of rows. */
  long size() {
    return ids.size();
  }

  /** Whether there is a row left. */
  boolean hasRow() {
    return !rows.ended();
  }

  /** The id of the current row. */
  long id() {
    return rows.id();
  }

  /** Copies the first {@code bytes} of the current row, packed, to address {@code target}. */
  void copyRow(long target, long bytes) {
    if (loaded != rows.blockStart()) {
      loaded = rows.blockStart();
      columns.read(loaded, values, rows.blockSize());
    }
    Memory.copy(values + rows.inBlock() * shape.packedBytes(), target, bytes);
  }

  /**
   * Reads the next rows into {@code block}; returns whether there were any. This walk is apart from
   * the one by {@link #advance}.
   */
  boolean next(RowBlock block) {
    int count = (int) Math.min(block.room(), ids.size() - read);
    block.setCount(count);
    if (count == 0) {
      return false;
    }
    ids.read(read, block.ids(), count);
    for (int i = 0; i < count; i++) {
      long id = block.ids()[i];
      if (id <= lastRead && read + i > 0) {
        throw IdCursor.outOfOrder(path, id, lastRead);
      }
      requireMine(id);
      lastRead = id;
    }
    columns.read(read, block);
    read += count;
    return true;
  }

  /** Throws if this id belongs to another shard. */
  private void requireMine(long id) {
    if (!shard.has(id)) {
      throw new DataException(
          "%s: got id %d, expected ids of shard %d of %d; the file is damaged, use another checkpoint"
              .formatted(path, id, shard.number(), shard.count()));
    }
  }

  void advance() {
    requireMine(rows.id());
    rows.advance();
  }

  /** Whether the row of {@code id} is gone; ask in ascending order of ids. */
  boolean isGone(long id) {
    if (gone.isEmpty()) {
      return false;
    }
    IdCursor cursor = gone.get();
    while (!cursor.ended() && cursor.id() < id) {
      cursor.advance();
    }
    return !cursor.ended() && cursor.id() == id;
  }

  /** Reads the rest of the ids that are gone, which checks their order. */
  void finish() {
    while (gone.isPresent() && !gone.get().ended()) {
      gone.get().advance();
    }
  }

  @Override
  public void close() {
    arena.close();
    file.close();
  }
}
