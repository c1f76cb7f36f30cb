/**
 * Readers made from readers: {@link dev.tern.data.readers.Readers} has a method for each. The chain
 * of training is
 *
 * <pre>{@code
 * DataReader shuffled = Readers.shuffled(file, 100_000, seed);
 * DataReader batched = Readers.batched(shuffled, 1024, false);
 * DataReader ready = Readers.prefetched(Readers.encoded(batched, encoder), 3);
 * }</pre>
 */
@NullMarked
package dev.tern.data.readers;

import org.jspecify.annotations.NullMarked;
