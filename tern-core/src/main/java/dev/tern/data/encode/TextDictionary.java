package dev.tern.data.encode;

import dev.tern.base.DataException;
import dev.tern.base.Shown;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;

/**
 * The texts of {@link TextHash} ids. A reader adds each text that it hashes, and an encoder looks
 * up the texts of the ids in its vocabularies. It also checks that no two texts share an id.
 *
 * <p>Thread-safe.
 */
public final class TextDictionary {
  private static final TextDictionary NONE = new TextDictionary(0);
  private static final int SHARDS = 16;

  private final Shard[] shards;

  /** An empty dictionary. */
  public TextDictionary() {
    this(SHARDS);
  }

  private TextDictionary(int shards) {
    this.shards = new Shard[shards];
    Arrays.setAll(this.shards, i -> new Shard());
  }

  /** A dictionary that keeps nothing, for readers whose texts nobody needs. */
  public static TextDictionary none() {
    return NONE;
  }

  /**
   * Adds the text {@code utf8[from .. to)} of the id {@code hash}. A text that is known costs one
   * look-up and no memory.
   *
   * @throws DataException if another text with the same hash was seen
   */
  public void saw(long hash, byte[] utf8, int from, int to) {
    if (shards.length != 0) {
      shard(hash).saw(hash, utf8, from, to);
    }
  }

  /** Adds the decimal text of {@code value}, whose id is {@link TextHash#ofInteger}. */
  public void sawInteger(long hash, long value) {
    if (shards.length != 0 && !shard(hash).has(hash)) {
      byte[] text = Long.toString(value).getBytes(StandardCharsets.US_ASCII);
      saw(hash, text, 0, text.length);
    }
  }

  /** The text of the id {@code hash}, if it was added. */
  public Optional<String> text(long hash) {
    return shards.length == 0 ? Optional.empty() : shard(hash).text(hash);
  }

  /** The number of different texts. */
  public long size() {
    long size = 0;
    for (Shard shard : shards) {
      size += shard.size();
    }
    return size;
  }

  private Shard shard(long hash) {
    return shards[(int) (hash >>> 60)];
  }

  /** Texts in one array, found by an open-addressing table of their ids. */
  private static final class Shard {
    private long[] hashes = new long[16];

    /** The start of the text of each place in the table; 0 for a free place. */
    private int[] starts = new int[16];

    private int[] lengths = new int[16];

    /** The texts, from byte 1. */
    private byte[] texts = new byte[256];

    private int used = 1;
    private int size;

    synchronized void saw(long hash, byte[] utf8, int from, int to) {
      int place = find(hash);
      if (starts[place] == 0) {
        insert(place, hash, utf8, from, to - from);
        return;
      }
      int start = starts[place];
      if (!Arrays.equals(texts, start, start + lengths[place], utf8, from, to)) {
        throw new DataException(
            "text values: got \"%s\" and \"%s\" with the same 64-bit hash %016x, expected different"
                    .formatted(
                        Shown.excerpt(string(place)),
                        Shown.excerpt(new String(utf8, from, to - from, StandardCharsets.UTF_8)),
                        hash)
                + " hashes; change one of the two texts");
      }
    }

    synchronized boolean has(long hash) {
      return starts[find(hash)] > 0;
    }

    synchronized Optional<String> text(long hash) {
      int place = find(hash);
      return starts[place] == 0 ? Optional.empty() : Optional.of(string(place));
    }

    synchronized int size() {
      return size;
    }

    private String string(int place) {
      return new String(texts, starts[place], lengths[place], StandardCharsets.UTF_8);
    }

    /** The place of {@code hash}, or the free place where it belongs. */
    private int find(long hash) {
      int mask = hashes.length - 1;
      int place = (int) hash & mask;
      while (starts[place] > 0 && hashes[place] != hash) {
        place = place + 1 & mask;
      }
      return place;
    }

    private void insert(int place, long hash, byte[] utf8, int from, int length) {
      if (length > texts.length - used) {
        int least = Math.addExact(used, length);
        texts = Arrays.copyOf(texts, (int) Math.min(Integer.MAX_VALUE - 8, 2L * least));
      }
      System.arraycopy(utf8, from, texts, used, length);
      hashes[place] = hash;
      starts[place] = used;
      lengths[place] = length;
      used += length;
      size++;
      if (size > hashes.length / 2) {
        grow();
      }
    }

    private void grow() {
      long[] oldHashes = hashes;
      int[] oldStarts = starts;
      int[] oldLengths = lengths;
      hashes = new long[2 * oldHashes.length];
      starts = new int[2 * oldHashes.length];
      lengths = new int[2 * oldHashes.length];
      for (int i = 0; i < oldHashes.length; i++) {
        if (oldStarts[i] > 0) {
          int place = find(oldHashes[i]);
          hashes[place] = oldHashes[i];
          starts[place] = oldStarts[i];
          lengths[place] = oldLengths[i];
        }
      }
    }
  }
}
