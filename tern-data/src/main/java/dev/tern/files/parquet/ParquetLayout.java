package dev.tern.files.parquet;

import dev.tern.files.KeyType;
import java.util.Objects;

/**
 * How a {@link ParquetWriter} lays out its file.
 *
 * @param codec what pages are compressed with
 * @param groupRows rows of a row group, 1 to 16,777,216; groups of many long lists are cut earlier
 * @param keys how ids are held: I64 as INT64, I32 and U32 as INT32, the latter marked unsigned
 * @param hugeCtr in HugeCTR's form: no nulls, a missing number is NaN, and {@code _metadata.json}
 *     and {@code _file_list.txt} beside the file, so that a folder holds one data set; else a
 *     missing number is null
 */
public record ParquetLayout(Codec codec, int groupRows, KeyType keys, boolean hugeCtr) {
  /** What pages are compressed with. */
  public enum Codec {
    UNCOMPRESSED,
    SNAPPY,
    ZSTD
  }

  /** Snappy, row groups of 131,072 rows, 64-bit ids, nulls for missing numbers. */
  public static final ParquetLayout DEFAULT =
      new ParquetLayout(Codec.SNAPPY, 1 << 17, KeyType.I64, false);

  public ParquetLayout {
    Objects.requireNonNull(codec, "codec");
    Objects.requireNonNull(keys, "keys");
    if (groupRows < 1 || groupRows > 1 << 24) {
      throw new IllegalArgumentException(
          "parquet: got row groups of " + groupRows + " rows, expected 1 to " + (1 << 24));
    }
  }

  /** This layout with pages compressed by {@code codec}. */
  public ParquetLayout withCodec(Codec codec) {
    return new ParquetLayout(codec, groupRows, keys, hugeCtr);
  }

  /** This layout with row groups of {@code rows} rows. */
  public ParquetLayout withGroupRows(int rows) {
    return new ParquetLayout(codec, rows, keys, hugeCtr);
  }

  /** This layout with ids held as {@code keys}. */
  public ParquetLayout withKeys(KeyType keys) {
    return new ParquetLayout(codec, groupRows, keys, hugeCtr);
  }

  /** This layout in HugeCTR's form. */
  public ParquetLayout asHugeCtr() {
    return new ParquetLayout(codec, groupRows, keys, true);
  }
}
