/**
 * Embedding tables: 64-bit id to a row of weights and optimizer state. {@link
 * dev.tern.embedding.EmbeddingTable} is the way in: it looks up a batch of ids into a {@link
 * dev.tern.internal.table.rows.RowLookup}, hands out the rows pooled or one by one, and applies
 * their gradients.
 *
 * <p>Letters: {@code B} rows of a batch, {@code N} ids of one slot in it, {@code U} distinct ids
 * among them, {@code W} weights of a row.
 */
package dev.tern.embedding;
