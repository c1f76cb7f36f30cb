/**
 * Embedding tables: 64-bit id to a row of weights and optimizer state. An {@link
 * dev.tern.embedding.EmbeddingTable} looks a batch of ids up into a {@link
 * dev.tern.embedding.Lookup}, hands out the rows pooled or one by one, and applies their gradients.
 * {@link dev.tern.embedding.config} says what a table is; {@code dev.tern.internal.table} is the
 * machine behind it.
 *
 * <pre>
 * training                        scoring
 * find(ids, ..., insert: true)    find(ids, ..., insert: false)
 * pool or ragged                  pool or ragged
 * apply(gradients)
 * </pre>
 *
 * <p>A {@link dev.tern.embedding.BatchLookup} does this for all tables of a model. {@link
 * dev.tern.embedding.TableSnapshot} is a table of one moment, {@link
 * dev.tern.embedding.SelectedRows} a sparse gradient by itself.
 *
 * <p>Letters: {@code B} rows of a batch, {@code N} ids of one slot in it, {@code U} distinct ids
 * among them, {@code W} weights of a row.
 */
package dev.tern.embedding;
