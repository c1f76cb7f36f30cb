/**
 * What {@link dev.tern.embedding.EmbeddingTable} promises to threads that use it at once, each
 * guarantee a test for jcstress. Run by {@code tern bench stress}.
 */
@org.jspecify.annotations.NullMarked
package dev.tern.bench.stress;
