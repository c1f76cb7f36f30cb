/**
 * Checkpoints of a run over a topic of Kafka: {@link dev.tern.stream.Publisher} sends what a
 * training writes, {@link dev.tern.stream.Follower} brings it into a folder that a {@code
 * ServedModel} or {@code tern serve} follows.
 *
 * <p>It needs {@code kafka-clients} (Apache License 2.0, 11 MB) and no other library: those that
 * compress by zstd, lz4 and snappy, 9 MB with native code, are left out, as weights hardly shrink.
 * Who has topics that compress puts them on the class path.
 */
@NullMarked
package dev.tern.stream;

import org.jspecify.annotations.NullMarked;
