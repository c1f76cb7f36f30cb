/**
 * Models: {@link dev.tern.model.Model} is what a model is, {@link dev.tern.model.ModelConfig} names
 * one and its sizes, one file for each paper, and {@link dev.tern.model.Network} is a model with
 * the tables that it looks up.
 *
 * <p>Letters: {@code B} rows, {@code F} dense features, {@code S} slots, {@code W} floats of an
 * embedding row, {@code D} width of an embedding vector.
 */
@NullMarked
package dev.tern.model;

import org.jspecify.annotations.NullMarked;
