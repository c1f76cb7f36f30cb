package dev.tern.embedding;

import java.util.Arrays;
import java.util.List;

/**
 * Where a lookup puts the rows of each slot. Pooled slots stand side by side in {@code [B, S, D]},
 * in order. Slots of a sequence stand side by side in its values, {@code [n, columns * D]}. Where
 * the vectors of slots have unequal widths, the sum of their widths takes the place of {@code S *
 * D} and of {@code columns * D}.
 */
final class SlotPlaces {
  private static final int POOLED = -1;

  /** Slots that are pooled, {@code S}. */
  final int pooled;

  /** Of each sequence its slots. */
  final List<List<Integer>> sequences;

  /** Of each slot its sequence. */
  private final int[] sequence;

  /** Of each slot its place among the pooled ones, or in its sequence. */
  private final int[] place;

  /** Of each slot the floats of the vectors before it, in a row or in an element. */
  private final int[] offset;

  /** Floats of the vectors of all pooled slots of a row. */
  final int pooledFloats;

  /** Of each sequence the floats of an element. */
  private final int[] elementFloats;

  /**
   * Places of slots.
   *
   * @param widths for each slot the width of its vectors
   * @param sequences slots of each sequence; all others are pooled
   */
  SlotPlaces(List<Integer> widths, List<List<Integer>> sequences) {
    this.sequences = sequences.stream().map(List::copyOf).toList();
    int slots = widths.size();
    sequence = new int[slots];
    place = new int[slots];
    offset = new int[slots];
    elementFloats = new int[sequences.size()];
    Arrays.fill(sequence, POOLED);
    for (int q = 0; q < sequences.size(); q++) {
      for (int column = 0; column < sequences.get(q).size(); column++) {
        int slot = sequences.get(q).get(column);
        if (slot < 0 || slot >= slots || sequence[slot] != POOLED) {
          throw new IllegalArgumentException(
              "lookup: got slots %s of sequences, expected each of 0 to %d once at most"
                  .formatted(sequences, slots - 1));
        }
        sequence[slot] = q;
        place[slot] = column;
        offset[slot] = elementFloats[q];
        elementFloats[q] = Math.addExact(elementFloats[q], widths.get(slot));
      }
    }
    int next = 0;
    int floats = 0;
    for (int slot = 0; slot < slots; slot++) {
      if (sequence[slot] == POOLED) {
        place[slot] = next++;
        offset[slot] = floats;
        floats = Math.addExact(floats, widths.get(slot));
      }
    }
    pooled = next;
    pooledFloats = floats;
  }

  boolean isPooled(int slot) {
    return sequence[slot] == POOLED;
  }

  /** The sequence of a slot that is not pooled. */
  int sequence(int slot) {
    return sequence[slot];
  }

  /** The place of a slot among the pooled ones, or its column in its sequence. */
  int place(int slot) {
    return place[slot];
  }

  /** Vectors from one bag of a slot to its next. */
  int every(int slot) {
    return isPooled(slot) ? pooled : sequences.get(sequence[slot]).size();
  }

  /** Floats from the vector of the first pooled slot, or column, to the one of {@code slot}. */
  int offset(int slot) {
    return offset[slot];
  }

  /** Floats from the vector of one bag of a slot to its next. */
  int everyFloats(int slot) {
    return isPooled(slot) ? pooledFloats : elementFloats[sequence[slot]];
  }

  /** Floats of an element of a sequence. */
  int elementFloats(int q) {
    return elementFloats[q];
  }
}
