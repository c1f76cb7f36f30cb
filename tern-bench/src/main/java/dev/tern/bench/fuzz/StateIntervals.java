package dev.tern.bench.fuzz;

import dev.tern.bench.fuzz.Intervals.Range;
import dev.tern.bench.fuzz.Intervals.Sums;
import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Op;
import java.util.Arrays;
import java.util.function.Function;

/**
 * {@link Intervals} of recurrent units, row by row: sums of products may be taken in any order, and
 * all else is elementwise.
 */
final class StateIntervals {
  private StateIntervals() {}

  /** What states may be. */
  static Range states(Node node, Function<Node, Range> known) {
    Range gates = known.apply(node.input(0));
    Range factors = known.apply(node.input(1));
    Range recurrent = known.apply(node.input(2));
    double[] offsets = known.apply(node.input(3)).low();
    int width = node.shape().size(1);
    Range states = Range.zeros(node.shape().elements());
    for (int s = 0; s + 1 < offsets.length; s++) {
      Range before = Range.zeros(width);
      for (int row = (int) offsets[s]; row < (int) offsets[s + 1]; row++) {
        Sums sums = new Sums(3 * width);
        for (int k = 0; k < width && row > (int) offsets[s]; k++) {
          for (int j = 0; j < 3 * width; j++) {
            sums.addProduct(j, before, k, recurrent, 3 * width * k + j);
          }
        }
        Range factor = repeated(factors, row, width);
        before = state(part(gates, row, 3 * width), sums.range(true), factor, before);
        put(before, states, row);
      }
    }
    return states;
  }

  private static Range state(Range x, Range product, Range factor, Range before) {
    int width = before.low().length;
    Range update = unary(Op.Unary.SIGMOID, add(part(x, 0, width), part(product, 0, width)));
    Range reset = unary(Op.Unary.SIGMOID, add(part(x, 1, width), part(product, 1, width)));
    Range rest = multiply(reset, part(product, 2, width));
    Range candidate = unary(Op.Unary.TANH, add(part(x, 2, width), rest));
    Range share = multiply(factor, update);
    double[] ones = new double[width];
    Arrays.fill(ones, 1);
    Range kept = Intervals.binary(Op.Binary.SUB, Range.exact(ones), share);
    return add(multiply(kept, before), multiply(share, candidate));
  }

  /** What gradients of states may be. */
  static Range gradients(Node node, Function<Node, Range> known) {
    Range given = known.apply(node.input(0));
    Range kept = known.apply(node.input(1));
    Range slopes = known.apply(node.input(2));
    Range transposed = known.apply(node.input(3));
    double[] offsets = known.apply(node.input(4)).low();
    int width = node.shape().size(1);
    Range result = Range.zeros(node.shape().elements());
    for (int s = 0; s + 1 < offsets.length; s++) {
      Range next = Range.zeros(width);
      for (int row = (int) offsets[s + 1] - 1; row >= (int) offsets[s]; row--) {
        Range own = part(given, row, width);
        if (row + 1 < (int) offsets[s + 1]) {
          Range later = add(own, multiply(part(kept, row + 1, width), next));
          own = add(later, product(part(slopes, row + 1, 3 * width), next, transposed));
        }
        next = own;
        put(own, result, row);
      }
    }
    return result;
  }

  private static Range product(Range slopes, Range next, Range transposed) {
    int width = next.low().length;
    Sums sums = new Sums(width);
    for (int part = 0; part < 3; part++) {
      Range factors = multiply(part(slopes, part, width), next);
      for (int k = 0; k < width; k++) {
        for (int i = 0; i < width; i++) {
          sums.addProduct(i, factors, k, transposed, (part * width + k) * width + i);
        }
      }
    }
    return sums.range(true);
  }

  private static Range unary(Op.Unary op, Range x) {
    return Intervals.unary(op, x);
  }

  private static Range add(Range a, Range b) {
    return Intervals.binary(Op.Binary.ADD, a, b);
  }

  private static Range multiply(Range a, Range b) {
    return Intervals.binary(Op.Binary.MUL, a, b);
  }

  /** Part {@code number} of {@code count} elements each. */
  private static Range part(Range x, int number, int count) {
    int from = number * count;
    return new Range(
        Arrays.copyOfRange(x.low(), from, from + count),
        Arrays.copyOfRange(x.high(), from, from + count));
  }

  private static Range repeated(Range x, int at, int count) {
    Range result = Range.zeros(count);
    Arrays.fill(result.low(), x.low()[at]);
    Arrays.fill(result.high(), x.high()[at]);
    return result;
  }

  private static void put(Range row, Range rows, int number) {
    int count = row.low().length;
    System.arraycopy(row.low(), 0, rows.low(), number * count, count);
    System.arraycopy(row.high(), 0, rows.high(), number * count, count);
  }
}
