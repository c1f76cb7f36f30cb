package dev.tern.train;

/**
 * Outcome of one training step.
 *
 * @param step the step, counted from 1 at the start of the run
 * @param rows rows of the batch
 * @param loss mean loss of the batch before the update
 * @param learningRate learning rate of dense parameters in this step
 * @param nanos nanoseconds that the step took
 */
public record StepResult(long step, int rows, float loss, float learningRate, long nanos) {}
