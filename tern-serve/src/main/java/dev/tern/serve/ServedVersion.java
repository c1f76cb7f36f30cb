package dev.tern.serve;

import dev.tern.predict.Predictor;

/**
 * A model at one step: what one request is answered with, from its first row to its last.
 *
 * @param model the name it is served by
 * @param step the step of training that it was saved at
 * @param predictor scores rows
 */
record ServedVersion(String model, long step, Predictor predictor) {}
