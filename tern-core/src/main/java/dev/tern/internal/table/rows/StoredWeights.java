package dev.tern.internal.table.rows;

import static dev.tern.internal.memory.Memory.getFloat;
import static dev.tern.internal.memory.Memory.getShort;
import static dev.tern.internal.memory.Memory.setFloat;
import static dev.tern.internal.memory.Memory.setShort;

import dev.tern.base.DType;
import dev.tern.internal.kernel.Halves;

/** Reads and writes single weights of F32, F16 or BF16. */
public final class StoredWeights {
  private StoredWeights() {}

  /** Weight {@code j} of the row at an address. */
  public static float get(DType storage, long row, int j) {
    return storage == DType.F32
        ? getFloat(row + 4L * j)
        : Halves.widen(storage, getShort(row + 2L * j));
  }

  /** Stores the nearest value of {@code storage}; a finite weight stays finite. */
  public static void set(DType storage, long row, int j, float weight) {
    if (storage == DType.F32) {
      setFloat(row + 4L * j, weight);
    } else {
      setShort(row + 2L * j, Halves.nearestFinite(storage, weight));
    }
  }

  /** What {@link #get} returns after {@link #set}. */
  public static float stored(DType storage, float weight) {
    return storage == DType.F32
        ? weight
        : Halves.widen(storage, Halves.nearestFinite(storage, weight));
  }
}
