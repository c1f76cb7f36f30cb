package dev.tern.onnx;

import dev.tern.base.SplitMix64;
import dev.tern.internal.onnx.ElementType;
import java.util.List;

/** Hashes of ids and what is drawn by them, as operators on INT64: {@link SplitMix64}. */
final class Hashes {
  private static final long SPLIT = 1L << 32;

  /** Bounds are below this. */
  static final long MOST = SPLIT >> 1;

  private final Graph graph;

  Hashes(Graph graph) {
    this.graph = graph;
  }

  /** {@link SplitMix64#mix}. */
  String mixed(String values) {
    String z = graph.node("Add", values, graph.integer(SplitMix64.GAMMA));
    z = graph.node("Mul", folded(z, 30), graph.integer(0xBF58476D1CE4E5B9L));
    z = graph.node("Mul", folded(z, 27), graph.integer(0x94D049BB133111EBL));
    return folded(z, 31);
  }

  private String folded(String z, int shift) {
    return graph.node("BitwiseXor", z, shifted(z, shift));
  }

  /** {@code z >>> shift}. */
  String shifted(String z, int shift) {
    String right =
        graph.node(
            "BitShift",
            List.of(graph.cast(z, ElementType.UINT64), graph.unsigned(shift)),
            Attribute.text("direction", "RIGHT"));
    return graph.cast(right, ElementType.INT64);
  }

  /** The lower 32 bits. */
  String lower(String z) {
    return graph.node("BitwiseAnd", z, graph.integer(SPLIT - 1));
  }

  /**
   * {@link SplitMix64#bounded}: the upper 64 bits of the unsigned product of the mixed values and
   * {@code bound}, which is below {@link #MOST}, so that no part of it is negative.
   */
  String bounded(String values, long bound) {
    String mixed = mixed(values);
    String upper = graph.node("Mul", shifted(mixed, 32), graph.integer(bound));
    String carry =
        graph.node(
            "Div", graph.node("Mul", lower(mixed), graph.integer(bound)), graph.integer(SPLIT));
    return graph.node("Div", graph.node("Add", upper, carry), graph.integer(SPLIT));
  }
}
