package dev.tern.model;

import dev.tern.nn.Features;
import dev.tern.nn.Model;
import dev.tern.tensor.Tensor;
import java.util.List;
import java.util.Optional;

/**
 * A model of pairs whose logit is the product of two vectors, one of which depends on the item
 * alone. The items for a user can then be searched without the model: they are those with the
 * largest products.
 */
public interface RetrievalModel extends Model {
  /** The columns of the item; the first is the {@link #itemSlot}. */
  List<String> itemColumns();

  @Override
  default Optional<String> itemSlot() {
    return Optional.of(itemColumns().getFirst());
  }

  @Override
  default boolean hasOwnLoss() {
    return true;
  }

  /** Numbers of a vector, {@code D}. */
  int vectorWidth();

  /**
   * Items that training draws for each batch, from those that it has met. Their rows stand behind
   * the {@code B} rows of the batch in {@link Features}, with empty columns of users; {@link
   * #logits} gives those of the {@code B} rows. None by default.
   */
  default Matching.Sampled sampled() {
    return Matching.Sampled.NONE;
  }

  /** The vector of each row's user, {@code [B, D]}; it depends on no column of the item. */
  Tensor users(Features x);

  /** The vector of each row's item, {@code [B, D]}; it depends on columns of the item alone. */
  Tensor items(Features x);
}
