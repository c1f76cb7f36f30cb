package dev.tern.model;

import dev.tern.tensor.Tensor;

/**
 * What training knows about the item of each of {@code B} rows, for a model with an {@link
 * Model#itemSlot}.
 *
 * @param numbers {@code [B]}: equal for rows with the same item, and for rows without one
 * @param logRates {@code [B]}: the logarithm of how many rows of a batch have the item, on average
 * @param rewards {@code [B]}: the label, times what the row counts in the loss
 */
public record BatchItems(Tensor numbers, Tensor logRates, Tensor rewards) {}
