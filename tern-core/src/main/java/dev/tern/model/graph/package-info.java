/**
 * A model as a list of layers with names, {@link dev.tern.model.graph.Graph}: what a configuration
 * or another tool describes, without a class of its own.
 *
 * <p>Letters: {@code B} rows, {@code S} slots, {@code D} width of an embedding vector.
 */
@NullMarked
package dev.tern.model.graph;

import org.jspecify.annotations.NullMarked;
