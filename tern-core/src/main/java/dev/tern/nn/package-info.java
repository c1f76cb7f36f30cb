/**
 * Layers: small classes that own parameters and turn tensors into tensors. Models are made of them:
 *
 * <pre>{@code
 * Linear hidden = new Linear(parameters, "hidden", 16, 8);
 * Tensor y = hidden.apply(x).relu(); // [B, 16] to [B, 8]
 * }</pre>
 *
 * <p>{@link dev.tern.nn.Model} is what a model is, from {@link dev.tern.nn.Features} to logits.
 * {@link dev.tern.nn.Parameters} makes and keeps the weights. {@link dev.tern.nn.Pass} tells a
 * layer whether it trains or scores.
 *
 * <p>Letters: {@code B} rows, {@code F} dense features, {@code S} slots, {@code D} embedding width.
 */
@NullMarked
package dev.tern.nn;

import org.jspecify.annotations.NullMarked;
