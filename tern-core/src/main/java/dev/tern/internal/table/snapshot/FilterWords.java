package dev.tern.internal.table.snapshot;

import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.table.policy.CountingFilter;
import java.util.function.LongUnaryOperator;
import java.util.function.ObjIntConsumer;

/**
 * Words of a counting filter at one moment: all, or those that changed.
 *
 * @param size words of the filter
 * @param count words that are here
 * @param at gives word {@code i} of these
 * @param close gives memory back
 */
public record FilterWords(long size, long count, LongUnaryOperator at, Runnable close) {
  private static final int BLOCK = 1 << 13;

  /** The words of a table without a filter. */
  public static final FilterWords NONE = new FilterWords(0, 0, i -> i, () -> {});

  /** All of a filter that nothing changes. */
  public static FilterWords of(CountingFilter filter) {
    return new FilterWords(filter.words(), filter.words(), reader(filter), () -> {});
  }

  /** All of a filter as it is now. */
  public static FilterWords copy(CountingFilter filter, Allocator allocator, String holder) {
    long words = filter.words();
    long copy = allocator.allocate(Long.BYTES * words, holder);
    filter.copyTo(copy);
    return new FilterWords(
        words, words, i -> Memory.getLong(copy + Long.BYTES * i), () -> allocator.free(copy));
  }

  /** The words of these numbers as they are now. */
  public static FilterWords copy(CountingFilter filter, long[] numbers) {
    LongUnaryOperator reader = reader(filter);
    long[] copy = new long[numbers.length];
    for (int i = 0; i < copy.length; i++) {
      copy[i] = reader.applyAsLong(numbers[i]);
    }
    return new FilterWords(filter.words(), copy.length, i -> copy[(int) i], () -> {});
  }

  private static LongUnaryOperator reader(CountingFilter filter) {
    long[] word = new long[1];
    return i -> {
      filter.read(i, word, 1);
      return word[0];
    };
  }

  public void read(ObjIntConsumer<long[]> sink) {
    long[] block = new long[(int) Math.min(BLOCK, count)];
    for (long from = 0; from < count; from += BLOCK) {
      int length = (int) Math.min(BLOCK, count - from);
      for (int i = 0; i < length; i++) {
        block[i] = at.applyAsLong(from + i);
      }
      sink.accept(block, length);
    }
  }
}
