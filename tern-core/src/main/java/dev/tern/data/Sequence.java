package dev.tern.data;

import java.util.Locale;
import java.util.Objects;

/**
 * A slot whose ids are read in their order, such as the items that a user looked at one after the
 * other. Slots of one name form one sequence of several columns: in each row they have equally many
 * ids, and element {@code i} of the sequence is id {@code i} of each.
 *
 * @param name by which models ask for the sequence
 * @param maxLength ids of a row that are kept, 1 or more
 * @param keep which ids stay where a row has more
 */
public record Sequence(String name, int maxLength, Keep keep) {
  /** The end of a long sequence that is kept. */
  public enum Keep {
    FIRST,
    LAST;

    /** As in configurations. */
    public String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  public Sequence {
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(keep, "keep");
    if (maxLength < 1) {
      throw new IllegalArgumentException(
          "sequence %s: got a length of at most %d, expected 1 or more".formatted(name, maxLength));
    }
  }

  /** A sequence that keeps the last {@code maxLength} ids of a row. */
  public static Sequence last(String name, int maxLength) {
    return new Sequence(name, maxLength, Keep.LAST);
  }

  /** How many of {@code count} ids of a row are kept. */
  public int kept(int count) {
    return Math.min(count, maxLength);
  }

  /** The first that is kept of {@code count} ids of a row. */
  public int firstKept(int count) {
    return keep == Keep.FIRST ? 0 : count - kept(count);
  }
}
