package dev.tern.files.parquet;

import dev.tern.data.encode.TextDictionary;
import dev.tern.data.encode.TextHash;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Set;

/** Texts as 64-bit hashes, each told to a dictionary; some mean that a value is missing. */
final class ParquetTexts {
  private final TextDictionary dictionary;
  private final long[] markers;

  /**
   * @param missing texts that mean a missing value
   */
  ParquetTexts(TextDictionary dictionary, Set<String> missing) {
    this.dictionary = dictionary;
    markers = missing.stream().mapToLong(TextHash::of).sorted().toArray();
  }

  boolean haveMarkers() {
    return markers.length > 0;
  }

  /** Whether the text of that hash means a missing value. */
  boolean isMarker(long hash) {
    return Arrays.binarySearch(markers, hash) >= 0;
  }

  /** The hash of the text {@code bytes[from, to)}. */
  long of(byte[] bytes, int from, int to) {
    long hash = TextHash.of(bytes, from, to);
    dictionary.saw(hash, bytes, from, to);
    return hash;
  }

  /** The hash of an integer's decimal text. */
  long ofInteger(long value, boolean unsigned) {
    if (unsigned && value < 0) {
      return ofText(Long.toUnsignedString(value));
    }
    long hash = TextHash.ofInteger(value);
    dictionary.sawInteger(hash, value);
    return hash;
  }

  /** The hash of {@code text}. */
  long ofText(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return of(bytes, 0, bytes.length);
  }
}
