/**
 * Training. {@link dev.tern.train.Trainer} has the whole loop, {@code fit}, and its single step,
 * for loops of one's own over {@link dev.tern.train.TrainingBatches}. {@link
 * dev.tern.train.TrainOptions} are its options, {@link dev.tern.train.Progress} its reports, {@link
 * dev.tern.metrics.Metrics} the figures of scores beside labels.
 */
@NullMarked
package dev.tern.train;

import org.jspecify.annotations.NullMarked;
