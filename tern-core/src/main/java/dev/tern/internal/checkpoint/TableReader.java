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
 * Walks over one file of a table in ascending order of id: the rows that it holds and, where it
 * holds changes, the ids that went. Rows' values are read only where they are asked for.
 */
final class TableReader implements AutoCloseable {
  private static final int BLOCK = 1024;
  private static final long BLOCK_BYTES = 1 << 20;

  private final Path path;
  private final RowShape shape;
  private final SafeTensors file;
  private final TableShard shard;
  private final RowColumns columns;
  private final Arena arena = Arena.ofConfined();
  private final long values;
  private final IdCursor rows;
  private final Optional<IdCursor> gone;
  private final int buckets;

  private final LongColumn ids;

  /** Rows that were read block by block, and the id of the last of them. */
  private long read;

  private long lastRead;

  /** First row of those whose values are loaded, -1 for none. */
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

  /** Opens a file whose rows must be as {@code shape} says; other arrays it may hold. */
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
    requireShape(path, file, RowColumns.WEIGHTS, count, shape.width());
    requireShape(path, file, RowColumns.STATE, count, shape.state());
    requireType(path, file, RowColumns.WEIGHTS, shape.storage());
    requireType(path, file, RowColumns.STATE, DType.F32);
    if (shape.metadata() > 0) {
      requireShape(path, file, RowColumns.METADATA, count, shape.metadata());
      requireType(path, file, RowColumns.METADATA, DType.I32);
    }
  }

  static void requireShape(Path path, SafeTensors file, String name, long rows, long columns) {
    SafeTensors.Entry entry = file.entry(name);
    if (!entry.shape().equals(List.of(rows, columns))) {
      throw new DataException(
          path
              + ": got "
              + name
              + " of shape "
              + entry.shape()
              + ", expected ["
              + rows
              + ", "
              + columns
              + "]; the checkpoint is of another model or optimizer");
    }
  }

  static void requireType(Path path, SafeTensors file, String name, DType type) {
    DType got = file.entry(name).type();
    if (got != type) {
      throw new DataException(
          path
              + ": got "
              + name
              + " stored as "
              + got
              + ", expected "
              + type
              + "; read the checkpoint with the table storage of its run");
    }
  }

  Path path() {
    return path;
  }

  SafeTensors file() {
    return file;
  }

  /** Whether it holds all of the table, not only what changed. */
  boolean isWhole() {
    return gone.isEmpty();
  }

  /** Which shard of the table it holds. */
  TableShard shard() {
    return shard;
  }

  /** Bucket rows in it, beside the rows of ids. */
  int buckets() {
    return buckets;
  }

  /** Rows in it. */
  long size() {
    return ids.size();
  }

  /** Whether there is a row left. */
  boolean hasRow() {
    return !rows.ended();
  }

  /** The id of the row at hand. */
  long id() {
    return rows.id();
  }

  /** Copies the first {@code bytes} of the row at hand, packed, to address {@code target}. */
  void copyRow(long target, long bytes) {
    if (loaded != rows.blockStart()) {
      loaded = rows.blockStart();
      columns.read(loaded, values, rows.blockSize());
    }
    Memory.copy(values + rows.inBlock() * shape.packedBytes(), target, bytes);
  }

  /**
   * Reads the next rows, from the first on, into {@code block}; apart from the walk.
   *
   * @return whether there were any left
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

  /** Throws where the file's shard cannot have this id. */
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

  /** Whether the file says that {@code id} went; to be asked in ascending order. */
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

  /** Looks at all ids that went, so that none is out of order and was passed over. */
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
