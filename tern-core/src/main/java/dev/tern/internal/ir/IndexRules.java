package dev.tern.internal.ir;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.tern.base.DType;
import dev.tern.internal.ir.Op.Index.Rule;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Computes the result of each rule of {@link Op.Index}. Segments check reads and writes. Offsets
 * are checked before they are used, so no result points outside. Allocates nothing.
 */
public final class IndexRules {
  /**
   * An input, dense.
   *
   * @param width elements in a row
   */
  public record Operand(MemorySegment data, DType type, int count, int width) {
    private int integer(long at) {
      return data.getAtIndex(JAVA_INT, at);
    }

    private float number(long at) {
      return data.getAtIndex(JAVA_FLOAT, at);
    }

    private long whole(long at) {
      return type == DType.I64 ? data.getAtIndex(JAVA_LONG, at) : data.getAtIndex(JAVA_INT, at);
    }

    private boolean isSet(long at) {
      return type.isFloatLike() ? number(at) != 0 : whole(at) != 0;
    }
  }

  private IndexRules() {}

  /** Writes the result of {@code op}, dense. */
  public static void apply(Op.Index op, List<Operand> inputs, MemorySegment out) {
    Operand first = inputs.get(0);
    Operand offsets = inputs.get(inputs.size() - 1);
    switch (op.rule()) {
      case LENGTHS -> lengths(op, offsets, out);
      case OFFSETS -> offsets(op, first, out);
      case SEQUENCES, POSITIONS, MIRROR, RANGES -> rows(op, first, offsets, out);
      case HEADS, ALL, TAILS -> ends(op, offsets, out);
      case WINDOWS -> windows(op, offsets, out);
      case STARTS -> starts(op, first, inputs.get(1), inputs.get(2), out);
      case KEPT_LENGTHS -> keptLengths(op, first, offsets, out);
      case KEPT -> kept(op, first, offsets, out);
      case NOT_AMONG -> notAmong(first, offsets, out);
      case CELLS -> cells(op, first, offsets, out);
      case LARGEST -> largest(op, first, offsets, out);
      case SHIFT -> shift(op, first, out);
      case SCALE -> scale(op, first, out);
    }
  }

  /**
   * Checks that {@code count} offsets start with 0, never descend and stay within the rows.
   *
   * @param op the name of the reader, for messages
   * @return the last offset
   */
  public static int check(String op, MemorySegment offsets, int count, int rows) {
    int before = 0;
    for (int i = 0; i < count; i++) {
      int offset = offsets.getAtIndex(JAVA_INT, i);
      if (i == 0 && offset != 0 || offset < before || offset > rows) {
        throw new IllegalArgumentException(
            "%s: got offset %d at place %d after %d, expected %s; give valid lengths and room"
                .formatted(op, offset, i, before, i == 0 ? "0" : before + " to " + rows));
      }
      before = offset;
    }
    return before;
  }

  private static int check(Op.Index op, Operand offsets, int rows) {
    return check(op.rule().text(), offsets.data(), offsets.count(), rows);
  }

  private static void set(MemorySegment out, long at, int value) {
    out.setAtIndex(JAVA_INT, at, value);
  }

  private static void fill(MemorySegment out, long from, long to, int value) {
    for (long at = from; at < to; at++) {
      set(out, at, value);
    }
  }

  private static void lengths(Op.Index op, Operand offsets, MemorySegment out) {
    check(op, offsets, op.size());
    for (int s = 0; s + 1 < offsets.count(); s++) {
      set(out, s, offsets.integer(s + 1) - offsets.integer(s));
    }
  }

  private static void offsets(Op.Index op, Operand lengths, MemorySegment out) {
    int end = 0;
    set(out, 0, 0);
    for (int s = 0; s < lengths.count(); s++) {
      int length = lengths.integer(s);
      if (length < 0 || end > Integer.MAX_VALUE - length) {
        throw new IllegalArgumentException(
            "%s: got length %d at place %d after %d rows, expected 0 or more, below 2^31 in all"
                .formatted(op.rule().text(), length, s, end));
      }
      end += length;
      set(out, s + 1L, end);
    }
  }

  private static void rows(Op.Index op, Operand starts, Operand offsets, MemorySegment out) {
    int last = check(op, offsets, op.size());
    for (int s = 0; s + 1 < offsets.count(); s++) {
      int begin = offsets.integer(s);
      int end = offsets.integer(s + 1);
      for (int row = begin; row < end; row++) {
        int value =
            switch (op.rule()) {
              case SEQUENCES -> s;
              case POSITIONS -> row - begin;
              case RANGES -> starts.integer(s) + row - begin;
              default -> begin + end - 1 - row;
            };
        set(out, row, value);
      }
    }
    fill(out, last, op.size(), -1);
  }

  private static void ends(Op.Index op, Operand offsets, MemorySegment out) {
    check(op, offsets, op.size());
    long at = 0;
    for (int s = 0; s + 1 < offsets.count(); s++) {
      int begin = offsets.integer(s);
      int length = offsets.integer(s + 1) - begin;
      if (op.rule() == Rule.ALL && length > op.width()) {
        throw new IllegalArgumentException(
            "pad: got %d rows in sequence %d, expected at most %d; pad to more, or drop rows first"
                .formatted(length, s, op.width()));
      }
      for (int i = 0; i < op.width(); i++) {
        int row = op.rule() == Rule.TAILS ? begin + length - 1 - i : begin + i;
        set(out, at++, i < length ? row : -1);
      }
    }
  }

