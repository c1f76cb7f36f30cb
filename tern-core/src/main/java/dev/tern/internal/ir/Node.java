package dev.tern.internal.ir;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import java.util.List;

/**
 * One value of a graph: an op applied to other nodes. Immutable, compared by identity; made by
 * {@link Nodes}, which checks shapes.
 */
public final class Node {
  private final Op op;
  private final List<Node> inputs;
  private final Shape shape;
  private final DType type;
  private final Origin origin;

  Node(Op op, List<Node> inputs, Shape shape, DType type) {
    this(op, inputs, shape, type, Origin.current());
  }

  private Node(Op op, List<Node> inputs, Shape shape, DType type, Origin origin) {
    this.op = op;
    this.inputs = List.copyOf(inputs);
    this.shape = shape;
    this.type = type;
    this.origin = origin;
  }

  public Op op() {
    return op;
  }

  public List<Node> inputs() {
    return inputs;
  }

  /** Input number {@code index}. */
  public Node input(int index) {
    return inputs.get(index);
  }

  public Shape shape() {
    return shape;
  }

  /** The same op on other inputs of the same shapes. */
  public Node withInputs(List<Node> others) {
    for (int i = 0; i < others.size(); i++) {
      if (others.get(i) != inputs.get(i)) {
        return new Node(op, others, shape, type, origin);
      }
    }
    return this;
  }

  /** The same op on the same inputs, as a value of its own. */
  public Node twin() {
    return new Node(op, inputs, shape, type, origin);
  }

  public DType type() {
    return type;
  }

  /** Where it was written, as far as that was asked for. */
  public Origin origin() {
    return origin;
  }

  @Override
  public String toString() {
    return op + " " + type + shape;
  }
}
