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
    int j = 0;
    for (; j <= width - 8; j += 8) {
      writeEight(ids, rows, which, count, j);
    }
    for (; j < width; j++) {
      for (int i = 0; i < count; i++) {
        int u = which[i];
        Memory.setFloat(rows[u] + 4L * j, value(ids[u], j));
      }
    }
    for (; j <= rowFloats - 4; j += 4) {
      writeState(rows, which, count, j);
    }
    for (; j < rowFloats; j++) {
      for (int i = 0; i < count; i++) {
        Memory.setFloat(rows[which[i]] + 4L * j, state);
      }
    }
  }

  private void writeEight(long[] ids, long[] rows, int[] which, int count, int j) {
    int draw = j >> 1;
    for (int i = 0; i < count; i++) {
      int u = which[i];
      long rowKey = Hashing.mix(ids[u] ^ key);
      long row = rows[u] + 4L * j;
      Memory.setLong(row, pair(Hashing.draw(rowKey, draw)));
      Memory.setLong(row + 8, pair(Hashing.draw(rowKey, draw + 1)));
      Memory.setLong(row + 16, pair(Hashing.draw(rowKey, draw + 2)));
      Memory.setLong(row + 24, pair(Hashing.draw(rowKey, draw + 3)));
    }
  }

  private void writeState(long[] rows, int[] which, int count, int j) {
    long bits = Float.floatToRawIntBits(state);
    long two = bits << 32 | bits;
    for (int i = 0; i < count; i++) {
      long row = rows[which[i]] + 4L * j;
      Memory.setLong(row, two);
      Memory.setLong(row + 8, two);
    }
  }

  /** The two weights of a number drawn, as they lie in memory (little-endian). */
  private long pair(long bits) {
    long first = Float.floatToRawIntBits(uniform((int) (bits >>> 40)));
    long second = Float.floatToRawIntBits(uniform((int) bits >>> 8));
    return second << 32 | (first & 0xFFFFFFFFL);
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
