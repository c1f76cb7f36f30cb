/**
 * What a server counts of one model: requests, rows, times, values of columns, and how far its
 * scores drift from the first ones. {@link dev.tern.serve.http.metrics.Exposition} writes it for
 * Prometheus.
 */
@org.jspecify.annotations.NullMarked
package dev.tern.serve.http.metrics;
