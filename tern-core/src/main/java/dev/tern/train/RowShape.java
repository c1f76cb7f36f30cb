package dev.tern.train;

import dev.tern.embedding.TableConfig;
import dev.tern.tensor.DType;

/**
 * What a row of a table holds, in files and, packed, in memory: weights, optimizer state, and what
 * it keeps about itself. Packed, each number takes 4 bytes, weights as F32.
 *
 * @param storage how files hold weights: F32, F16 or BF16
 * @param width weights
 * @param state floats of optimizer state
 * @param metadata whole numbers of 4 bytes
 */
record RowShape(DType storage, int width, int state, int metadata) {
  static RowShape of(TableConfig config) {
    return new RowShape(config.storage(), config.width(), config.stateFloats(), config.metadata());
  }

  /** Bytes of a packed row. */
  long packedBytes() {
    return 4L * (width + state + metadata);
  }

  /** Bytes of a row in files, without its id. */
  long fileBytes() {
    return (long) storage.bytes() * width + 4L * (state + metadata);
  }
}
