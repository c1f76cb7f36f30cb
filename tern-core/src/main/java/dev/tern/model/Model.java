package dev.tern.model;

import dev.tern.data.Schema;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;
import java.util.List;

/**
 * A model as tensor expressions, from a batch's features to one logit for each row.
 *
 * <p>{@link #logits} is called once for each batch size. It records the expressions that training
 * and scoring run with the values of every batch, so it must not depend on values. Gradients follow
 * from the expressions. Two things are not part of a model: {@link Network} holds the embedding
 * tables, and training adds the loss, the mean binary cross entropy of the logits.
 */
public interface Model {
  /** Floats of one embedding row, {@code W}: every slot has a table of this width. */
  int embeddingWidth();

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

  /** The logit of each row, {@code [B]}. */
  Tensor logits(Features x);

  /** Makes models. */
  @FunctionalInterface
  interface Factory {
    /** Makes a model for rows of {@code schema}; its parameters come from {@code parameters}. */
    Model create(Schema schema, Parameters parameters);
  }
}
