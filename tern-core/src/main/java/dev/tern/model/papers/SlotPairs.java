package dev.tern.model.papers;

import dev.tern.base.Shape;
import dev.tern.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;

/**
 * All {@code P = S (S - 1) / 2} pairs of slots, the earlier one on the left: (0, 1), (0, 2), ...,
 * (1, 2), ...
 */
final class SlotPairs {
  private SlotPairs() {}

  static int count(int slots) {
    return slots * (slots - 1) / 2;
  }

  /** The vector of the left slot of each pair: {@code [B, S, D]} to {@code [B, P, D]}. */
  static Tensor lefts(Tensor vectors) {
    Shape shape = vectors.shape();
    List<Tensor> parts = new ArrayList<>();
    for (int i = 0; i + 1 < shape.size(1); i++) {
      Shape repeated = Shape.of(shape.size(0), shape.size(1) - i - 1, shape.size(2));
      parts.add(vectors.slice(1, i, i + 1).broadcast(repeated));
    }
    return Tensor.concat(1, parts);
  }

  /** The vector of the right slot of each pair, in the same shape. */
  static Tensor rights(Tensor vectors) {
    int slots = vectors.shape().size(1);
    List<Tensor> parts = new ArrayList<>();
    for (int i = 0; i + 1 < slots; i++) {
      parts.add(vectors.slice(1, i + 1, slots));
    }
    return Tensor.concat(1, parts);
  }

  /**
   * Each left vector times each right one, element by element: {@code [B, P, D]}. For example, the
   * slots (1, 2), (3, 4) and (5, 6) have the products (3, 8), (5, 12) and (15, 24).
   */
  static Tensor products(Tensor left, Tensor right) {
    int slots = left.shape().size(1);
    List<Tensor> parts = new ArrayList<>();
    for (int i = 0; i + 1 < slots; i++) {
      parts.add(left.slice(1, i, i + 1).mul(right.slice(1, i + 1, slots)));
    }
    return Tensor.concat(1, parts);
  }
}
