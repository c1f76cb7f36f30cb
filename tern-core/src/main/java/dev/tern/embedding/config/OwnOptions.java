package dev.tern.embedding.config;

import dev.tern.base.DType;
import dev.tern.optim.Optimizer;
import java.util.Objects;
import java.util.Optional;

/**
 * What one table has otherwise than the other tables of its model:
 *
 * <pre>{@code
 * OwnOptions.NONE.optimizer(Optimizer.adagrad(0.05f)).storage(DType.BF16)
 * }</pre>
 *
 * @param optimizer updates its rows. A schedule scales its learning rate as it scales the one of
 *     {@link TableOptions#optimizer()}. A {@link TableOptions#firstPart} stays as it is
 * @param storage type of weights
 * @param l2 share of weights that is added to gradients, 0 or more
 * @param initial weights of new rows
 */
public record OwnOptions(
    Optional<Optimizer> optimizer,
    Optional<DType> storage,
    Optional<Float> l2,
    Optional<InitialWeights> initial) {
  /** Nothing of its own. */
  public static final OwnOptions NONE =
      new OwnOptions(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());

  public OwnOptions {
    Objects.requireNonNull(optimizer, "optimizer");
    Objects.requireNonNull(storage, "storage");
    Objects.requireNonNull(l2, "l2");
    Objects.requireNonNull(initial, "initial");
  }

  /** The same with an optimizer of its own. */
  public OwnOptions optimizer(Optimizer own) {
    return new OwnOptions(Optional.of(own), storage, l2, initial);
  }

  /** The same with weights stored in a type of its own. */
  public OwnOptions storage(DType own) {
    return new OwnOptions(optimizer, Optional.of(own), l2, initial);
  }

  /** The same with an L2 share of its own. */
  public OwnOptions l2(float own) {
    return new OwnOptions(optimizer, storage, Optional.of(own), initial);
  }

  /** The same with initial weights of its own. */
  public OwnOptions initial(InitialWeights own) {
    return new OwnOptions(optimizer, storage, l2, Optional.of(own));
  }
}
