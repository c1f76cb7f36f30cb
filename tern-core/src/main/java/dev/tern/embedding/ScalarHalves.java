package dev.tern.embedding;

import static dev.tern.internal.memory.Memory.getFloat;
import static dev.tern.internal.memory.Memory.getShort;
import static dev.tern.internal.memory.Memory.setFloat;
import static dev.tern.internal.memory.Memory.setShort;

import dev.tern.base.DType;
import dev.tern.internal.kernel.Halves;

/** Reads and writes single weights of F32, F16 or BF16. Any number of threads may call it. */
final class ScalarHalves {
  private ScalarHalves() {}

  /** Weight {@code j} of the row at an address. */
  static float get(DType storage, long row, int j) {
    return storage == DType.F32
        ? getFloat(row + 4L * j)
        : Halves.widen(storage, getShort(row + 2L * j));
  }

  /** Stores the nearest value of {@code storage}; a finite weight stays finite. */
  static void set(DType storage, long row, int j, float weight) {
    if (storage == DType.F32) {
      setFloat(row + 4L * j, weight);
    } else {
      setShort(row + 2L * j, Halves.nearestFinite(storage, weight));
    }
  }

  /** The value that {@link #get} returns after {@link #set}. */
  static float stored(DType storage, float weight) {
    return storage == DType.F32
        ? weight
        : Halves.widen(storage, Halves.nearestFinite(storage, weight));
  }

  /**
   * The largest value of {@code storage} that is not above {@code x}. Example: the BF16 values next
   * to 0.1 are 0.0996 and 0.1001, so it is 0.0996.
   */
  static float atMost(DType storage, float x) {
    if (storage == DType.F32 || Float.isInfinite(x)) {
      return x;
    }
    short half = Halves.nearestFinite(storage, x);
    if (Halves.widen(storage, half) <= x) {
      return Halves.widen(storage, half);
    }
    // Bits hold sign and size: the next number below has a smaller size if x > 0, else a larger.
    int next = half > 0 ? half - 1 : half == 0 ? 0x8001 : half + 1;
    return Halves.widen(storage, (short) next);
  }
}
