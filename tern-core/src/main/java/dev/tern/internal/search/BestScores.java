package dev.tern.internal.search;

import dev.tern.internal.memory.Memory;
import java.util.Arrays;

/**
 * The best scores of one row so far, and whose they are. A heap with the worst of them on top, so
 * that most scores cost one comparison.
 */
final class BestScores {
  static final int[] NONE = {};

  private final int[] items;
  private final float[] scores;
  private int[] excluded = NONE;
  private int size;

  /** Keeps the {@code most} best ones. */
  BestScores(int most) {
    items = new int[most];
    scores = new float[most];
  }

  /** Items that are not taken from here on, in ascending order. */
  void exclude(int[] ascending) {
    excluded = ascending;
  }

  /** Offers {@code count} scores in memory, of items that follow each other. */
  void offer(long address, int first, int count) {
    int i = 0;
    while (i < count && size < items.length) {
      if (takes(first + i)) {
        items[size] = first + i;
        scores[size] = Memory.getFloat(address + 4L * i);
        up(size++);
      }
      i++;
    }
    for (float worst = scores[0]; i < count; i++) {
      float score = Memory.getFloat(address + 4L * i);
      // An equal score loses to the item that came first.
      if (score > worst && takes(first + i)) {
        items[0] = first + i;
        scores[0] = score;
        down(size);
        worst = scores[0];
      }
    }
  }

  private boolean takes(int item) {
    return excluded.length == 0 || Arrays.binarySearch(excluded, item) < 0;
  }

  /**
   * Writes the items and their scores, best first, from {@code at} on; then none is left.
   *
   * @return how many
   */
  int drain(int[] toItems, float[] toScores, int at) {
    int found = size;
    for (int end = size - 1; end >= 0; end--) {
      toItems[at + end] = items[0];
      toScores[at + end] = scores[0];
      items[0] = items[end];
      scores[0] = scores[end];
      down(end);
    }
    size = 0;
    return found;
  }

  private boolean isWorse(int a, int b) {
    return scores[a] < scores[b] || scores[a] == scores[b] && items[a] > items[b];
  }

  private void up(int place) {
    int at = place;
    while (at > 0 && isWorse(at, (at - 1) / 2)) {
      swap(at, (at - 1) / 2);
      at = (at - 1) / 2;
    }
  }

  private void down(int end) {
    int at = 0;
    while (true) {
      int child = 2 * at + 1;
      if (child >= end) {
        return;
      }
      if (child + 1 < end && isWorse(child + 1, child)) {
        child++;
      }
      if (!isWorse(child, at)) {
        return;
      }
      swap(at, child);
      at = child;
    }
  }

  private void swap(int a, int b) {
    int item = items[a];
    items[a] = items[b];
    items[b] = item;
    float score = scores[a];
    scores[a] = scores[b];
    scores[b] = score;
  }
}
