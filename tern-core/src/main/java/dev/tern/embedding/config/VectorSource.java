package dev.tern.embedding.config;

/** Gives vectors by id, block after block, such as those that were trained elsewhere. */
@FunctionalInterface
public interface VectorSource {
  /**
   * Writes up to {@code ids.length} vectors.
   *
   * @param ids takes the ids, each once in all blocks together
   * @param vectors takes the vectors side by side, finite numbers
   * @return vectors written; 0 at the end
   */
  int next(long[] ids, float[] vectors);
}
