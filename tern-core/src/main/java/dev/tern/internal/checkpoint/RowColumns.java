package dev.tern.internal.checkpoint;

import dev.tern.base.DType;
import dev.tern.embedding.config.RowBlock;
import dev.tern.internal.kernel.Halves;
import dev.tern.internal.memory.Memory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Moves rows between their packed form in memory and the arrays of a file. */
final class RowColumns {
  static final String WEIGHTS = "weights";
  static final String STATE = "state";
  static final String METADATA = "metadata";

  private final RowShape shape;
  private final SafeTensors file;
  private final String weightsName;
  private final String stateName;
  private ByteBuffer weights = buffer(0);
  private ByteBuffer state = buffer(0);
  private ByteBuffer metadata = buffer(0);

  RowColumns(RowShape shape, SafeTensors file) {
    this(shape, file, WEIGHTS, STATE);
  }

  /** Of arrays that have these names. */
  RowColumns(RowShape shape, SafeTensors file, String weightsName, String stateName) {
    this.shape = shape;
    this.file = file;
    this.weightsName = weightsName;
    this.stateName = stateName;
  }

  private static ByteBuffer buffer(int bytes) {
    return ByteBuffer.allocateDirect(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private void prepare(int rows) {
    if (weights.capacity() < shape.storage().bytes() * rows * shape.width()) {
      weights = buffer(shape.storage().bytes() * rows * shape.width());
      state = buffer(4 * rows * shape.state());
      metadata = buffer(4 * rows * shape.metadata());
    }
    weights.clear().limit(shape.storage().bytes() * rows * shape.width());
    state.clear().limit(4 * rows * shape.state());
    metadata.clear().limit(4 * rows * shape.metadata());
  }

  /** Writes the rows of a block as rows {@code row} onwards. */
  void write(long row, RowBlock block) {
    file.write(weightsName, weightsAt(row), block.weights().asByteBuffer());
    file.write(stateName, 4 * row * shape.state(), block.state().asByteBuffer());
    if (shape.metadata() > 0) {
      file.write(METADATA, 4 * row * shape.metadata(), block.metadata().asByteBuffer());
    }
  }

  /** Reads rows {@code row} onwards, as many as {@code block} counts. */
  void read(long row, RowBlock block) {
    file.read(weightsName, weightsAt(row), block.weights().asByteBuffer());
    file.read(stateName, 4 * row * shape.state(), block.state().asByteBuffer());
    if (shape.metadata() > 0) {
      file.read(METADATA, 4 * row * shape.metadata(), block.metadata().asByteBuffer());
    }
  }

  private long weightsAt(long row) {
    return (long) shape.storage().bytes() * row * shape.width();
  }

  /** Writes {@code count} packed rows at address {@code values} as rows {@code row} onwards. */
  void write(long row, long values, int count) {
    prepare(count);
    long at = values;
    for (int i = 0; i < count; i++) {
      for (int j = 0; j < shape.width(); j++, at += 4) {
        putWeight(Memory.getFloat(at));
      }
      for (int j = 0; j < shape.state(); j++, at += 4) {
        state.putInt(Memory.getInt(at));
      }
      for (int j = 0; j < shape.metadata(); j++, at += 4) {
        metadata.putInt(Memory.getInt(at));
      }
    }
    file.write(weightsName, weightsAt(row), weights.flip());
    file.write(stateName, 4 * row * shape.state(), state.flip());
    if (shape.metadata() > 0) {
      file.write(METADATA, 4 * row * shape.metadata(), metadata.flip());
    }
  }

  /** Reads rows {@code row} onwards into {@code count} packed rows at address {@code values}. */
  void read(long row, long values, int count) {
    prepare(count);
    file.read(weightsName, weightsAt(row), weights);
    file.read(stateName, 4 * row * shape.state(), state);
    if (shape.metadata() > 0) {
      file.read(METADATA, 4 * row * shape.metadata(), metadata);
    }
    weights.flip();
    state.flip();
    metadata.flip();
    long at = values;
    for (int i = 0; i < count; i++) {
      for (int j = 0; j < shape.width(); j++, at += 4) {
        Memory.setFloat(at, getWeight());
      }
      for (int j = 0; j < shape.state(); j++, at += 4) {
        Memory.setInt(at, state.getInt());
      }
      for (int j = 0; j < shape.metadata(); j++, at += 4) {
        Memory.setInt(at, metadata.getInt());
      }
    }
  }

  /** Exact: the table stores it so. */
  private void putWeight(float weight) {
    if (shape.storage() == DType.F32) {
      weights.putFloat(weight);
    } else {
      weights.putShort(Halves.nearest(shape.storage(), weight));
    }
  }

  private float getWeight() {
    return shape.storage() == DType.F32
        ? weights.getFloat()
        : Halves.widen(shape.storage(), weights.getShort());
  }
}
