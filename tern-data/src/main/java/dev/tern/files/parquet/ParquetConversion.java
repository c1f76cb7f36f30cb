package dev.tern.files.parquet;

import java.util.Arrays;
import java.util.List;

/** Turns decoded values of a column into what its {@link ParquetValues.Use} asks for. */
final class ParquetConversion {
  private final ParquetField field;
  private final ParquetValues.Use use;
  private final long[] positive;
  private final double unit;
  private final ParquetTexts texts;
  private final long trueHash;
  private final long falseHash;

  ParquetConversion(
      ParquetField field, ParquetValues.Use use, List<Long> positive, ParquetTexts texts) {
    this.field = field;
    this.use = use;
    this.positive = positive.stream().mapToLong(Long::longValue).sorted().toArray();
    this.texts = texts;
    unit = Math.pow(10, field.scale());
    boolean text = field.kind() == ParquetField.Kind.BOOLEAN;
    trueHash = text ? texts.ofText("true") : 0;
    falseHash = text ? texts.ofText("false") : 0;
  }

  /**
   * Converts {@code count} decoded values: FLOAT and DOUBLE come as floats, texts as hashes in
   * longs, all others as longs; numbers are left in {@code floats}, ids and hashes in {@code
   * longs}.
   */
  void convert(long[] longs, float[] floats, int count) {
    boolean stored =
        field.kind() == ParquetField.Kind.FLOAT || field.kind() == ParquetField.Kind.DOUBLE;
    switch (use) {
      case NUMBER -> {
        if (!stored) {
          toFloats(longs, floats, count);
        }
      }
      case POSITIVE -> {
        toHashes(longs, count);
        for (int i = 0; i < count; i++) {
          floats[i] = Arrays.binarySearch(positive, longs[i]) >= 0 ? 1 : 0;
        }
      }
      case TEXT -> toHashes(longs, count);
      case ID -> {}
    }
  }

  private void toFloats(long[] longs, float[] floats, int count) {
    switch (field.kind()) {
      case UINT64 -> {
        for (int i = 0; i < count; i++) {
          long value = longs[i];
          // Halving keeps the lowest bit, so that rounding stays right.
          floats[i] = value >= 0 ? value : 2f * ((value >>> 1) | (value & 1));
        }
      }
      case DECIMAL -> {
        for (int i = 0; i < count; i++) {
          floats[i] = (float) (longs[i] / unit);
        }
      }
      default -> {
        for (int i = 0; i < count; i++) {
          floats[i] = longs[i];
        }
      }
    }
  }

  private void toHashes(long[] longs, int count) {
    switch (field.kind()) {
      case TEXT -> {}
      case BOOLEAN -> {
        for (int i = 0; i < count; i++) {
          longs[i] = longs[i] == 0 ? falseHash : trueHash;
        }
      }
      default -> {
        boolean unsigned = field.kind() == ParquetField.Kind.UINT64;
        for (int i = 0; i < count; i++) {
          longs[i] = texts.ofInteger(longs[i], unsigned);
        }
      }
    }
  }
}
