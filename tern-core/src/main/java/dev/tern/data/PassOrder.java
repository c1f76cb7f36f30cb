package dev.tern.data;

import java.util.ArrayList;
import java.util.List;

/**
 * The order in which a pass came where that depends on the speed of threads: batches that {@link
 * Readers#mappedUnordered} gave, and the same of the readers below. A reader that is restored with
 * it gives its first rows in this order again.
 *
 * @param turns for each batch given, how many older ones were not given yet; it stays below twice
 *     the number of threads
 * @param parts of readers below, or of their passes; empty where all are fixed
 */
public record PassOrder(List<Integer> turns, List<PassOrder> parts) {
  /** An order that follows from seed, epoch and data. */
  public static final PassOrder FIXED = new PassOrder(List.of(), List.of());

  public PassOrder {
    turns = List.copyOf(turns);
    parts = List.copyOf(parts);
    for (int turn : turns) {
      if (turn < 0) {
        throw new IllegalArgumentException(
            "order of a pass: got turn " + turn + ", expected 0 or more");
      }
    }
  }

  /** The order of a reader whose own order is fixed and that reads all of these. */
  public static PassOrder of(List<PassOrder> parts) {
    return parts.stream().allMatch(PassOrder::isFixed) ? FIXED : new PassOrder(List.of(), parts);
  }

  /** Whether it follows from seed, epoch and data. */
  public boolean isFixed() {
    return turns.isEmpty() && parts.isEmpty();
  }

  /** The order of part {@code i}. */
  public PassOrder part(int i) {
    return i < parts.size() ? parts.get(i) : FIXED;
  }

  /** {@code (turns parts)}, parts in the same form. */
  String text() {
    StringBuilder text = new StringBuilder();
    write(text);
    return text.toString();
  }

  private void write(StringBuilder text) {
    text.append('(');
    turns.forEach(turn -> text.append(turn).append(' '));
    parts.forEach(part -> part.write(text));
    text.append(')');
  }

  /**
   * The order that {@link #text} wrote.
   *
   * @throws NumberFormatException if it is something else
   */
  static PassOrder parse(String text) {
    int[] at = {0};
    PassOrder order = parse(text, at);
    if (at[0] != text.length()) {
      throw new NumberFormatException("something follows the order");
    }
    return order;
  }

  private static PassOrder parse(String text, int[] at) {
    List<Integer> turns = new ArrayList<>();
    List<PassOrder> parts = new ArrayList<>();
    expect(text, at, '(');
    while (at[0] < text.length() && text.charAt(at[0]) != ')') {
      if (text.charAt(at[0]) == '(') {
        parts.add(parse(text, at));
      } else {
        int end = text.indexOf(' ', at[0]);
        turns.add(Integer.parseUnsignedInt(text, at[0], Math.max(end, at[0]), 10));
        at[0] = end + 1;
      }
    }
    expect(text, at, ')');
    return new PassOrder(turns, parts);
  }

  private static void expect(String text, int[] at, char expected) {
    if (at[0] >= text.length() || text.charAt(at[0]) != expected) {
      throw new NumberFormatException("no " + expected + " at " + at[0]);
    }
    at[0]++;
  }
}
