package dev.tern.data;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

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

  /** In the text, each token follows the one before it at once. */
  private static final Pattern TOKEN = Pattern.compile("\\G([()]|\\d+ )");

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
    StringBuilder text = new StringBuilder("(");
    turns.forEach(turn -> text.append(turn).append(' '));
    parts.forEach(part -> text.append(part.text()));
    return text.append(')').toString();
  }

  /**
   * The order that {@link #text} wrote.
   *
   * @throws NumberFormatException if the text is something else
   */
  static PassOrder parse(String text) {
    Matcher tokens = TOKEN.matcher(text);
    if (next(tokens).equals("(")) {
      PassOrder order = rest(tokens);
      if (tokens.end() == text.length()) {
        return order;
      }
    }
    throw new NumberFormatException("no order of a pass: " + text);
  }

  /** Reads on behind the opening bracket of an order. */
  private static PassOrder rest(Matcher tokens) {
    List<Integer> turns = new ArrayList<>();
    List<PassOrder> parts = new ArrayList<>();
    while (true) {
      switch (next(tokens)) {
        case ")" -> {
          return new PassOrder(turns, parts);
        }
        case "(" -> parts.add(rest(tokens));
        case String turn -> turns.add(Integer.parseInt(turn.strip()));
      }
    }
  }

  private static String next(Matcher tokens) {
    if (!tokens.find()) {
      throw new NumberFormatException("no bracket or number follows");
    }
    return tokens.group();
  }
}
