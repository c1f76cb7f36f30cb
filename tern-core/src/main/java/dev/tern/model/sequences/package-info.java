/**
 * Models that read sequences, one file a paper: what a user did before, element by element, beside
 * a candidate. Each is a {@link dev.tern.nn.Model} made of {@link dev.tern.model.papers.Sizes}.
 *
 * <p>Letters: {@code B} rows, {@code n} elements of all rows, {@code S} pooled slots.
 */
@NullMarked
package dev.tern.model.sequences;

import org.jspecify.annotations.NullMarked;
