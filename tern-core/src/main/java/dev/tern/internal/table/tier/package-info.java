/**
 * Rows in a file, for tables larger than their memory. {@link
 * dev.tern.internal.table.tier.RowSpiller} moves rows between memory and {@link
 * dev.tern.internal.table.tier.ColdRows}, the records of the file.
 *
 * <pre>
 * in memory ----> leaving ----> in the file ----> in memory, with a stale record
 *   memory is full  {@link dev.tern.internal.table.tier.WriteBehind}     training looks it up      leaves again: replaces the record
 *                   writes it
 * </pre>
 *
 * <p>A row that is leaving stays in memory, and is found there, until its merge has ended. Which
 * rows leave, and when, depends on the ids looked up alone, not on how fast the thread writes.
 */
package dev.tern.internal.table.tier;
