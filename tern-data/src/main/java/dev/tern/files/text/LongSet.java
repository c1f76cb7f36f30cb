package dev.tern.files.text;

import dev.tern.base.SplitMix64;
import java.util.Arrays;

/** A set of 64-bit numbers in 16 to 32 bytes each. */
final class LongSet {
  private long[] places = new long[1 << 10];
  private int size;
  private boolean hasZero;

  /** Adds a number; false where it is there already. */
  boolean add(long number) {
    if (number == 0) {
      boolean added = !hasZero;
      hasZero = true;
      return added;
    }
    if (2 * size == places.length) {
      grow();
    }
    int place = place(number);
    if (places[place] == number) {
      return false;
    }
    places[place] = number;
    size++;
    return true;
  }

  private int place(long number) {
    int place = (int) SplitMix64.bounded(number, places.length);
    while (places[place] != 0 && places[place] != number) {
      place = place + 1 == places.length ? 0 : place + 1;
    }
    return place;
  }

  private void grow() {
    long[] before = places;
    places = new long[Math.multiplyExact(2, before.length)];
    Arrays.stream(before).filter(number -> number != 0).forEach(n -> places[place(n)] = n);
  }
}
