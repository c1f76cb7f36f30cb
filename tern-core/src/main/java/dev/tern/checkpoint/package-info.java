/**
 * Checkpoints of runs. {@link dev.tern.checkpoint.Checkpoint} opens one and loads the model;
 * training writes them by {@link dev.tern.checkpoint.RunCheckpoints}, full ones or deltas as a
 * {@link dev.tern.checkpoint.DeltaSchedule} says.
 *
 * <pre>{@code
 * try (Network network = Checkpoint.open(Path.of("runs/census")).load(device)) { ... }
 * }</pre>
 */
@NullMarked
package dev.tern.checkpoint;

import org.jspecify.annotations.NullMarked;
