package dev.tern.model;

import dev.tern.data.Schema;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;

/**
 * A model written as tensor expressions; gradients come for free.
 *
 * <p>{@link #logits} is called once for each batch size and records what then runs in every step,
 * so it must not depend on values.
 */
public interface Model {
  /** Floats of one embedding row, {@code W}: every slot has a table of this width. */
  int embeddingWidth();

  /** The logit of each row, {@code [B]}. */
  Tensor logits(Features x);

  /** Makes a model for data of a schema. */
  @FunctionalInterface
  interface Factory {
    /** Makes the model; its parameters come from {@code parameters}. */
    Model create(Schema schema, Parameters parameters);
  }
}
