package dev.tern.nn;

import dev.tern.tensor.Tensor;

/**
 * What training knows about the item of each of {@code B} rows, for a model with an {@link
 * Model#itemSlot}, and of the {@code N} items that are drawn beside them, 0 by default.
 *
 * @param numbers {@code [B + N]}: equal for rows with the same item, and for rows without one
 * @param logRates {@code [B + N]}: the logarithm of how many rows of a batch have the item, on
 *     average, those of drawn items among them
 * @param rewards {@code [B]}: the label, times what the row counts in the loss
 */
public record BatchItems(Tensor numbers, Tensor logRates, Tensor rewards) {}
