package dev.tern.embedding;

import dev.tern.internal.memory.Memory;

/**
 * Part of an {@link IdIndex}: buckets, as many as a power of two, of ids whose hashes begin alike.
 * The low bits of a hash pick a bucket, which is one cache line:
 *
 * <pre>
 * byte 0   5 ids (8 bytes each)
 * byte 40  their 5 row numbers (4 bytes each)
 * byte 60  bits 0-29: a tag per slot, 6 bits of its id's hash but never 0; 0 where the slot is empty
 *          bit 30: an id that belongs here lies in a later bucket
 * </pre>
 *
 * A full bucket passes ids on to the next one. No id is reserved: a slot is empty because its tag
 * says so. A bucket that passes ids on is full, also after ids were erased.
 */
final class IdSegment {
  static final int LINE_SHIFT = 6;
  static final int LINE = 1 << LINE_SHIFT;
  static final int SLOTS = 5;
  static final int ROWS = 40;
  static final int META = 60;
  static final int PASSED_ON = 1 << 30;
  static final int TAG_BITS = 6;

  /** Bits of the hash beside those that find segment and bucket. */
  private static final int TAG_SHIFT = 27;

  static final int EVERY_TAG = 0b000001_000001_000001_000001_000001;
  private static final int LOW_BITS = 0b011111 * EVERY_TAG;
  private static final int HIGH_BITS = 0b100000 * EVERY_TAG;

  final long base;
  final int buckets;

  /** High bits that the hashes of its ids have in common. */
  final int prefixBits;

  int size;

  /** Over memory that holds anything. */
  IdSegment(long base, int buckets, int prefixBits) {
    this.base = base;
    this.buckets = buckets;
    this.prefixBits = prefixBits;
  }

  /** Empties all buckets. */
  void clear() {
    for (long at = 0; at <= mask(); at += LINE) {
      Memory.setInt(base + at + META, 0);
    }
    size = 0;
  }

  /** Ids before it must grow: 4 of 5 slots. */
  int limit() {
    return buckets * (SLOTS - 1);
  }

  /** Ids before it must grow even if another one has just grown. */
  int lastLimit() {
    return limit() + buckets / 4;
  }

  long bytes() {
    return (long) buckets << LINE_SHIFT;
  }

  long mask() {
    return bytes() - LINE;
  }

  static int tag(long hash) {
    int bits = (int) (hash >>> TAG_SHIFT) & ((1 << TAG_BITS) - 1);
    return bits - ((bits - 1) >> 31);
  }

  /** The high bit of tag i is set where slot i holds the tag of {@code tags}. */
  static int slotsTagged(int meta, int tags) {
    int differ = meta ^ tags;
    return ~(((differ & LOW_BITS) + LOW_BITS) | differ) & HIGH_BITS;
  }

  /** Slots in use; they fill in order. */
  static int count(int meta) {
    int tags = meta & (LOW_BITS | HIGH_BITS);
    return (Integer.SIZE + TAG_BITS - 1 - Integer.numberOfLeadingZeros(tags)) / TAG_BITS;
  }

  /** Puts an id that is not there where there is room. */
  void put(long hash, long id, int row) {
    long mask = mask();
    long at = (hash << LINE_SHIFT) & mask;
    while (true) {
      long line = base + at;
      int meta = Memory.getInt(line + META);
      int count = count(meta);
      if (count < SLOTS) {
        Memory.setLong(line + 8L * count, id);
        Memory.setInt(line + ROWS + 4L * count, row);
        Memory.setInt(line + META, meta | (tag(hash) << (TAG_BITS * count)));
        size++;
        return;
      }
      Memory.setInt(line + META, meta | PASSED_ON);
      at = (at + LINE) & mask;
    }
  }

  /**
   * Takes an id out that is there. Where its bucket passed ids on, one of them comes back into its
   * slot, and so on, so that a bucket that passes ids on is full: a search always ends.
   */
  void erase(long hash, long id) {
    long mask = mask();
    long home = (hash << LINE_SHIFT) & mask;
    long at = home;
    int slot = slotOf(base + at, hash, id);
    while (slot == SLOTS) {
      at = (at + LINE) & mask;
      slot = slotOf(base + at, hash, id);
    }
    long found = backfill(at, slot);
    while (found >= 0) {
      at = found & mask;
      found = backfill(at, (int) found & (LINE - 1));
    }
    removeSlot(base + at);
    for (long line = home; line != at; line = (line + LINE) & mask) {
      int meta = Memory.getInt(base + line + META);
      if (firstPassed(line) < 0) {
        Memory.setInt(base + line + META, meta & ~PASSED_ON);
      }
    }
    size--;
  }

