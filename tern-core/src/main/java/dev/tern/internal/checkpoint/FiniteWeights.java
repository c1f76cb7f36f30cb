package dev.tern.internal.checkpoint;

import dev.tern.base.DType;
import dev.tern.base.DataException;
import dev.tern.embedding.config.RowBlock;
import dev.tern.embedding.config.RowSource;
import dev.tern.embedding.config.TableConfig;
import dev.tern.internal.memory.Memory;
import dev.tern.tensor.Variable;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
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

  /**
   * Checks variables that were read from {@code path}.
   *
   * @throws DataException that names the first with a weight that is not finite
   */
  public static void requireRead(Path path, List<Variable> variables) {
    for (Variable variable : variables) {
      for (float value : variable.toArray()) {
        if (!Float.isFinite(value)) {
          throw unfit(path, variable.name());
        }
      }
    }
  }

  /** {@code rows} of {@code width} weights and {@code floats} in all, behind the same check. */
  static RowSource checked(Path path, TableConfig table, RowShape shape, RowSource rows) {
    return (ids, values) -> {
      int count = rows.next(ids, values);
      for (int i = 0; i < count; i++) {
        MemorySegment row = values.asSlice(i * shape.packedBytes(), 4L * shape.width());
        if (!areFinite(DType.F32, row)) {
          throw unfit(path, "a row of table " + table.name());
        }
      }
      return count;
    };
  }

  /** {@code rows} behind the same check. */
  static RowBlock.Source checked(Path path, TableConfig table, RowBlock.Source rows) {
    return block -> {
      boolean more = rows.next(block);
      if (more && !areFinite(table.storage(), block.weights())) {
        throw unfit(path, "a row of table " + table.name());
      }
      return more;
    };
  }

  private static DataException unfit(Path path, String what) {
    return new DataException(
        "%s: got a weight that is infinite or no number in %s, expected finite ones, as others score nothing; use another checkpoint"
            .formatted(path, what));
  }

  private static IllegalStateException diverged(String what, float value) {
    return new IllegalStateException(
        ("train: got %s in %s, expected finite weights: training diverged, and no checkpoint of it"
                + " is written; lower the learning rate, or look for huge values among the dense"
                + " features")
            .formatted(Float.isNaN(value) ? "a weight that is no number" : value, what));
  }
}
