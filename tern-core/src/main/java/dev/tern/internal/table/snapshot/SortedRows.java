package dev.tern.internal.table.snapshot;

import dev.tern.internal.table.index.IdIndex;
import java.util.Arrays;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * Walks ids and their rows in ascending (signed) order of id, each id once, with bounded memory:
 * each pass over them keeps a block of the smallest above the last one given.
 */
public final class SortedRows {
  /** Rows of a block, where there are more than two of them. */
  private static final int BLOCK = 1 << 22;

  /** Rows that the second cache holds, twice. */
  private static final int NEAR = 1 << 15;

  /** Bits of a digit: that many parts are as many streams of writes as are fast. */
  private static final int DIGIT_BITS = 8;

  private static final int DIGITS = 1 << DIGIT_BITS;

  /** So few are sorted by insertion. */
  private static final int FEW = 48;

  /** Gives all ids with their rows, in any order. */
  private final Consumer<IdIndex.EntrySink> source;

  private final int block;
  private final long[] ids;
  private final int[] rows;
  private final long[] otherIds;
  private final int[] otherRows;
  private int count;
  private int at;
  private int advanced;
  private boolean started;
  private boolean more = true;
  private long last;

  /** Ids above this one cannot be among the block's smallest. */
  private long bound;

  public SortedRows(Consumer<IdIndex.EntrySink> source, long size) {
    this(source, size, BLOCK);
  }

  public SortedRows(Consumer<IdIndex.EntrySink> source, long size, int block) {
    this.source = source;
    int room = (int) Math.min(2L * block, Math.max(1, size));
    this.block = room == size ? room : block;
    ids = new long[room];
    rows = new int[room];
    otherIds = new long[room];
    otherRows = new int[room];
  }

  /** The next block; none at the end. The arrays are used again. */
  public int next() {
    count = 0;
    if (!more) {
      return 0;
    }
    more = false;
    bound = Long.MAX_VALUE;
    source.accept(this::keep);
    keepBlock();
    started = true;
    last = count > 0 ? ids[count - 1] : last;
    return count;
  }

  /**
   * Goes on by up to {@code most} rows, which then are those from {@link #at} on.
   *
   * @return how many; none at the end
   */
  public int advance(int most) {
    at += advanced;
    if (at == count) {
      next();
      at = 0;
    }
    advanced = Math.min(most, count - at);
    return advanced;
  }

  public int at() {
    return at;
  }

  public long[] ids() {
    return ids;
  }

  /** The row of each of {@link #ids}. */
  public int[] rows() {
    return rows;
  }

  private void keep(long id, int row) {
    if (id > bound) {
      more = true;
      return;
    }
    if (started && id <= last) {
      return;
    }
    if (count == ids.length) {
      keepBlock();
      bound = count == block ? ids[count - 1] : Long.MAX_VALUE;
      if (id > bound) {
        more = true;
        return;
      }
    }
    ids[count] = id;
    rows[count++] = row;
  }

  /** Keeps the smallest, in order. */
  private void keepBlock() {
    sort(0, count, new int[DIGITS]);
    dropRepeated();
    more |= count > block;
    count = Math.min(count, block);
  }

  private void dropRepeated() {
    int distinct = Math.min(1, count);
    while (distinct < count && ids[distinct] != ids[distinct - 1]) {
      distinct++;
    }
    for (int i = distinct + 1; i < count; i++) {
      if (ids[i] != ids[distinct - 1]) {
        ids[distinct] = ids[i];
        rows[distinct++] = rows[i];
      }
    }
    count = distinct;
  }

