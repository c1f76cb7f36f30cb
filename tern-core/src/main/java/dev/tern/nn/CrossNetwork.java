package dev.tern.nn;

import dev.tern.base.Shape;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BinaryOperator;
import java.util.function.Function;

/**
 * Explicit feature crosses: from the input {@code x} and the layer before it, {@code c}, each layer
 * makes
 *
 * <ul>
 *   <li>with a vector, {@code x * (c w) + b + c} (Wang et al. 2017, DCN, equation 3);
 *   <li>with a matrix, {@code x * (c W + b) + c} (Wang et al. 2021, DCN-V2, equation 1);
 *   <li>with a matrix of low rank, {@code x * (c V U + b) + c} (DCN-V2, equation 2);
 *   <li>with a mixture of such experts, {@code x * (sum_i G_i(c) tanh(tanh(c V_i) C_i) U_i + b) +
 *       c} with the gates {@code G = softmax(c gate)} (DCN-V2, equations 3 and 4).
 * </ul>
 */
public final class CrossNetwork {
  /**
   * Experts of a {@link #mixture}.
   *
   * @param count 1 or more
   * @param rank of the matrices of each expert, 1 or more
   */
  public record Experts(int count, int rank) {}

  /**
   * Each makes its output of the input, {@code x}, and the output of the layer before, {@code c}.
   */
  private final List<BinaryOperator<Tensor>> layers = new ArrayList<>();

  private CrossNetwork(String name, int count, Function<String, BinaryOperator<Tensor>> make) {
    for (int i = 0; i < count; i++) {
      layers.add(make.apply(name + "." + i));
    }
  }

  private static float range(int inputs) {
    return (float) (1 / Math.sqrt(Math.max(1, inputs)));
  }

  private static Variable bias(Parameters parameters, String layer, int width) {
    return parameters.uniform(layer + ".bias", Shape.of(width), range(width));
  }

  /** DCN: one weight vector a layer. */
  public static CrossNetwork vectors(Parameters parameters, String name, int width, int layers) {
    return new CrossNetwork(
        name,
        layers,
        layer -> {
          Variable w = parameters.uniform(layer + ".weight", Shape.of(width, 1), range(width));
          Variable b = bias(parameters, layer, width);
          return (x, c) -> x.mul(c.matmul(w.tensor())).add(b.tensor()).add(c);
        });
  }

  /** DCN-V2: one full matrix a layer. */
  public static CrossNetwork matrices(Parameters parameters, String name, int width, int layers) {
    return new CrossNetwork(
        name,
        layers,
        layer -> {
          Variable w = parameters.uniform(layer + ".weight", Shape.of(width, width), range(width));
          Variable b = bias(parameters, layer, width);
          return (x, c) -> x.mul(c.matmul(w.tensor()).add(b.tensor())).add(c);
        });
  }

  /**
   * DCN-V2 with matrices of low rank.
   *
   * @param rank 1 or more; it pays below half the width
   */
  public static CrossNetwork lowRank(
      Parameters parameters, String name, int width, int layers, int rank) {
    requirePositive("rank", rank);
    return new CrossNetwork(
        name,
        layers,
        layer -> {
          Variable v = parameters.uniform(layer + ".v", Shape.of(width, rank), range(width));
          Variable u = parameters.uniform(layer + ".u", Shape.of(rank, width), range(rank));
          Variable b = bias(parameters, layer, width);
          return (x, c) -> x.mul(c.matmul(v.tensor()).matmul(u.tensor()).add(b.tensor())).add(c);
        });
  }

  /** DCN-V2 with a mixture of low-rank experts in each layer. */
  public static CrossNetwork mixture(
      Parameters parameters, String name, int width, int layers, Experts mixed) {
    int rank = mixed.rank();
    int experts = mixed.count();
    requirePositive("rank", rank);
    requirePositive("experts", experts);
    int joined = experts * rank;
    return new CrossNetwork(
        name,
        layers,
        layer -> {
          // V, U and the gates of all experts side by side: one product for all.
          Variable v = parameters.uniform(layer + ".v", Shape.of(width, joined), range(width));
          Shape square = Shape.of(experts, rank, rank);
          Variable core = parameters.uniform(layer + ".core", square, range(rank));
          Variable u = parameters.uniform(layer + ".u", Shape.of(joined, width), range(rank));
          Variable gate =
              parameters.uniform(layer + ".gate", Shape.of(width, experts), range(width));
          Variable b = bias(parameters, layer, width);
          return (x, c) -> {
            int batch = c.shape().size(0);
            Tensor narrow =
                c.matmul(v.tensor()).tanh().reshape(batch, experts, rank).transpose(0, 1);
            Tensor turned = narrow.matmul(core.tensor()).tanh().transpose(0, 1);
            Tensor gates = c.matmul(gate.tensor()).softmax(1).reshape(batch, experts, 1);
            // Gates before U: a product of all experts at once, and x and b outside the sum, as
            // gates add up to 1.
            Tensor gated = turned.mul(gates).reshape(batch, joined);
            return x.mul(gated.matmul(u.tensor()).add(b.tensor())).add(c);
          };
        });
  }

  private static void requirePositive(String name, int got) {
    if (got < 1) {
      throw new IllegalArgumentException(
          "cross network: got %s %s, expected 1 or more".formatted(name, got));
    }
  }

  /** {@code [B, width]} to {@code [B, width]}. */
  public Tensor apply(Tensor x) {
    Tensor cross = x;
    for (BinaryOperator<Tensor> layer : layers) {
      cross = layer.apply(x, cross);
    }
    return cross;
  }
}
