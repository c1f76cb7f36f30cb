/**
 * Tern's models, one file a paper: each is a {@link dev.tern.nn.Model} made of {@link
 * dev.tern.model.papers.Sizes}. The list of all is {@code ModelConfig.Type}, above.
 *
 * <p>Letters: {@code B} rows, {@code F} dense features, {@code S} slots, {@code W} floats of an
 * embedding row, {@code D} width of an embedding vector.
 */
@NullMarked
package dev.tern.model.papers;

import org.jspecify.annotations.NullMarked;
