package dev.tern.train;

import dev.tern.data.DataException;
import dev.tern.embedding.EmbeddingTable;
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
 * state]}).
 */
final class TableFile {
  private static final String IDS = "ids";
  private static final String WEIGHTS = "weights";
  private static final String STATE = "state";

  private final DType storage;
  private final int width;
  private final int rowFloats;
  private final SafeTensors file;
  private ByteBuffer ids = buffer(0);
  private ByteBuffer weights = buffer(0);
  private ByteBuffer state = buffer(0);
  private long row;

  private TableFile(EmbeddingTable table, SafeTensors file) {
    storage = table.config().storage();
    width = table.config().width();
    rowFloats = table.config().rowFloats();
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
    Map<String, String> metadata = Map.of("table", table.config().name());
    try (SafeTensors file = SafeTensors.create(path, layout, metadata)) {
      TableFile writer = new TableFile(table, file);
      table.exportTo(writer::writeBlock);
    }
  }

  private void prepare(int rows) {
    int stateFloats = rowFloats - width;
    if (ids.capacity() < 8 * rows) {
      ids = buffer(8 * rows);
      weights = buffer(storage.bytes() * rows * width);
      state = buffer(4 * rows * stateFloats);
    }
    ids.clear().limit(8 * rows);
    weights.clear().limit(storage.bytes() * rows * width);
    state.clear().limit(4 * rows * stateFloats);
  }

  private void writeBlock(long[] blockIds, long values, int count) {
    prepare(count);
    for (int i = 0; i < count; i++) {
      ids.putLong(blockIds[i]);
      long address = values + 4L * i * rowFloats;
      for (int j = 0; j < width; j++) {
        putWeight(Memory.getFloat(address + 4L * j));
      }
      for (int j = width; j < rowFloats; j++) {
        state.putFloat(Memory.getFloat(address + 4L * j));
      }
    }
    file.write(IDS, 8 * row, ids.flip());
    file.write(WEIGHTS, storage.bytes() * row * width, weights.flip());
    file.write(STATE, 4 * row * (rowFloats - width), state.flip());
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

  /** Fills an empty table. */
  static void read(Path path, EmbeddingTable table) {
    try (SafeTensors file = SafeTensors.open(path)) {
      TableFile reader = new TableFile(table, file);
      long rows = file.entry(IDS).elements();
      reader.requireShape(path, WEIGHTS, rows, table.config().width());
      reader.requireShape(path, STATE, rows, table.config().stateFloats());
      reader.requireType(path, WEIGHTS, table.config().storage());
      reader.requireType(path, STATE, DType.F32);
      table.importFrom((blockIds, values) -> reader.readBlock(rows, blockIds, values));
    }
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
    file.read(STATE, 4 * row * (rowFloats - width), state);
    ids.flip();
    weights.flip();
    state.flip();
    for (int i = 0; i < count; i++) {
      blockIds[i] = ids.getLong();
      long address = values + 4L * i * rowFloats;
      for (int j = 0; j < width; j++) {
        Memory.setFloat(address + 4L * j, getWeight());
      }
      for (int j = width; j < rowFloats; j++) {
        Memory.setFloat(address + 4L * j, state.getFloat());
      }
    }
    row += count;
    return count;
  }
}
