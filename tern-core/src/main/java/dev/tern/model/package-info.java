/**
 * Models by name, and on a device. {@link dev.tern.model.ModelConfig} names one of Tern's models
 * and its sizes; {@link dev.tern.nn.Model} is what it makes. {@link dev.tern.model.Network} is a
 * model on a device with its parameters and embedding tables; {@link dev.tern.model.Scorer}
 * computes its logits. Training and prediction build on them.
 *
 * <p>Letters: {@code B} rows, {@code F} dense features, {@code S} slots, {@code W} floats of an
 * embedding row, {@code D} width of an embedding vector.
 */
@NullMarked
package dev.tern.model;

import org.jspecify.annotations.NullMarked;
