package dev.tern.tensor;

import java.util.Arrays;
import java.util.List;

/**
 * How rows are grouped into sequences, these into longer ones, and so on: levels of offsets, the
 * outermost first, as PaddlePaddle's LoD. Sequence {@code i} of a level holds elements {@code
 * offsets[i]} to {@code offsets[i + 1] - 1}: sequences of the next level, or rows in the last one.
 * So the offsets of a level start with 0, never descend, and end with the number of elements.
 * Sequences may be empty, and a level of the one offset 0 has no sequences. Immutable.
 *
 * <pre>{@code
 * // Two users: one with sessions of 2 and 0 clicks, one with a session of 3.
 * Levels levels = Levels.ofLengths(new int[] {2, 1}, new int[] {2, 0, 3});
 * levels.rows(); // 5
 * levels.rowOffsets(0); // 0, 2, 5
 * }</pre>
 */
public final class Levels {
  private final int[][] offsets;

  private Levels(int[][] offsets) {
    this.offsets = offsets;
  }

  /** Levels of offsets, the outermost first. */
  public static Levels ofOffsets(int[]... offsets) {
    requireLevels(offsets.length);
    int[][] copies = new int[offsets.length][];
    for (int level = 0; level < offsets.length; level++) {
      copies[level] = offsets[level].clone();
      check(copies[level], level);
      if (level > 0) {
        int above = level - 1;
        int last = copies[above][copies[above].length - 1];
        int below = copies[level].length - 1;
        if (last != below) {
          throw new IllegalArgumentException(
              ("levels: got last offset %d of level %d, expected %d, the sequences of level %d;"
                      + " offsets count sequences of the next level, not rows")
                  .formatted(last, above, below, level));
        }
      }
    }
    return new Levels(copies);
  }

  /** Levels of lengths, the outermost first: elements of each sequence. */
  public static Levels ofLengths(int[]... lengths) {
    int[][] offsets = new int[lengths.length][];
    for (int level = 0; level < lengths.length; level++) {
      offsets[level] = add(lengths[level], level);
    }
    return ofOffsets(offsets);
  }

  private static int[] add(int[] lengths, int level) {
    int[] offsets = new int[lengths.length + 1];
    for (int i = 0; i < lengths.length; i++) {
      if (lengths[i] < 0 || offsets[i] > Integer.MAX_VALUE - lengths[i]) {
        throw new IllegalArgumentException(
            "levels: got length %d at place %d of level %d, expected 0 or more, below 2^31 in all"
                .formatted(lengths[i], i, level));
      }
      offsets[i + 1] = offsets[i] + lengths[i];
    }
    return offsets;
  }

  private static void requireLevels(int count) {
    if (count == 0) {
      throw new IllegalArgumentException(
          "levels: got none, expected one or more; use a plain tensor where rows are not grouped");
    }
  }

  private static void check(int[] offsets, int level) {
    if (offsets.length == 0 || offsets[0] != 0) {
      String got = offsets.length == 0 ? "no offsets" : "first offset " + offsets[0];
      throw new IllegalArgumentException(
          "levels: got %s in level %d, expected 0; put a 0 in front".formatted(got, level));
    }
    for (int i = 1; i < offsets.length; i++) {
      if (offsets[i] < offsets[i - 1]) {
        throw new IllegalArgumentException(
            ("levels: got offset %d after %d at place %d of level %d, expected offsets that never"
                    + " descend; use ofLengths for lengths")
                .formatted(offsets[i], offsets[i - 1], i, level));
      }
    }
  }

  /** Number of levels, 1 or more. */
  public int depth() {
    return offsets.length;
  }

  /** Sequences of a level, from 0 for the outermost; a negative one counts from the last. */
  public int sequences(int level) {
    return offsets[counted(level)].length - 1;
  }

  /** Rows that the sequences of the last level hold. */
  public int rows() {
    int[] last = offsets[offsets.length - 1];
    return last[last.length - 1];
  }

  /** Rows of the longest sequence of the last level; 0 without sequences. */
  public int longest() {
    return Arrays.stream(lengths(-1)).max().orElse(0);
  }

  /** A copy of the offsets of a level. */
  public int[] offsets(int level) {
    return offsets[counted(level)].clone();
  }

  /** The lengths of a level's sequences, in elements. */
  public int[] lengths(int level) {
    int[] from = offsets[counted(level)];
    int[] lengths = new int[from.length - 1];
    Arrays.setAll(lengths, i -> from[i + 1] - from[i]);
    return lengths;
  }

  /** The offsets of a level, counted in rows. */
  public int[] rowOffsets(int level) {
    int[] result = offsets(level);
    for (int below = counted(level) + 1; below < offsets.length; below++) {
      int[] into = offsets[below];
      Arrays.setAll(result, i -> into[result[i]]);
    }
    return result;
  }

  /** The outermost sequences {@code from} to {@code to - 1} with all that they hold. */
  public Levels slice(int from, int to) {
    if (from < 0 || to < from || to > sequences(0)) {
      throw new IllegalArgumentException(
          "slice: got sequences %d to %d, expected a part of 0 to %d"
              .formatted(from, to, sequences(0)));
    }
    int[][] parts = new int[offsets.length][];
    int begin = from;
    int end = to;
    for (int level = 0; level < parts.length; level++) {
      int[] part = Arrays.copyOfRange(offsets[level], begin, end + 1);
      begin = part[0];
      end = part[part.length - 1];
      int first = begin;
      Arrays.setAll(part, i -> part[i] - first);
      parts[level] = part;
    }
    return new Levels(parts);
  }

  /** The outermost sequences of all {@code parts}, part after part. */
  public static Levels merge(List<Levels> parts) {
    requireLevels(parts.size());
    int depth = parts.get(0).depth();
    if (parts.stream().anyMatch(part -> part.depth() != depth)) {
      throw new IllegalArgumentException(
          "merge: got %s, expected as many levels in each".formatted(parts));
    }
    int[][] lengths = new int[depth][];
    for (int level = 0; level < depth; level++) {
      int at = level;
      lengths[level] = parts.stream().flatMapToInt(p -> Arrays.stream(p.lengths(at))).toArray();
    }
    return ofLengths(lengths);
  }

  private int counted(int level) {
    int counted = level < 0 ? level + offsets.length : level;
    if (counted < 0 || counted >= offsets.length) {
      throw new IllegalArgumentException(
          "levels: got level %d, expected %d to %d"
              .formatted(level, -offsets.length, offsets.length - 1));
    }
    return counted;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Levels levels && Arrays.deepEquals(offsets, levels.offsets);
  }

  @Override
  public int hashCode() {
    return Arrays.deepHashCode(offsets);
  }

  /** The lengths of each level. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder("Levels");
    for (int level = 0; level < offsets.length; level++) {
      text.append(' ').append(Arrays.toString(lengths(level)));
    }
    return text.toString();
  }
}
