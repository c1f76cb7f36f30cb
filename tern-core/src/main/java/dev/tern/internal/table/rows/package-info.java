/**
 * Rows in memory and the arithmetic on them: {@link dev.tern.internal.table.rows.RowSlabs} holds
 * rows, {@link dev.tern.internal.table.rows.RowLookup} says where the rows of a batch lie, {@link
 * dev.tern.internal.table.rows.Pooling} reads them, and {@link
 * dev.tern.internal.table.rows.RowUpdates} applies gradients.
 *
 * <pre>
 * a row:   weights | optimizer state | last step, count, score | id
 *          as stored   4 bytes each      if the policy needs them  if rows may be evicted
 * </pre>
 *
 * <p>What a step passes around ({@code PooledBags}, {@code RowParts}, {@code MatrixBlock}, {@code
 * OptimizerStep}, {@code StepBlock}) is mutable and set anew, so that steps allocate nothing. One
 * thread at a time uses each of these objects.
 */
package dev.tern.internal.table.rows;
