package dev.tern.embedding;

import dev.tern.internal.memory.Memory;

/** Initial weights of every id: uniform, and a pure function of (seed, table index, id). */
final class InitialRows {
  private static final float UNIT = 0x1p-23f;

  private final long key;
  private final int width;
  private final float range;

  InitialRows(TableConfig config) {
    key = Hashing.mix(Hashing.mix(config.seed()) + config.index());
    width = config.width();
    range = config.initRange();
  }

  /** Writes the {@code W} initial weights of {@code id}: two of them from each number drawn. */
  void write(long id, long row) {
    long rowKey = Hashing.mix(id ^ key);
    int pairs = width >> 1;
    for (int i = 0; i < pairs; i++) {
      long bits = Hashing.draw(rowKey, i);
      Memory.setFloat(row + 8L * i, uniform((int) (bits >>> 40)));
      Memory.setFloat(row + 8L * i + 4, uniform((int) bits >>> 8));
    }
    if ((width & 1) != 0) {
      long bits = Hashing.draw(rowKey, pairs);
      Memory.setFloat(row + 8L * pairs, uniform((int) (bits >>> 40)));
    }
  }

  /** Initial weight {@code column} of {@code id}. */
  float value(long id, int column) {
    long bits = Hashing.draw(Hashing.mix(id ^ key), column >> 1);
    return uniform((column & 1) == 0 ? (int) (bits >>> 40) : (int) bits >>> 8);
  }

  private float uniform(int bits24) {
    return (bits24 * UNIT - 1) * range;
  }
}
