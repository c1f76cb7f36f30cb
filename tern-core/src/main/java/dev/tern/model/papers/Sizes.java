package dev.tern.model.papers;

import dev.tern.nn.Form;
import dev.tern.nn.Mlp;
import java.util.List;

/**
 * What models are made of. Each takes what its paper has and leaves the rest.
 *
 * @param widths of embedding vectors
 * @param hidden widths of the hidden layers
 * @param bottom widths of the hidden layers over the dense numbers
 * @param style what hidden layers have beside their linear part
 * @param cross how features meet
 * @param attention widths of the layers of the attention
 * @param heads of attention
 * @param pairsWithin whether a factorization machine pairs the features of one slot too
 * @param tasks what models of several tasks have for each
 * @param form which of the forms of its paper
 * @param second widths of the hidden layers of a second stack
 * @param units width of an attention, of a head or of a block
 * @param vectors that a layer makes
 * @param reduction slots for each unit of a squeeze
 * @param levels of experts
 * @param auxiliary factor of a loss beside that of labels
 */
public record Sizes(
    SlotWidths widths,
    List<Integer> hidden,
    List<Integer> bottom,
    Mlp.Style style,
    Cross cross,
    List<Integer> attention,
    int heads,
    boolean pairsWithin,
    Tasks tasks,
    Form form,
    List<Integer> second,
    int units,
    int vectors,
    int reduction,
    int levels,
    float auxiliary) {
  /**
   * Cross layers.
   *
   * @param layers how many
   * @param rank of their matrices; 0 for full ones
   * @param experts of this rank in each layer; 0 for one matrix without gates
   */
  public record Cross(int layers, int rank, int experts) {}

  /**
   * The parts of several tasks.
   *
   * @param count of tasks, 1 or more
   * @param towers widths of the hidden layers of each
   * @param experts that they share
   * @param gates widths of the hidden layers of each gate
   */
  public record Tasks(int count, List<Integer> towers, int experts, List<Integer> gates) {}

  /** Width of the vectors of slots without a width of their own, {@code D}. */
  public int embedding() {
    return widths.all();
  }
}
