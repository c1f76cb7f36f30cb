/**
 * Batches of rows and the interface of readers: {@link dev.tern.data.Schema} names the columns,
 * {@link dev.tern.data.Batch} holds rows, and {@link dev.tern.data.DataReader} gives one batch
 * after another and can resume at any row. A reader of one's own extends {@link
 * dev.tern.data.PositionedReader} and lends batches of a {@link dev.tern.data.BatchPool}. Readers
 * of files are in the module {@code tern-data}.
 *
 * <p>Letters: {@code B} rows of a batch, {@code L} labels, {@code F} dense numbers, {@code S}
 * slots.
 */
@NullMarked
package dev.tern.data;

import org.jspecify.annotations.NullMarked;
