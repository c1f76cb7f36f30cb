/**
 * What {@link dev.tern.embedding.EmbeddingTable} lets threads see that use it at once, rows in
 * memory, each case a test for jcstress. Run by {@code tern bench stress}.
 */
@org.jspecify.annotations.NullMarked
package dev.tern.bench.stress;
