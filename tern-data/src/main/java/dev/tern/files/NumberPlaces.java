package dev.tern.files;

import java.util.Arrays;

/** Distinct 64-bit numbers, each with its place in the order given. Immutable. */
final class NumberPlaces {
  static final NumberPlaces NONE = new NumberPlaces(new long[0]);

  /** By open addressing, at most half full. */
  private final long[] numbers;

  /** The place of the number at the same index, or -1 where there is none. */
  private final int[] places;

  private final int shift;

  NumberPlaces(long[] distinct) {
    int bits = 33 - Integer.numberOfLeadingZeros(distinct.length);
    numbers = new long[1 << bits];
    places = new int[1 << bits];
    shift = 64 - bits;
    Arrays.fill(places, -1);
    for (int place = 0; place < distinct.length; place++) {
      int at = at(distinct[place]);
      numbers[at] = distinct[place];
      places[at] = place;
    }
  }

  /** The place of {@code number}, or -1. */
  int find(long number) {
    return places[at(number)];
  }

  private int at(long number) {
    int at = (int) (number * 0x9E37_79B9_7F4A_7C15L >>> shift);
    while (places[at] >= 0 && numbers[at] != number) {
      at = at + 1 & places.length - 1;
    }
    return at;
  }
}
