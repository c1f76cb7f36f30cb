/**
 * Layers: small classes that own parameters and turn tensors into tensors.
 *
 * <p>Letters: {@code B} rows, {@code F} dense features, {@code S} slots, {@code D} embedding width.
 */
@NullMarked
package dev.tern.nn;

import org.jspecify.annotations.NullMarked;
