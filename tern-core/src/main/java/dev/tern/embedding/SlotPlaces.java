package dev.tern.embedding;

import java.util.Arrays;
import java.util.List;

/**
 * Where a lookup puts the rows of each slot. Pooled slots stand side by side in {@code [B, S, D]},
 * in order. Slots of a sequence stand side by side in its values, {@code [n, columns * D]}.
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

  /**
   * Places of {@code slots} slots.
   *
   * @param sequences slots of each sequence; all others are pooled
   */
  SlotPlaces(int slots, List<List<Integer>> sequences) {
    this.sequences = sequences.stream().map(List::copyOf).toList();
    sequence = new int[slots];
    place = new int[slots];
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
      }
    }
    int next = 0;
    for (int slot = 0; slot < slots; slot++) {
      if (sequence[slot] == POOLED) {
        place[slot] = next++;
      }
    }
    pooled = next;
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

  /** Columns of a sequence. */
  int columns(int q) {
    return sequences.get(q).size();
  }

  /** Vectors from one bag of a slot to its next. */
  int every(int slot) {
    return isPooled(slot) ? pooled : columns(sequence[slot]);
  }
}
