package dev.tern.onnx;

import dev.tern.base.DType;
import dev.tern.base.SplitMix64;
import dev.tern.embedding.config.InitialWeights;
import dev.tern.embedding.config.TableConfig;
import dev.tern.internal.onnx.ElementType;
import java.util.List;

/**
 * The rows that new ids begin with, as operators: weights are a pure function of seed, table, id
 * and column, of which one drawn number of 64 bits gives two.
 */
final class InitialVectors {
  private static final float UNIFORM_UNIT = 0x1p-23f;
  private static final double NORMAL_UNIT = 0x1p-24;

  private final Graph graph;
  private final Hashes hashes;
  private final TableConfig config;

  InitialVectors(Graph graph, TableConfig config) {
    this.graph = graph;
    this.config = config;
    hashes = new Hashes(graph);
  }

  /** The rows of ids, INT64 {@code [n]}: FLOAT {@code [n, W]}. */
  String of(String ids) {
    int width = config.width();
    int draws = (width + 1) / 2;
    long key = SplitMix64.mix(SplitMix64.mix(config.seed()) + config.index());
    String rowKeys = hashes.mixed(graph.node("BitwiseXor", ids, graph.integer(key)));
    long[] steps = new long[draws];
    for (int draw = 0; draw < draws; draw++) {
      steps[draw] = draw * SplitMix64.GAMMA;
    }
    String keys = graph.node("Add", graph.unsqueeze(rowKeys, 1), graph.integers(steps));
    String bits = hashes.mixed(keys);
    String first = hashes.shifted(bits, 40);
    String second = hashes.shifted(hashes.lower(bits), 8);
    String pairs = graph.concat(2, List.of(graph.unsqueeze(first, 2), graph.unsqueeze(second, 2)));
    String all = graph.reshape(pairs, -1, 2L * draws);
    String weights = weights(2 * draws == width ? all : graph.slice(all, 1, 0, width));
    if (config.storage() == DType.F32) {
      return weights;
    }
    return graph.cast(
        graph.cast(weights, ElementType.ofStorage(config.storage())), ElementType.FLOAT);
  }

  /** Weights of numbers of 24 bits. */
  private String weights(String bits) {
    return switch (config.initial()) {
      case InitialWeights.Uniform(float range) -> {
        String share =
            graph.node("Mul", graph.cast(bits, ElementType.FLOAT), graph.scalar(UNIFORM_UNIT));
        String centred = graph.node("Sub", share, graph.scalar(1));
        yield graph.node("Mul", centred, graph.scalar(range));
      }
      case InitialWeights.Normal(float deviation) ->
          graph.node("Mul", graph.cast(quantile(bits), ElementType.FLOAT), graph.scalar(deviation));
      case InitialWeights.Constant(float value) ->
          graph.filled(graph.scalar(value), graph.node("Shape", bits));
    };
  }

  /** The quantile of {@code (bits + 1/2) / 2^24}, by Wichura's AS 241 (PPND7), DOUBLE. */
  private String quantile(String bits) {
    String half = graph.node("Add", graph.cast(bits, ElementType.DOUBLE), graph.real(0.5));
    String p = graph.node("Mul", half, graph.real(NORMAL_UNIT));
    String q = graph.node("Sub", p, graph.real(0.5));
    String square = graph.node("Sub", graph.real(0.180625), graph.node("Mul", q, q));
    String inner =
        graph.node(
            "Div",
            graph.node(
                "Mul",
                q,
                polynomial(square, 3.3871327179, 50.434271938, 159.29113202, 59.109374720)),
            polynomial(square, 1, 17.895169469, 78.757757664, 67.187563600));
    String isBelow = graph.node("Less", q, graph.real(0));
    String tail = graph.where(isBelow, p, graph.node("Sub", graph.real(1), p));
    String root = graph.node("Sqrt", graph.node("Neg", graph.node("Log", tail)));
    String r = graph.node("Sub", root, graph.real(1.6));
    String z =
        graph.node(
            "Div",
            polynomial(r, 1.4234372777, 2.7568153900, 1.3067284816, 0.17023821103),
            polynomial(r, 1, 0.73700164250, 0.12021132975, 0));
    String outer = graph.where(isBelow, graph.node("Neg", z), z);
    String isInner = graph.node("LessOrEqual", graph.node("Abs", q), graph.real(0.425));
    return graph.where(isInner, inner, outer);
  }

  /** {@code a + b r + c r^2 + d r^3}. */
  private String polynomial(String r, double a, double b, double c, double d) {
    String sum = graph.real(d);
    for (double next : new double[] {c, b, a}) {
      sum = graph.node("Add", graph.node("Mul", sum, r), graph.real(next));
    }
    return sum;
  }
}