  private static void windows(Op.Index op, Operand offsets, MemorySegment out) {
    int last = check(op, offsets, op.size());
    long at = 0;
    for (int s = 0; s + 1 < offsets.count(); s++) {
      int end = offsets.integer(s + 1);
      for (int row = offsets.integer(s); row < end; row++) {
        for (int i = 0; i < op.width(); i++) {
          set(out, at++, i < end - row ? row + i : op.size());
        }
      }
    }
    fill(out, (long) last * op.width(), (long) op.size() * op.width(), op.size());
  }

  private static void starts(
      Op.Index op, Operand offsets, Operand firsts, Operand lengths, MemorySegment out) {
    check(op, offsets, op.size());
    for (int s = 0; s + 1 < offsets.count(); s++) {
      int begin = offsets.integer(s);
      int rows = offsets.integer(s + 1) - begin;
      int first = firsts.integer(s);
      int length = lengths.integer(s);
      if (first < 0 || length < 0 || first > rows - length) {
        throw new IllegalArgumentException(
            "slice: got %d rows from %d of sequence %d, expected a part of its %d rows; change them"
                .formatted(length, first, s, rows));
      }
      set(out, s, begin + first);
    }
  }

  private static void keptLengths(Op.Index op, Operand marks, Operand offsets, MemorySegment out) {
    check(op, offsets, marks.count());
    for (int s = 0; s + 1 < offsets.count(); s++) {
      int kept = 0;
      for (int row = offsets.integer(s); row < offsets.integer(s + 1); row++) {
        kept += marks.isSet(row) ? 1 : 0;
      }
      set(out, s, kept);
    }
  }

  private static void kept(Op.Index op, Operand marks, Operand offsets, MemorySegment out) {
    int last = check(op, offsets, marks.count());
    int kept = 0;
    for (int row = 0; row < last; row++) {
      if (marks.isSet(row)) {
        set(out, kept++, row);
      }
    }
    fill(out, kept, marks.count(), -1);
  }

  private static void notAmong(Operand ids, Operand others, MemorySegment out) {
    for (int row = 0; row < ids.count(); row++) {
      int mark = 1;
      for (int i = 0; i < others.count() && mark == 1; i++) {
        mark = ids.whole(row) == others.whole(i) ? 0 : 1;
      }
      set(out, row, mark);
    }
  }

  private static void cells(Op.Index op, Operand columns, Operand offsets, MemorySegment out) {
    int last = check(op, offsets, columns.count());
    for (int s = 0; s + 1 < offsets.count(); s++) {
      for (int row = offsets.integer(s); row < offsets.integer(s + 1); row++) {
        long column = columns.whole(row);
        if (column < 0 || column >= op.width()) {
          throw new IndexOutOfBoundsException(
              "cells: got column %d at row %d of sequence %d, expected 0 to %d"
                  .formatted(column, row, s, op.width() - 1));
        }
        set(out, row, s * op.width() + (int) column);
      }
    }
    fill(out, last, columns.count(), -1);
  }

  private static void largest(Op.Index op, Operand values, Operand offsets, MemorySegment out) {
    check(op, offsets, values.count());
    int width = values.width();
    for (int s = 0; s + 1 < offsets.count(); s++) {
      for (int column = 0; column < width; column++) {
        long first = (long) s * op.width() * width + column;
        int found = 0;
        for (int row = offsets.integer(s); row < offsets.integer(s + 1); row++) {
          found = insert(values, row * width + column, out, first, found, op.width());
        }
        for (int i = found; i < op.width(); i++) {
          set(out, first + (long) i * width, -1);
        }
      }
    }
  }

  /** Puts {@code element} among the largest found so far; keeps at most {@code most}. */
  private static int insert(
      Operand values, int element, MemorySegment out, long first, int found, int most) {
    int width = values.width();
    int at = found;
    while (at > 0) {
      int before = out.getAtIndex(JAVA_INT, first + (at - 1L) * width);
      if (Float.compare(values.number(before), values.number(element)) >= 0) {
        break;
      }
      if (at < most) {
        set(out, first + (long) at * width, before);
      }
      at--;
    }
    if (at < most) {
      set(out, first + (long) at * width, element);
    }
    return Math.min(most, found + 1);
  }

  private static void shift(Op.Index op, Operand numbers, MemorySegment out) {
    for (int i = 0; i < numbers.count(); i++) {
      int number = numbers.integer(i);
      if (number < 0 || number > Integer.MAX_VALUE - op.size()) {
        throw new IllegalArgumentException(
            "%s: got offset %d at place %d, expected 0 to %d; give valid offsets"
                .formatted(op.rule().text(), number, i, Integer.MAX_VALUE - op.size()));
      }
      set(out, i, number + op.size());
    }
  }

  private static void scale(Op.Index op, Operand offsets, MemorySegment out) {
    // Offsets past the rows stay past them: the op that reads the result finds them.
    check(op, offsets, Integer.MAX_VALUE);
    for (int i = 0; i < offsets.count(); i++) {
      long scaled = (long) offsets.integer(i) * op.size();
      if (scaled % op.width() != 0 || scaled / op.width() > Integer.MAX_VALUE) {
        throw new IllegalArgumentException(
            "reshape: got %d numbers up to sequence %d, expected rows of %d; choose a divisor"
                .formatted(scaled, i, op.width()));
      }
      set(out, i, (int) (scaled / op.width()));
    }
  }
}
