package dev.tern.train;

import dev.tern.data.DataException;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.RowPolicy;
import dev.tern.embedding.TableHistory;
import dev.tern.internal.kernel.Halves;
import dev.tern.internal.memory.Memory;
import dev.tern.tensor.DType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * One table as a safetensors file: {@code ids} (I64, {@code [n]}, ascending), {@code weights} (as
 * the table stores them, {@code [n, W]}) and {@code state} (F32, {@code [n, floats of optimizer
 * state]}). Where a {@link RowPolicy} is at work also {@code metadata} (I32, {@code [n, numbers]},
 * if rows keep any), {@code history} (I64) and {@code filter} (I64, words of the counting filter);
 * see {@link TableHistory}.
 */
final class TableFile {
  private static final String IDS = "ids";
  private static final String WEIGHTS = "weights";
  private static final String STATE = "state";
  private static final String METADATA = "metadata";
  private static final String HISTORY = "history";
  private static final String FILTER = "filter";

  private final DType storage;
  private final int width;
  private final int stateFloats;
  private final int metadata;
  private final SafeTensors file;
  private ByteBuffer ids = buffer(0);
  private ByteBuffer weights = buffer(0);
  private ByteBuffer state = buffer(0);
  private ByteBuffer marks = buffer(0);
  private ByteBuffer words = buffer(0);
  private long row;
  private long word;

  private TableFile(EmbeddingTable table, SafeTensors file) {
    storage = table.config().storage();
    width = table.config().width();
    stateFloats = table.config().stateFloats();
    metadata = table.config().metadata();
    this.file = file;
  }

