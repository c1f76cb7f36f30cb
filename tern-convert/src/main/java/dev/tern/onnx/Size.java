package dev.tern.onnx;

import java.util.Arrays;

/**
 * A number in a program that depends on how many rows a call has, and how many elements its
 * sequences: {@code constant + factors[0] rows + factors[1] elements of sequence 0 + ...}.
 */
record Size(long constant, long[] factors) {
  /** The same for all calls. */
  static Size fixed(long value) {
    return new Size(value, new long[0]);
  }

  /** The number of rows or elements {@code symbol} itself. */
  static Size symbol(int symbol) {
    long[] factors = new long[symbol + 1];
    factors[symbol] = 1;
    return new Size(0, factors);
  }

  boolean isFixed() {
    return Arrays.stream(factors).allMatch(factor -> factor == 0);
  }

  boolean isZero() {
    return constant == 0 && isFixed();
  }

  boolean is(long value) {
    return constant == value && isFixed();
  }

  /** Its value for these numbers of rows and elements. */
  long of(long[] symbols) {
    long sum = constant;
    for (int s = 0; s < factors.length; s++) {
      sum += factors[s] * symbols[s];
    }
    return sum;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Size size
        && constant == size.constant
        && Arrays.equals(trimmed(), size.trimmed());
  }

  private long[] trimmed() {
    int end = factors.length;
    while (end > 0 && factors[end - 1] == 0) {
      end--;
    }
    return Arrays.copyOf(factors, end);
  }

  @Override
  public int hashCode() {
    return Long.hashCode(constant) * 31 + Arrays.hashCode(trimmed());
  }

  @Override
  public String toString() {
    return constant + "+" + Arrays.toString(trimmed());
  }
}
