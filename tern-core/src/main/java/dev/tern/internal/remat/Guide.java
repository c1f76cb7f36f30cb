package dev.tern.internal.remat;

/**
 * How to run a step within a budget.
 *
 * @param policy which storage to evict first
 * @param foresight what the policy is told
 * @param budget bytes of the arena that the guide was made for
 * @param time of the step when it was simulated; infinite where it did not fit
 */
public record Guide(Policy policy, Foresight foresight, long budget, double time) {}
