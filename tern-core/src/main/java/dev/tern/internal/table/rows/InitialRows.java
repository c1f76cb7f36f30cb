package dev.tern.internal.table.rows;

import dev.tern.base.DType;
import dev.tern.embedding.config.InitialWeights;
import dev.tern.embedding.config.TableConfig;
import dev.tern.internal.kernel.Halves;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.table.index.Hashing;
import java.util.Arrays;

/**
 * Writes new rows. Weights are drawn as the table's {@link InitialWeights} say, a pure function of
 * (seed, table index, id).
 */
public final class InitialRows {
  private static final float UNIT = 0x1p-23f;

  private final long key;
  private final int width;
  private final InitialWeights initial;
  private final boolean uniform;

  /** Of uniform weights their range, of others 0. */
  private final float range;

  private final int weightBytes;
  private final int idOffset;
  private final boolean keepsId;
  private final DType storage;

  /** Bits of the optimizer state before the first update. */
  private final int[] state;

  public InitialRows(TableConfig config) {
    this(config, 0);
  }

  /** For rows whose numbers are not ids: {@code salt} makes their weights differ. */
  InitialRows(TableConfig config, long salt) {
    key = Hashing.mix(Hashing.mix(config.seed() ^ salt) + config.index());
    width = config.width();
    initial = config.initial();
    uniform = initial instanceof InitialWeights.Uniform;
    range = initial instanceof InitialWeights.Uniform(float most) ? most : 0;
    weightBytes = RowLayout.weightBytes(config);
    idOffset = RowLayout.idOffset(config);
    keepsId = RowLayout.keepsId(config);
    storage = config.storage();
    float[] first = config.rule().initialState(width);
    state = new int[first.length];
    Arrays.setAll(state, j -> Float.floatToRawIntBits(first[j]));
  }

  /**
   * Writes the row of {@code ids[which[i]]} to the address {@code rows[which[i]]} for each {@code
   * i} below {@code count}. Each drawn number gives two weights.
   */
  public void write(long[] ids, long[] rows, int[] which, int count) {
    int j = 0;
    for (; j <= width - 8; j += 8) {
      if (storage == DType.F32) {
        writeEight(ids, rows, which, count, j);
      } else {
        writeEightHalves(ids, rows, which, count, j);
      }
    }
    for (; j < width; j++) {
      for (int i = 0; i < count; i++) {
        int u = which[i];
        StoredWeights.set(storage, rows[u], j, value(ids[u], j));
      }
    }
    writeState(rows, which, count);
    for (int i = 0; i < count && keepsId; i++) {
      Memory.setLong(rows[which[i]] + idOffset, ids[which[i]]);
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

  private void writeEightHalves(long[] ids, long[] rows, int[] which, int count, int j) {
    for (int i = 0; i < count; i++) {
      int u = which[i];
      long rowKey = Hashing.mix(ids[u] ^ key);
      for (int k = j; k < j + 8; k += 2) {
        Memory.setInt(rows[u] + 2L * k, halves(Hashing.draw(rowKey, k >> 1)));
      }
    }
  }

  private void writeState(long[] rows, int[] which, int count) {
    int j = 0;
    for (; j <= state.length - 4; j += 4) {
      long one = two(j);
      long other = two(j + 2);
      for (int i = 0; i < count; i++) {
        long at = rows[which[i]] + weightBytes + 4L * j;
        Memory.setLong(at, one);
        Memory.setLong(at + 8, other);
      }
    }
    for (; j < state.length; j++) {
      for (int i = 0; i < count; i++) {
        Memory.setInt(rows[which[i]] + weightBytes + 4L * j, state[j]);
      }
    }
  }

  /** Two floats of state as one number in memory (little-endian). */
  private long two(int j) {
    return (long) state[j + 1] << 32 | state[j] & 0xFFFFFFFFL;
  }

  /** The two weights of a drawn number as one number in memory (little-endian). */
  private long pair(long bits) {
    long first = Float.floatToRawIntBits(first(bits));
    long second = Float.floatToRawIntBits(second(bits));
    return second << 32 | (first & 0xFFFFFFFFL);
  }

  /** The same for F16 or BF16. */
  private int halves(long bits) {
    int first = Halves.nearestFinite(storage, first(bits));
    int second = Halves.nearestFinite(storage, second(bits));
    return second << 16 | (first & 0xFFFF);
  }

  /** Initial weight {@code column} of {@code id}, as it is stored. */
  public float value(long id, int column) {
    long bits = Hashing.draw(Hashing.mix(id ^ key), column >> 1);
    return StoredWeights.stored(storage, (column & 1) == 0 ? first(bits) : second(bits));
  }

  private float first(long bits) {
    return weight((int) (bits >>> 40));
  }

  private float second(long bits) {
    return weight((int) bits >>> 8);
  }

  private float weight(int bits24) {
    return uniform ? (bits24 * UNIT - 1) * range : other(bits24);
  }

  private float other(int bits24) {
    return switch (initial) {
      case InitialWeights.Uniform _ -> throw new AssertionError(initial);
      case InitialWeights.Normal(float deviation) -> NormalQuantile.of(bits24) * deviation;
      case InitialWeights.Constant(float value) -> value;
    };
  }
}