  /**
   * Puts many into parts first, by the highest bits in which ids differ; parts are sorted side by
   * side.
   *
   * @param places room for the places of digits, which parts that are many have of their own
   */
  private void sort(int from, int to, int[] places) {
    if (to - from <= FEW) {
      insert(from, to);
    } else if (to - from <= NEAR) {
      System.arraycopy(ids, from, otherIds, from, to - from);
      System.arraycopy(rows, from, otherRows, from, to - from);
      sortNear(from, to, places);
    } else {
      long least = least(ids, from, to);
      if (least == most(ids, from, to)) {
        return;
      }
      int shift = shift(ids, from, to, least, 1);
      int[] ends = new int[DIGITS];
      place(ids, rows, otherIds, otherRows, from, to, least, shift, ends);
      IntStream.range(0, DIGITS)
          .parallel()
          .forEach(digit -> sortPart(digit == 0 ? from : ends[digit - 1], ends[digit]));
    }
  }

  /** Sorts what lies in the other arrays into these. */
  private void sortPart(int from, int to) {
    int[] places = new int[DIGITS];
    if (to - from <= NEAR) {
      sortNear(from, to, places);
    } else {
      System.arraycopy(otherIds, from, ids, from, to - from);
      System.arraycopy(otherRows, from, rows, from, to - from);
      sort(from, to, places);
    }
  }

  /**
   * Sorts what lies in the other arrays into these: by three digits, from the lowest on, of the
   * highest bits in which ids differ; then those that are equal there, mostly one.
   */
  private void sortNear(int from, int to, int[] places) {
    if (from == to) {
      return;
    }
    long least = least(otherIds, from, to);
    int shift = shift(otherIds, from, to, least, 3);
    place(otherIds, otherRows, ids, rows, from, to, least, shift, places);
    place(ids, rows, otherIds, otherRows, from, to, least, shift + DIGIT_BITS, places);
    place(otherIds, otherRows, ids, rows, from, to, least, shift + 2 * DIGIT_BITS, places);
    for (int start = from; start < to && shift > 0; ) {
      long high = (ids[start] - least) >>> shift;
      int end = start + 1;
      while (end < to && (ids[end] - least) >>> shift == high) {
        end++;
      }
      sort(start, end, places);
      start = end;
    }
  }

  private static long least(long[] ids, int from, int to) {
    long least = Long.MAX_VALUE;
    for (int i = from; i < to; i++) {
      least = Math.min(least, ids[i]);
    }
    return least;
  }

  private static long most(long[] ids, int from, int to) {
    long most = Long.MIN_VALUE;
    for (int i = from; i < to; i++) {
      most = Math.max(most, ids[i]);
    }
    return most;
  }

  /** Bits below the {@code digits} highest digits of what ids are above {@code least}. */
  private static int shift(long[] ids, int from, int to, long least, int digits) {
    int bits = Long.SIZE - Long.numberOfLeadingZeros(most(ids, from, to) - least);
    return Math.max(0, bits - digits * DIGIT_BITS);
  }

  /**
   * Moves all to where the digit at {@code shift} of what they are above {@code least} belongs.
   *
   * @param ends takes the end of the place of each digit
   */
  private static void place(
      long[] fromIds,
      int[] fromRows,
      long[] toIds,
      int[] toRows,
      int from,
      int to,
      long least,
      int shift,
      int[] ends) {
    Arrays.fill(ends, 0);
    for (int i = from; i < to; i++) {
      ends[digit(fromIds[i] - least, shift)]++;
    }
    int sum = from;
    for (int digit = 0; digit < DIGITS; digit++) {
      int here = ends[digit];
      ends[digit] = sum;
      sum += here;
    }
    for (int i = from; i < to; i++) {
      int place = ends[digit(fromIds[i] - least, shift)]++;
      toIds[place] = fromIds[i];
      toRows[place] = fromRows[i];
    }
  }

  private static int digit(long number, int shift) {
    return (int) (number >>> shift) & (DIGITS - 1);
  }

  private void insert(int from, int to) {
    for (int i = from + 1; i < to; i++) {
      long id = ids[i];
      int row = rows[i];
      int at = i;
      for (; at > from && ids[at - 1] > id; at--) {
        ids[at] = ids[at - 1];
        rows[at] = rows[at - 1];
      }
      ids[at] = id;
      rows[at] = row;
    }
  }
}