  private static ByteBuffer buffer(int bytes) {
    return ByteBuffer.allocateDirect(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  static void write(Path path, EmbeddingTable table) {
    long rows = table.size();
    SafeTensors.Layout layout =
        new SafeTensors.Layout()
            .add(IDS, DType.I64, rows)
            .add(WEIGHTS, table.config().storage(), rows, table.config().width())
            .add(STATE, DType.F32, rows, table.config().stateFloats());
    TableHistory history = table.history();
    boolean remembers = !table.config().rows().isAll();
    if (remembers) {
      layout
          .add(METADATA, DType.I32, rows, table.config().metadata())
          .add(HISTORY, DType.I64, TableHistory.COUNTERS)
          .add(FILTER, DType.I64, history.filterWords());
    }
    Map<String, String> metadata = Map.of("table", table.config().name());
    try (SafeTensors file = SafeTensors.create(path, layout, metadata)) {
      TableFile writer = new TableFile(table, file);
      table.exportTo(writer::writeBlock);
      if (remembers) {
        writer.writeWords(HISTORY, history.counters(), TableHistory.COUNTERS);
        writer.word = 0;
        history.readFilter((values, count) -> writer.writeWords(FILTER, values, count));
      }
    }
  }

  /** Writes words of 8 bytes behind those written before. */
  private void writeWords(String name, long[] values, int count) {
    prepareWords(count);
    for (int i = 0; i < count; i++) {
      words.putLong(values[i]);
    }
    file.write(name, 8 * word, words.flip());
    word += count;
  }

  private void readWords(String name, long[] values, int count) {
    prepareWords(count);
    file.read(name, 8 * word, words);
    words.flip();
    for (int i = 0; i < count; i++) {
      values[i] = words.getLong();
    }
    word += count;
  }

  private void prepareWords(int count) {
    if (words.capacity() < 8 * count) {
      words = buffer(8 * count);
    }
    words.clear().limit(8 * count);
  }

  private void prepare(int rows) {
    if (ids.capacity() < 8 * rows) {
      ids = buffer(8 * rows);
      weights = buffer(storage.bytes() * rows * width);
      state = buffer(4 * rows * stateFloats);
      marks = buffer(4 * rows * metadata);
    }
    ids.clear().limit(8 * rows);
    weights.clear().limit(storage.bytes() * rows * width);
    state.clear().limit(4 * rows * stateFloats);
    marks.clear().limit(4 * rows * metadata);
  }

  private void writeBlock(long[] blockIds, long values, int count) {
    prepare(count);
    for (int i = 0; i < count; i++) {
      ids.putLong(blockIds[i]);
      long address = values + 4L * i * (width + stateFloats + metadata);
      for (int j = 0; j < width; j++) {
        putWeight(Memory.getFloat(address + 4L * j));
      }
      for (int j = width; j < width + stateFloats; j++) {
        state.putFloat(Memory.getFloat(address + 4L * j));
      }
      for (int j = 0; j < metadata; j++) {
        marks.putInt(Memory.getInt(address + 4L * (width + stateFloats + j)));
      }
    }
    file.write(IDS, 8 * row, ids.flip());
    file.write(WEIGHTS, storage.bytes() * row * width, weights.flip());
    file.write(STATE, 4 * row * stateFloats, state.flip());
    if (metadata > 0) {
      file.write(METADATA, 4 * row * metadata, marks.flip());
    }
    row += count;
  }

  /** Exact: the table stores it so. */
  private void putWeight(float weight) {
    if (storage == DType.F32) {
      weights.putFloat(weight);
    } else {
      weights.putShort(Halves.nearest(storage, weight));
    }
  }

  private float getWeight() {
    return storage == DType.F32 ? weights.getFloat() : Halves.widen(storage, weights.getShort());
  }

  /** Fills an empty table; of one without a row policy it takes no more than rows. */
  static void read(Path path, EmbeddingTable table) {
    try (SafeTensors file = SafeTensors.open(path)) {
      TableFile reader = new TableFile(table, file);
      long rows = file.entry(IDS).elements();
      reader.requireShape(path, WEIGHTS, rows, table.config().width());
      reader.requireShape(path, STATE, rows, table.config().stateFloats());
      reader.requireType(path, WEIGHTS, table.config().storage());
      reader.requireType(path, STATE, DType.F32);
      if (!table.config().rows().isAll()) {
        reader.readHistory(path, rows, table);
      }
      table.importFrom((blockIds, values) -> reader.readBlock(rows, blockIds, values));
    } catch (IllegalArgumentException e) {
      throw new DataException(path + ": " + e.getMessage(), e);
    }
  }

  private void readHistory(Path path, long rows, EmbeddingTable table) {
    if (!file.names().contains(HISTORY)) {
      throw new DataException(
          path
              + ": got a table without a history, expected one of the row policy "
              + table.config().rows()
              + "; resume with the admission and eviction of the run");
    }
    requireShape(path, METADATA, rows, metadata);
    requireType(path, METADATA, DType.I32);
    requireType(path, HISTORY, DType.I64);
    requireType(path, FILTER, DType.I64);
    long[] counters = new long[(int) Math.min(64, file.entry(HISTORY).elements())];
    readWords(HISTORY, counters, counters.length);
    word = 0;
    long filterWords = file.entry(FILTER).elements();
    TableHistory.Words source = (values, count) -> readWords(FILTER, values, count);
    table.history().restore(counters, filterWords, source);
  }

  private void requireShape(Path path, String name, long rows, long columns) {
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

  private void requireType(Path path, String name, DType type) {
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

  private int readBlock(long rows, long[] blockIds, long values) {
    int count = (int) Math.min(blockIds.length, rows - row);
    if (count == 0) {
      return 0;
    }
    prepare(count);
    file.read(IDS, 8 * row, ids);
    file.read(WEIGHTS, storage.bytes() * row * width, weights);
    file.read(STATE, 4 * row * stateFloats, state);
    if (metadata > 0) {
      file.read(METADATA, 4 * row * metadata, marks);
    }
    ids.flip();
    weights.flip();
    state.flip();
    marks.flip();
    for (int i = 0; i < count; i++) {
      blockIds[i] = ids.getLong();
      long address = values + 4L * i * (width + stateFloats + metadata);
      for (int j = 0; j < width; j++) {
        Memory.setFloat(address + 4L * j, getWeight());
      }
      for (int j = width; j < width + stateFloats; j++) {
        Memory.setFloat(address + 4L * j, state.getFloat());
      }
      for (int j = 0; j < metadata; j++) {
        Memory.setInt(address + 4L * (width + stateFloats + j), marks.getInt());
      }
    }
    row += count;
    return count;
  }
}
