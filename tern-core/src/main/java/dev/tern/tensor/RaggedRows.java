package dev.tern.tensor;

import dev.tern.base.Shape;
import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Nodes;
import dev.tern.internal.ir.Op.Index.Rule;
import dev.tern.internal.ir.Sequences;
import java.util.List;

/** Moves, picks and drops rows within their sequences of the last level. */
final class RaggedRows {
  private RaggedRows() {}

  static Tensor index(Ragged x, Rule rule) {
    return new Tensor(Sequences.rows(rule, x.lastNode(), x.rows()));
  }

  static Ragged reverse(Ragged x) {
    return x.moved(index(x, Rule.MIRROR), x.offsets(-1));
  }

  static Ragged slice(Ragged x, Tensor from, Tensor length) {
    Node starts = Sequences.starts(x.lastNode(), x.rows(), from.node(), length.node());
    Tensor parts = new Tensor(Sequences.offsets(length.node()));
    return x.moved(new Tensor(Sequences.ranges(starts, parts.node(), x.rows())), parts);
  }

  static Ragged keep(Ragged x, Tensor marks) {
    requireOneEach("keep", x, marks);
    Tensor lengths = new Tensor(Sequences.keptLengths(marks.node(), x.lastNode()));
    Tensor kept = new Tensor(Sequences.kept(marks.node(), x.lastNode()));
    return x.moved(kept, new Tensor(Sequences.offsets(lengths.node())));
  }

  static Ragged erase(Ragged x, Tensor of, long... ids) {
    requireOneEach("erase", x, of);
    Tensor others = Tensor.ofLongs(Shape.of(ids.length), ids);
    return keep(x, new Tensor(Sequences.notAmong(of.node(), others.node())));
  }

  /** A row behind the last stands for the end of a sequence. */
  static Ragged enumerate(Ragged x, int width, float pad) {
    Tensor end = Tensor.full(x.values().shape().withSize(0, 1), pad);
    Tensor ended = Tensor.concat(0, List.of(x.values(), end.cast(x.values().type())));
    return x.with(ended.gather(new Tensor(Sequences.windows(x.lastNode(), x.rows(), width))));
  }

  static Ragged reshape(Ragged x, int width) {
    Shape shape = x.values().shape();
    if (shape.rank() != 2 || width < 1 || x.weights().isPresent()) {
      throw new IllegalArgumentException(
          "reshape: got values %s to rows of %d%s, expected [n, w] without weights"
              .formatted(shape, width, x.weights().isPresent() ? " with weights" : ""));
    }
    if (shape.elements() % width != 0) {
      throw new IllegalArgumentException(
          "reshape: got room for %d rows of %d, expected a multiple of %d numbers; give other room"
              .formatted(x.rows(), shape.size(1), width));
    }
    Tensor scaled = new Tensor(Sequences.scale(x.lastNode(), shape.size(1), width));
    int rows = shape.elements() / width;
    return Ragged.of(x.values().reshape(rows, width), x.withLast(scaled), x.weights());
  }

  static Tensor scatter(Ragged x, Tensor dense, Tensor columns) {
    requireOneEach("scatter", x, columns);
    if (dense.shape().rank() != 2 || dense.shape().size(0) != x.sequences()) {
      throw new IllegalArgumentException(
          "scatter: got %s, expected [%d, columns]".formatted(dense.shape(), x.sequences()));
    }
    Node cells = Sequences.cells(columns.node(), x.lastNode(), dense.shape().size(1));
    Node added = Nodes.scatterAdd(cells, x.values().node(), dense.shape().elements(), true);
    return dense.add(new Tensor(Nodes.reshape(added, dense.shape())));
  }

  private static void requireOneEach(String op, Ragged x, Tensor given) {
    if (!given.shape().equals(Shape.of(x.rows()))) {
      throw new IllegalArgumentException(
          "%s: got %s, expected one element for each of %d rows".formatted(op, given, x.rows()));
    }
  }
}
