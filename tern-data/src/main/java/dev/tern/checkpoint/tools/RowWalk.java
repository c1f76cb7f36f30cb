package dev.tern.checkpoint.tools;

import dev.tern.embedding.config.RowSource;
import dev.tern.internal.checkpoint.RowShape;
import dev.tern.internal.memory.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Walks over the rows of a source, one at a time. */
final class RowWalk implements AutoCloseable {
  private static final int BLOCK = 256;

  private final RowShape shape;
  private final RowSource source;
  private final Arena arena = Arena.ofConfined();
  private final MemorySegment values;
  private final long[] ids = new long[BLOCK];
  private int count;
  private int at;

  RowWalk(RowShape shape, RowSource source) {
    this.shape = shape;
    this.source = source;
    values = Memory.allocate(arena, BLOCK * shape.packedBytes(), 8, "rows read");
  }

  /** Goes to the next row, at first to the first; returns whether there is one. */
  boolean next() {
    if (++at >= count) {
      count = source.next(ids, values);
      at = 0;
    }
    return count > 0;
  }

  long id() {
    return ids[at];
  }

  float weight(int column) {
    return Memory.getFloat(row() + 4L * column);
  }

  /** Metadata of the row: 0 is the step in which it was seen last, 1 how often it was seen. */
  int metadata(int number) {
    return Memory.getInt(row() + 4L * (shape.width() + shape.state() + number));
  }

  /** The L2 norm of the weights. */
  double norm() {
    double sum = 0;
    for (int j = 0; j < shape.width(); j++) {
      sum = Math.fma((double) weight(j), weight(j), sum);
    }
    return Math.sqrt(sum);
  }

  /** Address of the packed row; its weights come first. */
  long row() {
    return values.address() + at * shape.packedBytes();
  }

  @Override
  public void close() {
    arena.close();
  }
}
