package dev.tern.internal.checkpoint;

import dev.tern.base.DType;
import dev.tern.embedding.config.RowBlock;
import dev.tern.internal.memory.Memory;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Refuses weights of a run that are infinite or NaN, before they become a checkpoint that scores
 * nothing. A step checks the loss before its update; what the last update made is seen here alone.
 */
public final class FiniteWeights {
  private FiniteWeights() {}

  /**
   * Checks the content of variables.
   *
   * @throws IllegalStateException that names the first with such a weight
   */
  public static void require(List<VariablesFile.Values> variables) {
    for (VariablesFile.Values variable : variables) {
      for (float value : variable.values()) {
        if (!Float.isFinite(value)) {
          throw diverged(variable.name(), value);
        }
      }
    }
  }

  /** Checks rows of {@code table} whose weights are stored as {@code storage}. */
  static void require(String table, DType storage, RowBlock block) {
    if (!areFinite(storage, block.weights())) {
      throw diverged("the rows of table " + table, Float.NaN);
    }
  }

  /**
   * Whether all numbers in {@code weights} have an exponent below the largest. Eight bytes are
   * looked at at once: adding the lowest bit of the exponent to a masked exponent of ones carries
   * into the place of the sign, and no further.
   */
  static boolean areFinite(DType storage, MemorySegment weights) {
    long exponent =
        switch (storage) {
          case F32 -> 0x7f80_0000_7f80_0000L;
          case F16 -> 0x7c00_7c00_7c00_7c00L;
          case BF16 -> 0x7f80_7f80_7f80_7f80L;
          default -> throw new IllegalArgumentException("weights: got the type " + storage);
        };
    long sign = storage == DType.F32 ? 0x8000_0000_8000_0000L : 0x8000_8000_8000_8000L;
    long lowest = (exponent ^ exponent << 1) & exponent;
    long carried = 0;
    long at = weights.address();
    long end = at + weights.byteSize();
    for (; at <= end - Long.BYTES; at += Long.BYTES) {
      carried |= (Memory.getLong(at) & exponent) + lowest;
    }
    for (; at < end; at += storage.bytes()) {
      long number =
          storage == DType.F32
              ? Integer.toUnsignedLong(Memory.getInt(at))
              : Short.toUnsignedLong(Memory.getShort(at));
      carried |= (number & exponent) + lowest;
    }
    return (carried & sign) == 0;
  }

  private static IllegalStateException diverged(String what, float value) {
    return new IllegalStateException(
        ("train: got %s in %s, expected finite weights: training diverged, and no checkpoint of it"
                + " is written; lower the learning rate, or look for huge values among the dense"
                + " features")
            .formatted(Float.isNaN(value) ? "a weight that is no number" : value, what));
  }
}
