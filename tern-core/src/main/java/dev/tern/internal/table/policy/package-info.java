/**
 * Which ids have rows: {@link dev.tern.internal.table.policy.RowAdmission} applies the {@code
 * RowPolicy} of a table.
 *
 * <pre>
 *            met too seldom            admitted
 * new id ----> counting filter ----> row, in the eviction queue
 *                                      | seen: its step, count and score are noted in the row
 *                                      | first in the queue, and due or in the way: evicted
 *                                      v
 *                                    no row; an id met again begins anew
 * </pre>
 *
 * <p>Decisions depend on what rows hold and on ids alone, never on where rows lie, so a table that
 * was read from a checkpoint goes on the same way.
 */
package dev.tern.internal.table.policy;
