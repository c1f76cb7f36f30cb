/**
 * Training: {@link dev.tern.train.Trainer} is the loop, {@link dev.tern.train.TrainOptions} what it
 * is told, {@link dev.tern.train.Progress} what it says, {@link dev.tern.checkpoint.Checkpoint}
 * what it leaves behind.
 */
@NullMarked
package dev.tern.train;

import org.jspecify.annotations.NullMarked;
