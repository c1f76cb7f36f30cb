package dev.tern.files.text;

import java.util.Arrays;

/** Distinct 64-bit numbers, each with its place in the order given. Immutable. */
final class NumberPlaces {
  private static final int SMALL = 1 << 12;

  /** The place of each small number, or -1. */
  private final int[] small;

  /** The other numbers, by open addressing, at most half full. */
  private final long[] numbers;

  /** The place of the number at the same index, or -1 where there is none. */
  private final int[] places;

  private final int shift;

  NumberPlaces(long[] distinct) {
    long[] few = Arrays.stream(distinct).filter(NumberPlaces::isSmall).toArray();
    small = new int[(int) Arrays.stream(few).max().orElse(-1) + 1];
    Arrays.fill(small, -1);
    int many = distinct.length - few.length;
    int bits = many == 0 ? 0 : 33 - Integer.numberOfLeadingZeros(many);
    numbers = new long[1 << bits];
    places = new int[1 << bits];
    shift = 64 - bits;
    Arrays.fill(places, -1);
    for (int place = 0; place < distinct.length; place++) {
      long number = distinct[place];
      if (isSmall(number)) {
        small[(int) number] = place;
      } else {
        int at = at(number);
        numbers[at] = number;
        places[at] = place;
      }
    }
  }

  private static boolean isSmall(long number) {
    return number >= 0 && number < SMALL;
  }

  /** The place of {@code number}, or -1. */
  int find(long number) {
    if (number >= 0 && number < small.length) {
      return small[(int) number];
    }
    return places.length == 1 ? -1 : places[at(number)];
  }

  private int at(long number) {
    int at = (int) (number * 0x9E37_79B9_7F4A_7C15L >>> shift);
    while (places[at] >= 0 && numbers[at] != number) {
      at = at + 1 & places.length - 1;
    }
    return at;
  }
}
