/**
 * Rows in memory and the arithmetic on them: {@link dev.tern.internal.table.rows.RowSlabs} holds
 * them, {@link dev.tern.internal.table.rows.RowLookup} says where the rows of a batch lie, {@link
 * dev.tern.internal.table.rows.Pooling} reads them and {@link
 * dev.tern.internal.table.rows.RowUpdates} applies gradients. {@link
 * dev.tern.internal.table.rows.RowLoops} has the loops, in vectors as far as whole vectors reach.
 *
 * <pre>
 * a row:   weights | optimizer state | last step, count, score | id
 *          as stored   4 bytes each      where the policy asks    where rows may go
 * </pre>
 */
package dev.tern.internal.table.rows;
