/**
 * Scoring in a user's process: {@link dev.tern.predict.Predictor} opens a checkpoint and scores
 * rows, one or many at a time, from any thread.
 */
@NullMarked
package dev.tern.predict;

import org.jspecify.annotations.NullMarked;
