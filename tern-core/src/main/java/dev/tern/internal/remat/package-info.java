/**
 * Runs a training step in less memory than its values take: values are evicted when room is needed
 * and computed again when they are read (rematerialization). The planner uses it for steps under a
 * budget, sessions use it op by op, and {@code tern replay} on recorded steps.
 *
 * <pre>
 * Trace       what a step ran, referred to and released      Simulation  runs a Trace, counts time
 * Recipes     how every value was computed                   Schedule    what a run of a Trace does
 * Residency   runs ops; runs those again that are lacking    Policy      what to evict first
 * Occupancy   gives and takes memory of a StorageMemory      Foresight   what is known ahead
 * Evictor     chooses by Policy and RecomputeCosts           Guide       a Policy and a Foresight
 * </pre>
 *
 * <p>How to find a good {@link dev.tern.internal.remat.Guide} is the task of {@code
 * internal.remat.search}.
 */
@NullMarked
package dev.tern.internal.remat;

import org.jspecify.annotations.NullMarked;
