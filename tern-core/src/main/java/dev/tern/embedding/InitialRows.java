package dev.tern.embedding;

import dev.tern.internal.memory.Memory;

/**
 * Rows as training finds them first: weights uniform and a pure function of (seed, table index,
 * id), optimizer state at its first value.
 */
final class InitialRows {
  private static final float UNIT = 0x1p-23f;

  private final long key;
  private final int width;
  private final float range;
  private final int rowFloats;
  private final float state;

  InitialRows(TableConfig config) {
    key = Hashing.mix(Hashing.mix(config.seed()) + config.index());
    width = config.width();
    range = config.initRange();
    rowFloats = config.rowFloats();
    state = config.initialState();
  }

  /**
   * Writes the whole row of {@code ids[which[i]]} to {@code rows[which[i]]} for the first {@code
   * count} entries of {@code which}. Two weights come from each number drawn.
   */
  void write(long[] ids, long[] rows, int[] which, int count) {
    for (int j = 0; j + 1 < width; j += 2) {
      writePair(ids, rows, which, count, j);
    }
    if ((width & 1) != 0) {
      for (int i = 0; i < count; i++) {
        int u = which[i];
        Memory.setFloat(rows[u] + 4L * (width - 1), value(ids[u], width - 1));
      }
    }
    for (int j = width; j < rowFloats; j++) {
      for (int i = 0; i < count; i++) {
        Memory.setFloat(rows[which[i]] + 4L * j, state);
      }
    }
  }

  private void writePair(long[] ids, long[] rows, int[] which, int count, int j) {
    for (int i = 0; i < count; i++) {
      int u = which[i];
      long bits = Hashing.draw(Hashing.mix(ids[u] ^ key), j >> 1);
      long row = rows[u] + 4L * j;
      Memory.setFloat(row, uniform((int) (bits >>> 40)));
      Memory.setFloat(row + 4, uniform((int) bits >>> 8));
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
