/**
 * The machine behind an {@code EmbeddingTable}: {@link dev.tern.internal.table.TableRows} joins the
 * index, the rows, the policy and the file tier of one table; {@link
 * dev.tern.internal.table.TableLock} says which calls may run side by side.
 *
 * <pre>
 *            runs beside       waits for
 * READ       READ, SNAPSHOT    a CHANGE
 * SNAPSHOT   READ              SNAPSHOT, CHANGE
 * CHANGE     nothing           all calls
 * </pre>
 *
 * <p>Only {@code dev.tern.embedding} uses these packages. A training lookup goes through them in
 * this order: {@code index} finds row numbers, {@code rows} turns them into addresses, {@code tier}
 * brings rows back from the file, {@code policy} admits new ids and evicts rows, and {@code
 * snapshot} hears of each change before it happens.
 */
package dev.tern.internal.table;
