package dev.tern.internal.checkpoint;

import dev.tern.base.DType;
import dev.tern.base.DataException;
import dev.tern.embedding.config.TableConfig;
import java.nio.file.Path;
import java.util.List;

/**
 * What a row of a table holds, in files and, packed, in memory: weights, optimizer state, and what
 * it keeps about itself. Packed, each number takes 4 bytes, weights as F32.
 *
 * @param storage how files hold weights: F32, F16 or BF16
 * @param width weights
 * @param state floats of optimizer state
 * @param metadata whole numbers of 4 bytes
 */
public record RowShape(DType storage, int width, int state, int metadata) {
  private static final long MAX_COLUMNS = 1 << 16;
  private static final List<DType> STORAGES = List.of(DType.F32, DType.F16, DType.BF16);

  static RowShape of(TableConfig config) {
    return new RowShape(config.storage(), config.width(), config.stateFloats(), config.metadata());
  }

  /** What rows hold in a table's file. */
  public static RowShape of(Path path) {
    try (SafeTensors file = SafeTensors.open(path)) {
      SafeTensors.Entry weights = file.entry(RowColumns.WEIGHTS);
      if (!STORAGES.contains(weights.type()) || columns(path, weights) < 1) {
        throw new DataException(
            "%s: got weights of type %s and shape %s, expected rows of one or more, as one of %s; the file is damaged or no table"
                .formatted(path, weights.type(), weights.shape(), STORAGES));
      }
      boolean metadata = file.names().contains(RowColumns.METADATA);
      return new RowShape(
          weights.type(),
          columns(path, weights),
          columns(path, file.entry(RowColumns.STATE)),
          metadata ? columns(path, file.entry(RowColumns.METADATA)) : 0);
    }
  }

  private static int columns(Path path, SafeTensors.Entry entry) {
    if (entry.shape().size() != 2 || entry.shape().get(1) > MAX_COLUMNS) {
      throw new DataException(
          path
              + ": got "
              + entry.name()
              + " of shape "
              + entry.shape()
              + ", expected rows of at most "
              + MAX_COLUMNS
              + " columns; the file is damaged or no table");
    }
    return entry.shape().get(1).intValue();
  }

  /** Bytes of a packed row. */
  public long packedBytes() {
    return 4L * (width + state + metadata);
  }

  /** Bytes of a row in files, without its id. */
  public long fileBytes() {
    return (long) storage.bytes() * width + 4L * (state + metadata);
  }
}
