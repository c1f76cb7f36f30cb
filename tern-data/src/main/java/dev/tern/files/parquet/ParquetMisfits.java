package dev.tern.files.parquet;

import dev.tern.data.encode.TimeParser;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Which of some values have no form in what they are to become: no 64-bit integer is 0.5, and a NaN
 * is no value at all.
 */
final class ParquetMisfits {
  private static final String MISSING = "";

  /** The value as text, or {@link #MISSING}; null for a value that fits. */
  private @Nullable String[] got;

  ParquetMisfits(int size) {
    got = new @Nullable String[size];
  }

  /** Room for {@code size} values, all of which fit. */
  void reset(int size) {
    if (got.length < size) {
      got = new @Nullable String[size];
    } else {
      Arrays.fill(got, 0, size, null);
    }
  }

  /** Value {@code i} is missing. */
  void missing(int i) {
    got[i] = MISSING;
  }

  /** Value {@code i}, which is {@code value}, does not fit. */
  void refuse(int i, String value) {
    got[i] = value;
  }

  /** The microseconds that {@code number}, value {@code i}, is by its size; 0 where it is none. */
  long time(int i, double number) {
    long micros = TimeParser.ofNumber(number);
    if (micros != TimeParser.NONE) {
      return micros;
    }
    refuse(i, Double.isNaN(number) ? MISSING : Double.toString(number));
    return 0;
  }

  /** Takes value {@code from} of {@code source} as value {@code i} of these. */
  void take(int i, ParquetMisfits source, int from) {
    got[i] = source.got[from];
  }

  boolean fits(int i) {
    return got[i] == null;
  }

  boolean isMissing(int i) {
    return MISSING.equals(got[i]);
  }

  /** What value {@code i} is. */
  String value(int i) {
    return String.valueOf(got[i]);
  }
}
