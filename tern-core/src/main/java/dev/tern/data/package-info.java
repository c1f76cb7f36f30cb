/**
 * Batches of rows and where they come from: {@link dev.tern.data.Schema}, {@link
 * dev.tern.data.Batch}, {@link dev.tern.data.DataReader} and its decorators, and the encoders that
 * turn raw columns into features. Readers of files live in the module {@code tern-data}.
 *
 * <p>Letters: {@code B} rows of a batch, {@code L} labels, {@code F} dense numbers, {@code S}
 * slots.
 */
@NullMarked
package dev.tern.data;

import org.jspecify.annotations.NullMarked;