  /** The slot of an id in a bucket, {@link #SLOTS} where it is not there. */
  private static int slotOf(long line, long hash, long id) {
    int slots = slotsTagged(Memory.getInt(line + META), tag(hash) * EVERY_TAG);
    for (; slots != 0; slots &= slots - 1) {
      int slot = Integer.numberOfTrailingZeros(slots) / TAG_BITS;
      if (Memory.getLong(line + 8L * slot) == id) {
        return slot;
      }
    }
    return SLOTS;
  }

  /**
   * Fills a slot whose id goes: by an id that the bucket passed on, or else by the bucket's last.
   *
   * @return where the id came from, offset of its bucket plus slot, to be filled in turn; -1 where
   *     the bucket's last slot is free now
   */
  private long backfill(long at, int slot) {
    long line = base + at;
    int meta = Memory.getInt(line + META);
    long passed = (meta & PASSED_ON) == 0 ? -1 : firstPassed(at);
    long from = passed < 0 ? line : base + (passed & mask());
    int other = passed < 0 ? count(meta) - 1 : (int) passed & (LINE - 1);
    int shift = TAG_BITS * slot;
    int mask = ((1 << TAG_BITS) - 1) << shift;
    int tag = (Memory.getInt(from + META) >>> (TAG_BITS * other)) & ((1 << TAG_BITS) - 1);
    Memory.setLong(line + 8L * slot, Memory.getLong(from + 8L * other));
    Memory.setInt(line + ROWS + 4L * slot, Memory.getInt(from + ROWS + 4L * other));
    Memory.setInt(line + META, (meta & ~mask) | (tag << shift));
    return passed;
  }

  /** Frees the last slot in use. */
  private static void removeSlot(long line) {
    int meta = Memory.getInt(line + META);
    int mask = ((1 << TAG_BITS) - 1) << (TAG_BITS * (count(meta) - 1));
    Memory.setInt(line + META, meta & ~(mask | PASSED_ON));
  }

  /**
   * The first id that the bucket at {@code at} passed on: offset of its bucket plus slot; or -1.
   */
  private long firstPassed(long at) {
    long mask = mask();
    long before = at;
    do {
      long next = (before + LINE) & mask;
      int count = count(Memory.getInt(base + next + META));
      for (int slot = 0; slot < count; slot++) {
        long home = (Hashing.mix(Memory.getLong(base + next + 8L * slot)) << LINE_SHIFT) & mask;
        if (((next - home) & mask) >= ((next - at) & mask)) {
          return next + slot;
        }
      }
      before = next;
    } while (before != at && (Memory.getInt(base + before + META) & PASSED_ON) != 0);
    return -1;
  }

  /** Gives every id once with its row, in no useful order. */
  void forEachEntry(IdIndex.EntrySink sink) {
    for (long line = base; line < base + bytes(); line += LINE) {
      int count = count(Memory.getInt(line + META));
      for (int slot = 0; slot < count; slot++) {
        sink.accept(Memory.getLong(line + 8L * slot), Memory.getInt(line + ROWS + 4L * slot));
      }
    }
  }

  /** {@link IdIndex#forEachRow} of its ids. */
  void forEachRow(int first, int width, IdIndex.RowSink sink) {
    boolean passed = false;
    for (int k = 0; k < buckets && (k < width || passed); k++) {
      long line = base + ((long) (first + k) << LINE_SHIFT & mask());
      int meta = Memory.getInt(line + META);
      int count = count(meta);
      for (int slot = 0; slot < count; slot++) {
        long hash = Hashing.mix(Memory.getLong(line + 8L * slot));
        int bits = (int) hash & ((1 << IdIndex.BUCKET_BITS) - 1);
        if (bits >= first && bits < first + width) {
          sink.accept(hash, Memory.getInt(line + ROWS + 4L * slot));
        }
      }
      passed = (meta & PASSED_ON) != 0;
    }
  }

  /**
   * Whether slots fill in order, tags are those of their ids, the size is right, and a bucket says
   * that it passes ids on exactly where it does, and is full then.
   */
  boolean isSound() {
    int ids = 0;
    boolean sound = true;
    for (long at = 0; at <= mask(); at += LINE) {
      int meta = Memory.getInt(base + at + META);
      int count = count(meta);
      boolean passes = (meta & PASSED_ON) != 0;
      sound &= passes == firstPassed(at) >= 0 && (!passes || count == SLOTS);
      for (int slot = 0; slot < count; slot++) {
        int tag = (meta >>> (TAG_BITS * slot)) & ((1 << TAG_BITS) - 1);
        sound &= tag == tag(Hashing.mix(Memory.getLong(base + at + 8L * slot)));
      }
      ids += count;
    }
    return sound && ids == size;
  }
}
