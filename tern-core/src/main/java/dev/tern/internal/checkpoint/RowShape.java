package dev.tern.internal.checkpoint;

import dev.tern.base.DType;
import dev.tern.base.DataException;
import dev.tern.embedding.config.TableConfig;
import java.nio.file.Path;
import java.util.List;

/**
 * How many numbers a row of a table has: weights, floats of optimizer state, and integers of
 * metadata, such as the step in which the row was seen last. A packed row in memory holds them in
 * this order, 4 bytes each, weights as F32.
 *
 * @param storage type of weights in files: F32, F16 or BF16
 */
public record RowShape(DType storage, int width, int state, int metadata) {
  private static final long MAX_COLUMNS = 1 << 16;
  private static final List<DType> STORAGES = List.of(DType.F32, DType.F16, DType.BF16);

  static RowShape of(TableConfig config) {
    return new RowShape(config.storage(), config.width(), config.stateFloats(), config.metadata());
  }

  /** The shape of the rows in a table's file. */
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
          "%s: got %s of shape %s, expected rows of at most %d columns; the file is damaged or no table"
              .formatted(path, entry.name(), entry.shape(), MAX_COLUMNS));
    }
    return entry.shape().get(1).intValue();
  }

  public long packedBytes() {
    return 4L * (width + state + metadata);
  }

  /** Bytes of a row in a file, without its id. */
  public long fileBytes() {
    return (long) storage.bytes() * width + 4L * (state + metadata);
  }
}
