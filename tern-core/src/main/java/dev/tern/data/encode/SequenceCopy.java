package dev.tern.data.encode;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.Sequence;
import dev.tern.data.Slot;
import java.util.List;

/** Copies the slots of sequences, of each row as many ids as are kept. */
final class SequenceCopy {
  private SequenceCopy() {}

  /** Copies what is kept of a slot, from row {@code first} of {@code raw} on; returns the ids. */
  static int ids(Batch raw, int first, int slot, Sequence sequence, Batch encoded) {
    int[] in = raw.offsets(slot);
    int[] out = encoded.offsets(slot);
    long[] source = raw.ids(slot);
    int rows = encoded.size();
    long[] ids = encoded.ensureIds(slot, in[first + rows] - in[first]);
    boolean weighted = raw.schema().slots().get(slot).weighted();
    float[] weights = weighted ? encoded.ensureWeights(slot, ids.length) : new float[0];
    int end = 0;
    for (int row = 0; row < rows; row++) {
      int count = in[first + row + 1] - in[first + row];
      int from = in[first + row] + sequence.firstKept(count);
      int kept = sequence.kept(count);
      System.arraycopy(source, from, ids, end, kept);
      if (weighted) {
        System.arraycopy(raw.weights(slot), from, weights, end, kept);
      }
      end += kept;
      out[row + 1] = end;
    }
    return end;
  }

  /** Checks that all slots of a sequence have equally many ids in each of some rows. */
  static void requireEqualLengths(
      List<Slot> slots, List<List<Integer>> sequences, Batch raw, int first, int end) {
    for (int q = 0; q < sequences.size(); q++) {
      List<Integer> members = sequences.get(q);
      int one = members.getFirst();
      for (int m = 1; m < members.size(); m++) {
        int slot = members.get(m);
        int row = raw.firstUnequal(slot, one, first, end);
        if (row >= 0) {
          throw new DataException(
              "slot %s: got %d ids in row %d of this batch, expected %d as in slot %s, which is in the same sequence; mend the data, or give the slot a sequence of its own"
                  .formatted(
                      slots.get(slot).name(),
                      raw.idCount(slot, row),
                      row + 1,
                      raw.idCount(one, row),
                      slots.get(one).name()));
        }
      }
    }
  }
}
