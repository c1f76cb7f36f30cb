package dev.tern.internal.table.policy;

import java.util.Arrays;

/** A set of numbers from 0 on, one bit each. Grows with the largest number in it. */
public final class NumberSet {
  private long[] words = new long[8];

  /** Adds a number; returns whether it is new. */
  public boolean add(long number) {
    int word = Math.toIntExact(number >>> 6);
    if (word >= words.length) {
      words = Arrays.copyOf(words, Math.max(word + 1, words.length + words.length / 2));
    }
    long before = words[word];
    words[word] = before | 1L << number;
    return words[word] != before;
  }

  /** Removes a number; returns whether it was there. */
  public boolean remove(long number) {
    int word = Math.toIntExact(number >>> 6);
    if (word >= words.length) {
      return false;
    }
    long before = words[word];
    words[word] = before & ~(1L << number);
    return words[word] != before;
  }

  public void clear() {
    Arrays.fill(words, 0);
  }

  long[] numbers() {
    long[] numbers = new long[Arrays.stream(words).mapToInt(Long::bitCount).sum()];
    int count = 0;
    for (int word = 0; word < words.length; word++) {
      for (long bits = words[word]; bits != 0; bits &= bits - 1) {
        numbers[count++] = 64L * word + Long.numberOfTrailingZeros(bits);
      }
    }
    return numbers;
  }
}
