package dev.tern.internal.checkpoint;

import dev.tern.embedding.config.RowSource;
import dev.tern.internal.memory.Memory;
import java.lang.foreign.Arena;

/** Walks over rows one at a time. */
public final class RowWalk implements AutoCloseable {
  private static final int BLOCK = 256;

  private final RowShape shape;
  private final RowSource source;
  private final Arena arena = Arena.ofConfined();
  private final long values;
  private final long[] ids = new long[BLOCK];
  private int count;
  private int at;

  public RowWalk(RowShape shape, RowSource source) {
    this.shape = shape;
    this.source = source;
    values = Memory.allocate(arena, BLOCK * shape.packedBytes(), 8, "rows read").address();
  }

  /** Goes on to the next row, the first at first; returns whether there is one. */
  public boolean next() {
    if (++at >= count) {
      count = source.next(ids, values);
      at = 0;
    }
    return count > 0;
  }

  public long id() {
    return ids[at];
  }

  public float weight(int column) {
    return Memory.getFloat(row() + 4L * column);
  }

  /** A number that the row keeps about itself: the step it was seen last, how often. */
  public int metadata(int number) {
    return Memory.getInt(row() + 4L * (shape.width() + shape.state() + number));
  }

  /** L2 norm of the weights. */
  public double norm() {
    double sum = 0;
    for (int j = 0; j < shape.width(); j++) {
      sum = Math.fma((double) weight(j), weight(j), sum);
    }
    return Math.sqrt(sum);
  }

  /** Where it lies, packed: its weights first. */
  public long row() {
    return values + at * shape.packedBytes();
  }

  @Override
  public void close() {
    arena.close();
  }
}
