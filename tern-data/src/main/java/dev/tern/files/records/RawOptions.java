package dev.tern.files.records;

import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.files.KeyType;
import dev.tern.internal.files.BinaryInput;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;

/**
 * What a Raw file, which says nothing of itself, holds: samples of one size, {@code label[L] |
 * dense[F] | keys}, slot by slot with the hotness of each.
 *
 * <p>HugeCTR's variants: its legacy reader with {@code float_label_dense} is (float labels, FLOAT
 * dense, U32 keys), without it (int labels, INT_LOG, U32); its asynchronous reader is (int labels,
 * FLOAT or INT_LOG, U32 or I64), of any hotness.
 *
 * @param schema the columns; every slot must have a hotness
 * @param intLabels labels are int32, taken as they are; false: float32
 * @param dense how dense numbers are held
 * @param keys how ids are held
 * @param rows samples of the file where it must hold that many; empty: as many as it holds
 */
public record RawOptions(
    Schema schema, boolean intLabels, Dense dense, KeyType keys, OptionalLong rows) {
  /** How a Raw file holds dense numbers. */
  public enum Dense {
    /** float32. */
    FLOAT,
    /** int32. */
    INT,
    /**
     * int32 x, read as ln(x + 1) in single precision, as HugeCTR does. Negative x, whose logarithm
     * is no number, is a fault.
     */
    INT_LOG
  }

  public RawOptions {
    Objects.requireNonNull(dense, "dense");
    Objects.requireNonNull(keys, "keys");
    Objects.requireNonNull(rows, "rows");
    for (Slot slot : schema.slots()) {
      if (slot.hotness() == 0) {
        throw new IllegalArgumentException(
            "raw: got slot %s of varying hotness, expected a fixed one; write Norm or Parquet instead"
                .formatted(slot.name()));
      }
    }
    if (sampleBytes(schema, keys) > BinaryInput.MAX_CONTIGUOUS || sampleBytes(schema, keys) == 0) {
      throw new IllegalArgumentException(
          "raw: got samples of %s bytes, expected 1 to %s"
              .formatted(sampleBytes(schema, keys), BinaryInput.MAX_CONTIGUOUS));
    }
  }

  /** Float labels and dense numbers, 4-byte keys. */
  public static RawOptions floats(Schema schema) {
    return new RawOptions(schema, false, Dense.FLOAT, KeyType.U32, OptionalLong.empty());
  }

  /** Integer labels, dense numbers read as ln(x + 1), 4-byte keys. */
  public static RawOptions integers(Schema schema) {
    return new RawOptions(schema, true, Dense.INT_LOG, KeyType.U32, OptionalLong.empty());
  }

  /** These options for a file that must hold {@code rows} samples. */
  public RawOptions withRows(long rows) {
    return new RawOptions(schema, intLabels, dense, keys, OptionalLong.of(rows));
  }

  /** These options with keys of another type. */
  public RawOptions withKeys(KeyType keys) {
    return new RawOptions(schema, intLabels, dense, keys, rows);
  }

  /** These options for a file without labels. */
  public RawOptions withoutLabels() {
    Schema bare = new Schema(List.of(), schema.dense(), schema.slots());
    return new RawOptions(bare, intLabels, dense, keys, rows);
  }

  /** Bytes of a sample. */
  int sampleBytes() {
    return (int) sampleBytes(schema, keys);
  }

  private static long sampleBytes(Schema schema, KeyType keys) {
    long ids = schema.slots().stream().mapToLong(Slot::hotness).sum();
    return 4L * (schema.labelDim() + schema.denseDim()) + keys.bytes() * ids;
  }

  /** What a sample holds, for messages. */
  String layout() {
    return "%s %s labels, %s %s dense numbers and %s %s keys"
        .formatted(
            schema.labelDim(),
            intLabels ? "int" : "float",
            schema.denseDim(),
            dense == Dense.FLOAT ? "float" : "int",
            schema.slots().stream().mapToLong(Slot::hotness).sum(),
            keys);
  }
}
