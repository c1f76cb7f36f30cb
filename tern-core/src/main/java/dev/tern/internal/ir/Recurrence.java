package dev.tern.internal.ir;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import dev.tern.internal.ir.Op.Index.Rule;
import java.util.List;

/**
 * A gated recurrent unit over runs of rows. From the state {@code p} before a row, zeros at first,
 * and what the row gives to the gates, {@code [xu; xr; xc]}, comes the state {@code h} after it:
 *
 * <pre>
 * [su; sr; sc] = p U
 * u = a sigmoid(xu + su),   r = sigmoid(xr + sr),   c = tanh(xc + r * sc)
 * h = (1 - u) * p + u * c
 * </pre>
 *
 * <p>Cho et al. 2014 (arXiv:1406.1078), with the reset behind the product. The factor {@code a} is
 * 1 in a GRU, and what an attention gives to the row in an AUGRU (Zhou et al. 2019,
 * arXiv:1809.03672, equation 15).
 *
 * <p>The way back is linear. With the gradient {@code g} that a state gets from all but the next
 * state, the gradient {@code d} that it gets in all is
 *
 * <pre>
 * d = g + k d' + (w * [d'; d'; d']) U^T
 * </pre>
 *
 * <p>where {@code d'} is that of the next state, {@code k} is the next {@code 1 - u} and {@code w}
 * has the slopes of the next state by {@code su}, {@code sr} and {@code sc}. All other gradients
 * follow from {@code d} row by row, or as one product of all rows.
 */
public final class Recurrence {
  private Recurrence() {}

  /**
   * The states, {@code [n, h]}; zeros for rows from the last offset on.
   *
   * @param gates what rows give, {@code [n, 3 h]}
   * @param factors {@code a}, {@code [n]}
   * @param recurrent {@code U}, {@code [h, 3 h]}
   * @param offsets I32 {@code [s + 1]}
   */
  public static Node states(Node gates, Node factors, Node recurrent, Node offsets) {
    boolean hasUnits = recurrent.shape().rank() == 2 && recurrent.shape().size(0) > 0;
    int width = hasUnits ? recurrent.shape().size(0) : 1;
    int rows = factors.shape().rank() == 1 ? factors.shape().size(0) : 0;
    require(recurrent, "recurrent weights", Shape.of(width, 3 * width));
    require(factors, "factors", Shape.of(rows));
    require(gates, "gates", Shape.of(rows, 3 * width));
    Sequences.requireOffsets("gru", offsets);
    List<Node> inputs = List.of(gates, factors, recurrent, offsets);
    return new Node(new Op.Gru(), inputs, Shape.of(rows, width), DType.F32);
  }

  private static void require(Node got, String what, Shape shape) {
    if (got.type() != DType.F32 || !got.shape().equals(shape)) {
      throw new IllegalArgumentException(
          "gru: got %s %s%s, expected F32%s; gates have three columns for each of the recurrent weights' rows"
              .formatted(what, got.type(), got.shape(), shape));
    }
  }

  /** The gradients of gates, factors and recurrent weights from {@code g}, that of the states. */
  static List<Node> gradients(Node states, Node g) {
    int rows = states.shape().size(0);
    Node recurrent = states.input(2);
    Node offsets = states.input(3);
    Node zero = Nodes.constant(0);
    Node one = Nodes.constant(1);
    Node index = Nodes.cast(Sequences.rows(Rule.POSITIONS, offsets, rows), DType.F32);
    Node place = Nodes.reshape(index, Shape.of(rows, 1));
    // What lies in rows of no run may be no number, which 0 times it is neither.
    Node isRow = Nodes.binary(Op.Binary.LE, zero, place);
    Node gates = Nodes.select(isRow, states.input(0), zero);
    Node factors = Nodes.select(isRow, Nodes.reshape(states.input(1), place.shape()), zero);
    Node before = Nodes.select(Nodes.binary(Op.Binary.LT, zero, place), rowsAbove(states), zero);
    Node product = Nodes.matmul(before, recurrent);
    Node open = sigmoid(Nodes.add(part(gates, 0), part(product, 0)));
    Node reset = sigmoid(Nodes.add(part(gates, 1), part(product, 1)));
    Node found = part(product, 2);
    Node sum = Nodes.add(part(gates, 2), Nodes.mul(reset, found));
    Node candidate = Nodes.unary(Op.Unary.TANH, sum);
    Node update = Nodes.mul(factors, open);
    Node change = Nodes.sub(candidate, before);
    Node byCandidate = Nodes.mul(update, Nodes.sub(one, Nodes.unary(Op.Unary.SQUARE, candidate)));
    Node byReset = Nodes.mul(Nodes.mul(byCandidate, found), slope(reset));
    Node byUpdate = Nodes.mul(Nodes.mul(factors, change), slope(open));
    Node slopes = Nodes.concat(1, List.of(byUpdate, byReset, Nodes.mul(byCandidate, reset)));
    List<Node> inputs =
        List.of(g, Nodes.sub(one, update), slopes, Nodes.transpose(recurrent, 0, 1), offsets);
    Node d = new Node(new Op.GruGradient(), inputs, states.shape(), DType.F32);
    Node ofUpdate = Nodes.mul(byUpdate, d);
    Node ofReset = Nodes.mul(byReset, d);
    Node ofCandidate = Nodes.mul(byCandidate, d);
    Node ofProduct = Nodes.concat(1, List.of(ofUpdate, ofReset, Nodes.mul(ofCandidate, reset)));
    Node ofFactors = Nodes.reduce(Op.Reduce.Kind.SUM, Nodes.mul(d, Nodes.mul(change, open)), 1, 2);
    return List.of(
        Nodes.concat(1, List.of(ofUpdate, ofReset, ofCandidate)),
        Nodes.reshape(ofFactors, states.input(1).shape()),
        Nodes.matmul(Nodes.transpose(before, 0, 1), ofProduct));
  }

  /** For each row the one above it, zeros for the first. */
  private static Node rowsAbove(Node x) {
    int rows = x.shape().size(0);
    return rows == 0
        ? x
        : Nodes.concat(
            0, List.of(Nodes.full(x.shape().withSize(0, 1), 0), Nodes.slice(x, 0, 0, rows - 1)));
  }

  /** One of three parts of the columns. */
  private static Node part(Node x, int number) {
    int width = x.shape().size(1) / 3;
    return Nodes.slice(x, 1, number * width, (number + 1) * width);
  }

  private static Node sigmoid(Node x) {
    return Nodes.unary(Op.Unary.SIGMOID, x);
  }

  /** The slope of a sigmoid by its result. */
  private static Node slope(Node y) {
    return Nodes.mul(y, Nodes.sub(Nodes.constant(1), y));
  }
}
