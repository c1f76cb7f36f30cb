/** Data files to batches and back: CSV, LIBSVM and LIBFFM, HugeCTR Norm and Raw, Parquet. */
@org.jspecify.annotations.NullMarked
package dev.tern.files;
