package dev.tern.internal.table.rows;

import dev.tern.base.DType;
import dev.tern.embedding.config.RowFormat;
import dev.tern.embedding.config.TableConfig;

/**
 * Where the parts of a row lie in the memory of a table, in bytes:
 *
 * <pre>
 * 0                weights, {@link #weightBytes}
 * weightBytes      optimizer state, 4 bytes a number; none with {@link RowFormat#INT8}
 * metadataOffset   what the row policy notes, 4 bytes each: last step seen, count, score
 * idOffset         the id, 8 bytes, where {@link #keepsId}
 * </pre>
 */
public final class RowLayout {
  private RowLayout() {}

  /** Bytes of the weights, and offset of the state. */
  public static int weightBytes(TableConfig config) {
    if (config.format() == RowFormat.INT8) {
      return Int8Rows.rowBytes(config.width());
    }
    int alignment = config.stateFloats() > 0 || keepsId(config) ? 4 : 1;
    return (config.storage().bytes() * config.width() + alignment - 1) & -alignment;
  }

  public static int metadataOffset(TableConfig config) {
    int state = config.format() == RowFormat.INT8 ? 0 : 4 * config.stateFloats();
    return weightBytes(config) + state;
  }

  public static int idOffset(TableConfig config) {
    return metadataOffset(config) + 4 * config.metadata();
  }

  public static int rowBytes(TableConfig config) {
    return idOffset(config) + (keepsId(config) ? Long.BYTES : 0);
  }

  /**
   * Whether rows hold their ids: for eviction, and for BF16 if each step walks over all rows,
   * because the rounding depends on the id.
   */
  public static boolean keepsId(TableConfig config) {
    return config.metadata() > 0
        || config.format() == RowFormat.STORED
            && config.storage() == DType.BF16
            && config.updatesAllRows();
  }
}
