package dev.tern.files;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;

/**
 * Texts of some columns of the rows that a reader delivers, as they are in its files, so that
 * scores can be joined to other data. A reader appends the texts of each row that it puts into a
 * batch; whoever takes the batch takes the texts too, and then calls {@link #clear}.
 *
 * <p>One thread.
 */
public final class KeptTexts {
  private final List<String> columns;
  private byte[] bytes = new byte[1 << 12];

  /** Where each text ends in {@link #bytes}, row by row; negative ({@code ~end}) if quoted. */
  private int[] ends = new int[1 << 8];

  private int count;

  /**
   * No rows yet.
   *
   * @param columns distinct names, one or more
   */
  public KeptTexts(List<String> columns) {
    this.columns = List.copyOf(columns);
    if (columns.isEmpty() || new HashSet<>(columns).size() < columns.size()) {
      throw new IllegalArgumentException(
          "kept columns: got %s, expected distinct names, one or more".formatted(columns));
    }
  }

  /** Names of the columns, in order. */
  public List<String> columns() {
    return columns;
  }

  /** Rows appended since the last {@link #clear}. */
  public int rows() {
    return count / columns.size();
  }

  /** The text of column {@code column} in row {@code row}, both from 0 on. */
  public String text(int row, int column) {
    int i = index(row, column);
    return new String(bytes, start(i), end(i) - start(i), StandardCharsets.UTF_8);
  }

  /** Whether that text was in quotes. */
  public boolean isQuoted(int row, int column) {
    return ends[index(row, column)] < 0;
  }

  /**
   * The texts in UTF-8 as they were read: {@code bytes()[start(row, column) .. end(row, column))}.
   */
  public byte[] bytes() {
    return bytes;
  }

  /** Where a text starts in {@link #bytes}. */
  public int start(int row, int column) {
    return start(index(row, column));
  }

  /** Where a text ends in {@link #bytes}. */
  public int end(int row, int column) {
    return end(index(row, column));
  }

  private int index(int row, int column) {
    if (row < 0 || row >= rows() || column < 0 || column >= columns.size()) {
      throw new IndexOutOfBoundsException(
          "kept columns: got row %d, column %d of %d rows of %d columns"
              .formatted(row, column, rows(), columns.size()));
    }
    return row * columns.size() + column;
  }

  private int start(int index) {
    return index == 0 ? 0 : end(index - 1);
  }

  private int end(int index) {
    int end = ends[index];
    return end < 0 ? ~end : end;
  }

  /**
   * Appends the text of the next column of a row, for readers.
   *
   * @param quoted whether it was in quotes, which are no part of it
   */
  public void add(byte[] text, int from, int to, boolean quoted) {
    int begin = count == 0 ? 0 : end(count - 1);
    int end = Math.addExact(begin, to - from);
    if (end > bytes.length) {
      int doubled = (int) Math.min(2L * bytes.length, Integer.MAX_VALUE - 8);
      bytes = Arrays.copyOf(bytes, Math.max(end, doubled));
    }
    if (count == ends.length) {
      ends = Arrays.copyOf(ends, Math.multiplyExact(2, count));
    }
    System.arraycopy(text, from, bytes, begin, to - from);
    ends[count] = quoted ? ~end : end;
    count++;
  }

  /** Forgets all rows. */
  public void clear() {
    count = 0;
  }
}
