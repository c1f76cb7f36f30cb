/**
 * Scoring: {@link dev.tern.predict.Predictor} from a checkpoint, {@link dev.tern.model.Scorer}
 * inside.
 */
@NullMarked
package dev.tern.predict;

import org.jspecify.annotations.NullMarked;
