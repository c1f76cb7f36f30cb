package dev.tern.data.encode;

import dev.tern.base.DataException;
import dev.tern.base.SplitMix64;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A fitted vocabulary: maps the raw ids in it to 1, 2, ..., and any other as {@link
 * IdEncoding.Vocabulary} says. Immutable and thread-safe.
 */
final class Vocabulary {
  static final Vocabulary EMPTY =
      new Vocabulary(new long[0], new String[0], new IdEncoding.Vocabulary(true, 1, 0));

  private final IdEncoding.Vocabulary encoding;
  private final long[] ids;
  private final @Nullable String[] texts;

  /** Pairs (id, index) by open addressing, at most half full. A place is free if its index is 0. */
  private final long[] table;

  /**
   * @param ids distinct raw ids; the id at position i gets index i + 1
   * @param texts the text of each id, or null if it is not known
   */
  Vocabulary(long[] ids, @Nullable String[] texts, IdEncoding.Vocabulary encoding) {
    this.encoding = encoding;
    this.ids = ids;
    this.texts = texts;
    int capacity = Integer.highestOneBit(Math.max(1, ids.length)) << 2;
    table = new long[Math.multiplyExact(2, capacity)];
    for (int i = 0; i < ids.length; i++) {
      int place = place(ids[i]);
      if (table[place + 1] != 0) {
        throw new DataException(
            "vocabulary: got the id %d twice, expected distinct ids".formatted(ids[i]));
      }
      table[place] = ids[i];
      table[place + 1] = i + 1;
    }
  }

  /** The number of ids in the vocabulary. */
  int size() {
    return ids.length;
  }

  /** The index of raw id {@code id}; if it is not in the vocabulary, 0 or a negative id. */
  long indexOf(long id) {
    long index = table[place(id) + 1];
    return index == 0 ? outside(id) : index;
  }

  /** Whether raw id {@code id} is in the vocabulary. */
  boolean contains(long id) {
    return table[place(id) + 1] != 0;
  }

  /** Whether the ids of {@code other} have the same indices here. */
  boolean extendsOther(Vocabulary other) {
    return other.ids.length <= ids.length
        && Arrays.equals(ids, 0, other.ids.length, other.ids, 0, other.ids.length);
  }

  private long outside(long id) {
    boolean missing = encoding.text() && id == TextHash.EMPTY;
    return missing || !encoding.apart() ? 0 : Long.MIN_VALUE | SplitMix64.mix(id) >>> 1;
  }

  /** The raw id of {@code index}, which is in {@code [1, size]}. */
  long id(int index) {
    return ids[index - 1];
  }

  /** The text of {@code index}, which is in {@code [1, size]}. */
  Optional<String> text(int index) {
    return Optional.ofNullable(texts[index - 1]);
  }

  private int place(long id) {
    int mask = table.length - 2;
    int place = (int) SplitMix64.mix(id) << 1 & mask;
    while (table[place + 1] != 0 && table[place] != id) {
      place = place + 2 & mask;
    }
    return place;
  }
}
