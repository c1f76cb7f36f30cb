package dev.tern.nn;

import dev.tern.data.Schema;
import dev.tern.tensor.Tensor;
import java.util.List;
import java.util.Optional;

/**
 * A model as tensor expressions, from a batch's features to a logit for each row and task.
 *
 * <p>{@link #logits} is called once for each batch size. It records the expressions that training
 * and scoring run with the values of every batch, so it must not depend on values. Gradients follow
 * from the expressions. Two things are not part of a model: embedding tables, which a network
 * holds, and the loss, which training adds, for each task the mean over rows. A model may add terms
 * of its own.
 */
public interface Model {
  /**
   * Floats of one embedding row, {@code W}, in tables that {@link #embeddingWidth(String)} does not
   * give another width.
   */
  int embeddingWidth();

  /**
   * Floats of one row of a table. By default all tables have rows of {@link #embeddingWidth()}.
   * Where they differ, the last of {@link #embeddingParts} takes the rest of each row, 1 float or
   * more, and {@link Features} has the vectors of all slots side by side.
   */
  default int embeddingWidth(String table) {
    return embeddingWidth();
  }

  /**
   * Widths of the parts that an embedding row is split into: 1 or more each, {@code W} in all. With
   * {@code List.of(1, 16)} {@link Features#embedded(int)} gives the first float of each row as part
   * 0 and the other 16 as part 1. Parts are faster than slices of whole rows. One part by default.
   */
  default List<Integer> embeddingParts() {
    return List.of(embeddingWidth());
  }

  /**
   * Whether {@link Features#within} has, for each row and slot, the sum of the dot products of all
   * pairs of the slot's embedding vectors: the last parts of their rows, each times its factor in
   * the pooled vector. A slot with vectors {@code a}, {@code b} and {@code c} has {@code a . b + a
   * . c + b . c}; one with a single vector has 0. False by default.
   */
  default boolean pairsWithin() {
    return false;
  }

  /**
   * Whether {@link Features#sequence} has the slots of {@link Schema#sequences} id by id, and
   * {@link Features#embedded} the other slots alone. Such a model has rows of one part and no pairs
   * within slots. By default every slot is pooled.
   */
  default boolean readsSequences() {
    return false;
  }

  /**
   * The slot that names each row's item, for a model that learns it beside the items of the other
   * rows: {@link Features#items} has what that takes. None by default.
   */
  default Optional<String> itemSlot() {
    return Optional.empty();
  }

  /**
   * Whether training minimizes what {@link #logits} adds by {@link Pass#addLoss} alone, instead of
   * that and the losses of the tasks. False by default.
   */
  default boolean hasOwnLoss() {
    return false;
  }

  /** The logit of each row, {@code [B]}; of several tasks side by side, {@code [B, K]}. */
  Tensor logits(Features x);
}
