package dev.tern.internal.checkpoint;

import dev.tern.base.DType;
import dev.tern.embedding.config.RowBlock;
import dev.tern.internal.kernel.Halves;
import dev.tern.internal.memory.Memory;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** Reads and writes rows of the arrays of a file, from and to blocks or packed rows in memory. */
final class RowColumns {
  static final String WEIGHTS = "weights";
  static final String STATE = "state";
  static final String METADATA = "metadata";

  private final SafeTensors file;

  /** Weights, state, and metadata if rows have some. */
  private final List<Column> columns = new ArrayList<>();

  RowColumns(RowShape shape, SafeTensors file) {
    this(shape, file, WEIGHTS, STATE);
  }

  /** For arrays of other names. */
  RowColumns(RowShape shape, SafeTensors file, String weightsName, String stateName) {
    this.file = file;
    columns.add(new Column(weightsName, shape.storage(), shape.width(), RowBlock::weights));
    columns.add(new Column(stateName, DType.F32, shape.state(), RowBlock::state));
    if (shape.metadata() > 0) {
      columns.add(new Column(METADATA, DType.I32, shape.metadata(), RowBlock::metadata));
    }
  }

  /** An array of the file: {@code width} numbers for each row. */
  private static final class Column {
    private final String name;
    private final DType type;
    private final int width;
    private final Function<RowBlock, MemorySegment> ofBlock;
    private ByteBuffer bytes = ByteBuffer.allocate(0);

    Column(String name, DType type, int width, Function<RowBlock, MemorySegment> ofBlock) {
      this.name = name;
      this.type = type;
      this.width = width;
      this.ofBlock = ofBlock;
    }

    /** Where a row begins in the array. */
    long at(long row) {
      return type.bytes() * row * width;
    }

    void prepare(int rows) {
      int size = type.bytes() * rows * width;
      if (bytes.capacity() < size) {
        bytes = ByteBuffer.allocateDirect(size).order(ByteOrder.LITTLE_ENDIAN);
      }
      bytes.clear().limit(size);
    }

    /**
     * Appends this column of a packed row at {@code from}; returns where the next column begins.
     */
    long put(long from) {
      long end = from + 4L * width;
      for (long at = from; at < end; at += 4) {
        if (type.bytes() == 4) {
          bytes.putInt(Memory.getInt(at));
        } else {
          // Exact, since the weight came from a table of this storage.
          bytes.putShort(Halves.nearest(type, Memory.getFloat(at)));
        }
      }
      return end;
    }

    /** Moves the next numbers to a packed row at {@code to}; returns where the next column goes. */
    long get(long to) {
      long end = to + 4L * width;
      for (long at = to; at < end; at += 4) {
        if (type.bytes() == 4) {
          Memory.setInt(at, bytes.getInt());
        } else {
          Memory.setFloat(at, Halves.widen(type, bytes.getShort()));
        }
      }
      return end;
    }
  }

  /** Writes the rows of {@code block} to the file, from row {@code row}. */
  void write(long row, RowBlock block) {
    for (Column column : columns) {
      file.write(column.name, column.at(row), column.ofBlock.apply(block).asByteBuffer());
    }
  }

  /** Reads {@code block.count()} rows of the file, from row {@code row}. */
  void read(long row, RowBlock block) {
    for (Column column : columns) {
      file.read(column.name, column.at(row), column.ofBlock.apply(block).asByteBuffer());
    }
  }

  /** Writes {@code count} packed rows at address {@code values} to rows from {@code row} on. */
  void write(long row, long values, int count) {
    columns.forEach(column -> column.prepare(count));
    long at = values;
    for (int i = 0; i < count; i++) {
      for (Column column : columns) {
        at = column.put(at);
      }
    }
    columns.forEach(column -> file.write(column.name, column.at(row), column.bytes.flip()));
  }

  /** Reads {@code count} rows from {@code row} on to packed rows at address {@code values}. */
  void read(long row, long values, int count) {
    for (Column column : columns) {
      column.prepare(count);
      file.read(column.name, column.at(row), column.bytes);
      column.bytes.flip();
    }
    long at = values;
    for (int i = 0; i < count; i++) {
      for (Column column : columns) {
        at = column.get(at);
      }
    }
  }
}
