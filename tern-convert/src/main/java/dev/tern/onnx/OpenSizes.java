package dev.tern.onnx;

import java.util.ArrayList;
import java.util.List;

/** Computes sizes in a graph: shapes of values that depend on how many rows a call has. */
final class OpenSizes {
  private final Graph graph;

  /** The numbers of rows, then of elements of each sequence; INT64 {@code [1]} each. */
  private final List<String> symbols;

  OpenSizes(Graph graph, List<String> symbols) {
    this.graph = graph;
    this.symbols = List.copyOf(symbols);
  }

  /** A size as INT64 {@code [1]}. */
  String vector(Size size) {
    if (size.isFixed()) {
      return graph.integers(size.constant());
    }
    String sum = "";
    for (int s = 0; s < size.factors().length; s++) {
      long factor = size.factors()[s];
      if (factor != 0) {
        String term = symbols.get(s);
        term = factor == 1 ? term : graph.node("Mul", term, graph.integers(factor));
        sum = sum.isEmpty() ? term : graph.node("Add", sum, term);
      }
    }
    return size.constant() == 0 ? sum : graph.node("Add", sum, graph.integers(size.constant()));
  }

  /** A size as an INT64 scalar. */
  String scalar(Size size) {
    return size.isFixed()
        ? graph.integer(size.constant())
        : graph.node("Squeeze", vector(size), graph.integers(0));
  }

  /** Sizes as INT64 {@code [rank]}. */
  String shape(List<Size> sizes) {
    if (sizes.stream().allMatch(Size::isFixed)) {
      return graph.integers(sizes.stream().mapToLong(Size::constant).toArray());
    }
    return graph.concat(0, sizes.stream().map(this::vector).toList());
  }

  /** What Reshape takes: -1 for the one size that is open, if it is one. */
  String reshape(List<Size> sizes) {
    List<Size> open = sizes.stream().filter(size -> !size.isFixed()).toList();
    if (open.size() != 1 || sizes.stream().anyMatch(Size::isZero)) {
      return shape(sizes);
    }
    return graph.integers(
        sizes.stream().mapToLong(size -> size.isFixed() ? size.constant() : -1).toArray());
  }

  /** What Expand takes to make {@code from} {@code to}: 1 for what stays as it is. */
  String expand(List<Size> from, List<Size> to) {
    List<Size> changed = new ArrayList<>();
    for (int axis = 0; axis < to.size(); axis++) {
      boolean stays = !to.get(axis).isFixed() && from.get(axis).equals(to.get(axis));
      changed.add(stays ? Size.fixed(1) : to.get(axis));
    }
    return shape(changed);
  }

  /** The integers from 0 to before a size, INT64 {@code [size]}. */
  String range(Size size) {
    return graph.node("Range", graph.integer(0), scalar(size), graph.integer(1));
  }
}
