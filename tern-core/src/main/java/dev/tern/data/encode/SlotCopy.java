package dev.tern.data.encode;

import dev.tern.data.Batch;
import dev.tern.data.Sequence;
import java.util.Arrays;
import java.util.Optional;

/** Copies one slot of rows, from row {@code first} of {@code raw} on, as many as are encoded. */
final class SlotCopy {
  private SlotCopy() {}

  /**
   * Copies ids and offsets. With {@code fill}, a row without an id in a one-hot slot gets a place.
   */
  static int ids(Batch raw, int first, int slot, boolean fill, Batch encoded) {
    Optional<Sequence> sequence = sequence(slot, encoded);
    if (sequence.isPresent()) {
      return SequenceCopy.ids(raw, first, slot, sequence.get(), encoded);
    }
    int rows = encoded.size();
    int[] in = raw.offsets(slot);
    int start = in[first];
    int count = in[first + rows] - start;
    int[] out = encoded.offsets(slot);
    if (!fill || encoded.schema().slots().get(slot).hotness() != 1) {
      System.arraycopy(raw.ids(slot), start, encoded.ensureIds(slot, count), 0, count);
      for (int row = 0; row <= rows; row++) {
        out[row] = in[first + row] - start;
      }
      weights(raw, first, slot, encoded);
      return count;
    }
    long[] source = raw.ids(slot);
    long[] ids = encoded.ensureIds(slot, Math.addExact(count, rows));
    int end = 0;
    for (int row = 0; row < rows; row++) {
      int from = in[first + row];
      int to = in[first + row + 1];
      for (int i = from; i < to; i++) {
        ids[end++] = source[i];
      }
      end += from == to ? 1 : 0;
      out[row + 1] = end;
    }
    weights(raw, first, slot, encoded);
    return end;
  }

  /** Copies the weights of a slot that has some; 1 in the place of a row without an id. */
  private static void weights(Batch raw, int first, int slot, Batch encoded) {
    if (!raw.schema().slots().get(slot).weighted()) {
      return;
    }
    int[] in = raw.offsets(slot);
    int[] out = encoded.offsets(slot);
    float[] weights = encoded.ensureWeights(slot, out[encoded.size()]);
    for (int row = 0; row < encoded.size(); row++) {
      int from = in[first + row];
      int count = in[first + row + 1] - from;
      Arrays.fill(weights, out[row], out[row + 1], 1);
      System.arraycopy(raw.weights(slot), from, weights, out[row], count);
    }
  }

  private static Optional<Sequence> sequence(int slot, Batch encoded) {
    return encoded.schema().slots().get(slot).sequence();
  }

  /**
   * Sets the ids of the rows that had none and got a place. A row without ids has an empty
   * sequence: no place.
   */
  static void setMissing(Batch raw, int first, int slot, long missing, Batch encoded) {
    if (sequence(slot, encoded).isPresent()) {
      return;
    }
    int rows = encoded.size();
    int[] in = raw.offsets(slot);
    int[] out = encoded.offsets(slot);
    if (out[rows] == in[first + rows] - in[first]) {
      return;
    }
    long[] ids = encoded.ids(slot);
    for (int row = 0; row < rows; row++) {
      if (in[first + row] == in[first + row + 1]) {
        ids[out[row]] = missing;
      }
    }
  }
}
