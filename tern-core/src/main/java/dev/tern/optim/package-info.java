/**
 * Optimizers and learning-rate schedules as plain values: {@link dev.tern.optim.Optimizer} names an
 * update rule and its constants, {@link dev.tern.optim.LearningRate} gives the rate of each step.
 * The code of the updates lies with the weights: embedding tables update their rows, training
 * updates dense parameters.
 */
package dev.tern.optim;
