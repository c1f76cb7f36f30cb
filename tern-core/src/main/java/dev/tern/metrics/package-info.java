/**
 * Figures of scores beside labels. {@link dev.tern.metrics.Metrics} has those of probabilities,
 * {@link dev.tern.metrics.ValueMetrics} those of values, {@link dev.tern.metrics.GroupMetrics}
 * those of each user's rows, {@link dev.tern.metrics.PairedMetrics} compares two models, and {@link
 * dev.tern.metrics.TaskMetrics} has the figures of each task.
 */
@NullMarked
package dev.tern.metrics;

import org.jspecify.annotations.NullMarked;
