/**
 * A table as it was at one moment, while it changes. {@link
 * dev.tern.internal.table.snapshot.RowListener} hears of each change before it happens.
 *
 * <pre>
 * RowListener -> {@link dev.tern.internal.table.snapshot.ChangedIds}   the ids whose rows changed since the last checkpoint
 *             -> {@link dev.tern.internal.table.snapshot.RowCopies}    a copy of each row before it first changes
 * </pre>
 *
 * <p>{@link dev.tern.internal.table.snapshot.SortedRows} orders ids for a file, {@link
 * dev.tern.internal.table.snapshot.RowPipe} fills blocks of rows ahead of whoever writes them.
 */
package dev.tern.internal.table.snapshot;
