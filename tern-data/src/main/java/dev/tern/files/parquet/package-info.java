/** Parquet files to batches and back. */
@org.jspecify.annotations.NullMarked
package dev.tern.files.parquet;
