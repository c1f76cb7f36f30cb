/**
 * How weights follow their gradients: {@link dev.tern.optim.Optimizer} says which update rule,
 * {@link dev.tern.optim.LearningRate} how large a step. Both are plain values; the update itself
 * runs where the weights are (embedding rows in their table, dense parameters in the engine).
 */
package dev.tern.optim;
