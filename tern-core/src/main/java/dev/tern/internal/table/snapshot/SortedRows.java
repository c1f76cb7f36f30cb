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
  /** Rows of a block; up to twice as many fit into one. */
  private static final int BLOCK = 1 << 22;

  /** Two sets of arrays of so many rows fit into the second cache. */
  private static final int NEAR = 1 << 15;

  /** Bits of a digit: 256 parts are as many streams of writes as are fast. */
  private static final int DIGIT_BITS = 8;

  private static final int DIGITS = 1 << DIGIT_BITS;

  /** So few rows are sorted by insertion. */
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

  /** Goes on by up to {@code most} rows, from {@link #at} on; returns how many, 0 at the end. */
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
   * Sorts rows {@code [from, to)}. Many are first put into parts by the highest bits in which their
   * ids differ; the parts are sorted side by side.
   *
   * @param ends room for the ends of digits; parts that are sorted side by side have their own
   */
  private void sort(int from, int to, int[] ends) {
    if (to - from <= FEW) {
      insert(from, to);
    } else if (to - from <= NEAR) {
      System.arraycopy(ids, from, otherIds, from, to - from);
      System.arraycopy(rows, from, otherRows, from, to - from);
      sortNear(from, to, ends);
    } else {
      long least = least(ids, from, to);
      if (least == most(ids, from, to)) {
        return;
      }
      int shift = shift(ids, from, to, least, 1);
      int[] parts = new int[DIGITS];
      count(ids, from, to, new Digit(least, shift), parts);
      toOther(from, to, new Digit(least, shift), parts);
      IntStream.range(0, DIGITS)
          .parallel()
          .forEach(digit -> sortPart(digit == 0 ? from : parts[digit - 1], parts[digit]));
    }
  }

  /** Sorts what lies in the other arrays into these. */
  private void sortPart(int from, int to) {
    int[] ends = new int[DIGITS];
    if (to - from <= NEAR) {
      sortNear(from, to, ends);
    } else {
      System.arraycopy(otherIds, from, ids, from, to - from);
      System.arraycopy(otherRows, from, rows, from, to - from);
      sort(from, to, ends);
    }
  }

  /**
   * Sorts what lies in the other arrays into these: by three digits, from the lowest on, of the
   * highest bits in which ids differ; then the rows that are equal there, mostly one.
   */
  private void sortNear(int from, int to, int[] ends) {
    if (from == to) {
      return;
    }
    long least = least(otherIds, from, to);
    int shift = shift(otherIds, from, to, least, 3);
    fromOther(from, to, new Digit(least, shift), ends);
    Digit middle = new Digit(least, shift + DIGIT_BITS);
    count(ids, from, to, middle, ends);
    toOther(from, to, middle, ends);
    fromOther(from, to, new Digit(least, shift + 2 * DIGIT_BITS), ends);
    for (int start = from; start < to && shift > 0; ) {
      long high = (ids[start] - least) >>> shift;
      int end = start + 1;
      while (end < to && (ids[end] - least) >>> shift == high) {
        end++;
      }
      sort(start, end, ends);
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

  /** Bits below the {@code digits} highest digits of the differences of ids and {@code least}. */
  private static int shift(long[] ids, int from, int to, long least, int digits) {
    int bits = Long.SIZE - Long.numberOfLeadingZeros(most(ids, from, to) - least);
    return Math.max(0, bits - digits * DIGIT_BITS);
  }

  /** A digit of an id: the bits at {@code shift} of its difference from {@code least}. */
  private record Digit(long least, int shift) {
    int of(long id) {
      return (int) ((id - least) >>> shift) & (DIGITS - 1);
    }
  }

  /** Finds where the rows of each digit begin, among rows {@code [from, to)}. */
  private static void count(long[] ids, int from, int to, Digit digit, int[] begins) {
    Arrays.fill(begins, 0);
    for (int i = from; i < to; i++) {
      begins[digit.of(ids[i])]++;
    }
    int sum = from;
    for (int d = 0; d < DIGITS; d++) {
      int here = begins[d];
      begins[d] = sum;
      sum += here;
    }
  }

  /** Moves rows to the places of their digits in the other arrays; begins become ends. */
  private void toOther(int from, int to, Digit digit, int[] begins) {
    for (int i = from; i < to; i++) {
      int place = begins[digit.of(ids[i])]++;
      otherIds[place] = ids[i];
      otherRows[place] = rows[i];
    }
  }

  /** Moves rows from the other arrays to the places of their digits in these. */
  private void fromOther(int from, int to, Digit digit, int[] begins) {
    count(otherIds, from, to, digit, begins);
    for (int i = from; i < to; i++) {
      int place = begins[digit.of(otherIds[i])]++;
      ids[place] = otherIds[i];
      rows[place] = otherRows[i];
    }
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
