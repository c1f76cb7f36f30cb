/**
 * Training of a model on Apache Spark by all executors together, and scoring of DataFrames with it.
 * {@link dev.tern.spark.TernClassifier} is the estimator, {@link dev.tern.spark.TernModel} what it
 * comes to.
 */
@NullMarked
package dev.tern.spark;

import org.jspecify.annotations.NullMarked;
