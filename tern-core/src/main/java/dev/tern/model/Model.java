package dev.tern.model;

import dev.tern.data.Schema;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;
import java.util.List;

/**
 * A model written as tensor expressions; gradients come for free.
 *
 * <p>{@link #logits} is called once for each batch size and records what then runs in every step,
 * so it must not depend on values.
 */
public interface Model {
  /** Floats of one embedding row, {@code W}: every slot has a table of this width. */
  int embeddingWidth();

  /**
   * How a row is split over tensors: widths of 1 or more, {@code W} in all, each of which {@link
   * Features#embedded(int)} gives as a tensor of its own. A model that reads some columns apart
   * from others is faster with parts than with slices. One part if a model does not say otherwise.
   */
  default List<Integer> embeddingParts() {
    return List.of(embeddingWidth());
  }

  /** The logit of each row, {@code [B]}. */
  Tensor logits(Features x);

  /** Makes a model for data of a schema. */
  @FunctionalInterface
  interface Factory {
    /** Makes the model; its parameters come from {@code parameters}. */
    Model create(Schema schema, Parameters parameters);
  }
}
