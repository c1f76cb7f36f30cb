package dev.tern.data;

import java.util.ArrayList;
import java.util.List;

/**
 * The order of the batches of a pass, where it depends on the speed of threads: batches that {@link
 * dev.tern.data.readers.Readers#mappedUnordered} gave, and the orders of the readers below. A
 * reader that is restored with it gives its first batches in this order again.
 *
 * @param turns for each batch given, the number of older batches that were not given yet; below
 *     twice the number of threads
 * @param parts orders of the readers below, or of their passes; empty if all are fixed
 */
public record PassOrder(List<Integer> turns, List<PassOrder> parts) {
  /** The order that follows from seed, epoch and data. */
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

  /** The order of a reader with a fixed order of its own, over readers of these orders. */
  public static PassOrder of(List<PassOrder> parts) {
    return parts.stream().allMatch(PassOrder::isFixed) ? FIXED : new PassOrder(List.of(), parts);
  }

  /** Whether it follows from seed, epoch and data. */
  public boolean isFixed() {
    return turns.isEmpty() && parts.isEmpty();
  }

  /** The order of reader {@code i} below. */
  public PassOrder part(int i) {
    return i < parts.size() ? parts.get(i) : FIXED;
  }

  /** This order as text: {@code (turns parts)}, each part in the same form. */
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
   * @throws NumberFormatException if the text is something else
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
