package dev.tern.data.encode;

import dev.tern.base.DataException;
import dev.tern.base.SplitMix64;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A fitted vocabulary: raw id to index 1, 2, ... in the order given, 0 for any other id. Immutable,
 * so many threads may look up.
 */
final class Vocabulary {
  static final Vocabulary EMPTY = new Vocabulary(new long[0], new String[0]);

  private final long[] ids;
  private final @Nullable String[] texts;

  /** Pairs (id, index) by open addressing, at most half full; a place is free while index is 0. */
  private final long[] table;

  /**
   * @param ids distinct raw ids; the id at position i gets index i + 1
   * @param texts the text of each id, or null where it is not known
   */
  Vocabulary(long[] ids, @Nullable String[] texts) {
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

  /** Ids in the vocabulary. */
  int size() {
    return ids.length;
  }

  /** The index of raw id {@code id}, or 0. */
  long indexOf(long id) {
    return table[place(id) + 1];
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
