package dev.tern.onnx.layers;

import dev.tern.internal.onnx.SavedTensor;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/**
 * A value of another tool's model, as far as it is known before any row comes. Sizes are those of
 * one row: the first dimension, which counts rows, is left out.
 */
sealed interface Operand {
  /** Stands for the number of rows among {@link Ints}. */
  long ROWS = Long.MIN_VALUE;

  /**
   * Columns of data as they come.
   *
   * @param ids whether they are whole numbers
   */
  record Columns(List<Column> columns, List<Long> dims, boolean ids) implements Operand {
    public Columns {
      columns = List.copyOf(columns);
      dims = List.copyOf(dims);
    }
  }

  /**
   * A column of data.
   *
   * @param shift what is added to each of its ids
   * @param end where in a table the next column's ids begin, if one table has those of both
   */
  record Column(int number, long shift, long end) {
    /** Ends nowhere. */
    static final long OPEN = Long.MAX_VALUE;

    static Column of(int number) {
      return new Column(number, 0, OPEN);
    }

    /** The column with {@code more} added to its ids, whose place ends before one of others. */
    Column plus(long more, TreeSet<Long> places) {
      long begin = Math.addExact(shift, more);
      Long next = places.higher(begin);
      long own = end == OPEN ? OPEN : Math.addExact(end, more);
      return new Column(number, begin, next == null ? own : Math.min(own, next));
    }
  }

  /**
   * What a layer, or an input of the graph, makes of a row.
   *
   * @param shape sizes that the tensor has in Tern's graph
   * @param dims sizes that it has in the model: of as many numbers, in the same order
   */
  record Made(String tensor, List<Long> shape, List<Long> dims) implements Operand {
    public Made {
      shape = List.copyOf(shape);
      dims = List.copyOf(dims);
    }

    /** The same numbers in other sizes. */
    Made as(List<Long> other) {
      return new Made(tensor, shape, other);
    }

    /** Numbers of a row. */
    long width() {
      return count(shape);
    }
  }

  /** A value whose last dimension counts rows, until it is turned back. */
  record Turned(Made value) implements Operand {}

  /**
   * Weights and other constants.
   *
   * @param tensor empty for a single number
   */
  record Fixed(List<Long> dims, Optional<SavedTensor> tensor, float number) implements Operand {
    public Fixed {
      dims = List.copyOf(dims);
    }

    static Fixed of(SavedTensor tensor) {
      return new Fixed(tensor.dims(), Optional.of(tensor), 0);
    }

    static Fixed of(float number) {
      return new Fixed(List.of(), Optional.empty(), number);
    }
  }

  /**
   * Whole numbers that say sizes and places.
   *
   * @param dims none for a single number, else all sizes
   */
  record Ints(List<Long> values, List<Long> dims) implements Operand {
    public Ints {
      values = List.copyOf(values);
      dims = List.copyOf(dims);
    }

    static Ints of(List<Long> values) {
      return new Ints(values, List.of((long) values.size()));
    }
  }

  /**
   * The product of sizes.
   *
   * @throws ArithmeticException if it is more than a long holds
   */
  static long count(List<Long> dims) {
    long count = 1;
    for (long dim : dims) {
      count = Math.multiplyExact(count, dim);
    }
    return count;
  }
}
