package dev.tern.internal.table.index;

import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;

/**
 * A hash table from 64-bit ids to row numbers in one block of memory, which doubles as it fills up.
 * It is the whole of a small {@link IdIndex} and the overflow of an {@link IdSegment}. The low bits
 * of an id's hash pick its bucket. A bucket is one cache line of 5 slots:
 *
 * <pre>
 * byte 0   5 ids (8 bytes each)
 * byte 40  their 5 row numbers (4 bytes each)
 * byte 60  bits 0-29: 6 bits for each slot, its tag: 0 if the slot is empty, else bits of the hash
 *          bit 30: an id of this bucket lies in a later bucket
 * </pre>
 *
 * Slots fill in order. An id whose bucket is full goes to the next bucket with a free slot. The tag
 * marks an empty slot, so every id is legal. A bucket with bit 30 is always full: {@link #erase}
 * moves an id back into the slot that it frees.
 */
final class FlatIndex {
  private static final int LINE_SHIFT = 6;
  static final int LINE = 1 << LINE_SHIFT;
  static final int SLOTS = 5;
  private static final int ROWS = 40;
  static final int META = 60;
  static final int PASSED_ON = 1 << 30;
  static final int TAG_BITS = 6;

  /** First bit of the tag in the hash; buckets and segments are picked by lower bits. */
  private static final int TAG_SHIFT = 48;

  private static final int EVERY_TAG = 0b000001_000001_000001_000001_000001;
  private static final int LOW_BITS = 0b011111 * EVERY_TAG;
  private static final int HIGH_BITS = 0b100000 * EVERY_TAG;

  /** A bit above the tags: it stands for a slot after the last. */
  private static final int AFTER_TAGS = 1 << TAG_BITS * SLOTS;

  /** Bit of a result of {@link #look}: search the id in other slots and buckets. */
  private static final int ELSEWHERE = 32;

  private final Allocator allocator;
  private final String holder;
  long base;
  private int buckets;
  private int size;

  /** Sum over all ids of how many buckets they lie behind the one that their hash picks. */
  long passed;

  /** An empty index; {@code buckets} is a power of two. */
  FlatIndex(Allocator allocator, String holder, int buckets) {
    this.allocator = allocator;
    this.holder = holder;
    this.buckets = buckets;
    base = allocator.allocate(bytes(), holder);
    for (long at = 0; at <= mask(); at += LINE) {
      Memory.setInt(base + at + META, 0);
    }
  }

  /** The most bytes held while an index grows from {@code leastBuckets} buckets to so many ids. */
  static long mostBytes(long ids, int leastBuckets) {
    return 3L * LINE * Math.max(ids / (SLOTS - 1) + 1, leastBuckets);
  }

  int size() {
    return size;
  }

  /** Buckets read if each id is found once. */
  long probes() {
    return size + passed;
  }

  int buckets() {
    return buckets;
  }

  long bytes() {
    return (long) buckets << LINE_SHIFT;
  }

  long mask() {
    return bytes() - LINE;
  }

  /** Buckets from one offset to another, around the end. */
  long distance(long from, long to) {
    return ((to - from) & mask()) >>> LINE_SHIFT;
  }

  /** The most ids before an {@link IdIndex} grows it: 4 of 5 slots in use. */
  int limit() {
    return buckets * (SLOTS - 1);
  }

  /** Makes room for {@code more} ids: after them at least every tenth slot is still free. */
  void reserve(int more) {
    while (size + more > buckets * SLOTS - buckets / 2) {
      grow();
    }
  }

  void grow() {
    FlatIndex larger = new FlatIndex(allocator, holder, 2 * buckets);
    forEachEntry((id, row) -> larger.put(Hashing.mix(id), id, row));
    free();
    base = larger.base;
    buckets = larger.buckets;
    size = larger.size;
    passed = larger.passed;
  }

  void free() {
    allocator.free(base);
    buckets = 0;
    size = 0;
    passed = 0;
  }

  static int tag(long hash) {
    int bits = (int) (hash >>> TAG_SHIFT) & ((1 << TAG_BITS) - 1);
    return bits - ((bits - 1) >> 31);
  }

  /** Sets the high bit of tag i if slot i holds the tag that {@code tags} repeats. */
  private static int slotsTagged(int meta, int tags) {
    int differ = meta ^ tags;
    return ~(((differ & LOW_BITS) + LOW_BITS) | differ) & HIGH_BITS;
  }

  /** Slots in use. */
  static int count(int meta) {
    int tags = meta & (LOW_BITS | HIGH_BITS);
    return (Integer.SIZE + TAG_BITS - 1 - Integer.numberOfLeadingZeros(tags)) / TAG_BITS;
  }

  void find(IdBatch batch, int from, int to) {
    locate(batch, from, to);
    int count = look(batch, from, to);
    for (int k = 0; k < count; k++) {
      int i = batch.far.indexes[k];
      batch.rows[i] = find(batch.hashes[i], batch.ids[i]);
    }
  }

  /** Notes the address of each id's bucket, and loads from it. */
  void locate(IdBatch batch, int from, int to) {
    long[] lines = batch.lines;
    long[] hashes = batch.hashes;
    long mask = mask();
    int sum = 0;
    for (int i = from; i < to; i++) {
      long line = base + ((hashes[i] << LINE_SHIFT) & mask);
      lines[i - from] = line;
      sum += Memory.getInt(line + META);
    }
    batch.touched = sum;
  }

  /** Searches each id in its bucket; returns how many ids may lie elsewhere. */
  private static int look(IdBatch batch, int from, int to) {
    long[] lines = batch.lines;
    long[] hashes = batch.hashes;
    long[] ids = batch.ids;
    int[] rows = batch.rows;
    int[] open = batch.far.indexes;
    int count = 0;
    for (int i = from; i < to; i++) {
      long found = look(lines[i - from], hashes[i], ids[i]);
      rows[i] = (int) found;
      open[count] = i;
      count += (int) (found >>> ELSEWHERE);
    }
    return count;
  }

  /**
   * Searches an id at the first slot of a bucket that has its tag. It has no branches, because the
   * processor cannot predict which slot that is.
   *
   * @return in the low half the row number, or -1 if the id is not there; with -1, bit {@link
   *     #ELSEWHERE} is set if the id may be in another slot or bucket
   */
  private static long look(long line, long hash, long id) {
    int meta = Memory.getInt(line + META);
    int slots = slotsTagged(meta, tag(hash) * EVERY_TAG);
    int slot = Integer.numberOfTrailingZeros(slots | AFTER_TAGS) / TAG_BITS;
    long differ = Memory.getLong(line + 8L * slot) ^ id;
    int miss = ((slots - 1) >> 31) | (int) ((differ | -differ) >> 63);
    int row = Memory.getInt(line + ROWS + 4L * slot) | miss;
    int elsewhere = miss & ((meta & PASSED_ON) | (slots & (slots - 1)));
    return (row & 0xFFFFFFFFL) | (long) (-elsewhere >>> 31) << ELSEWHERE;
  }

  /** Loads from the bucket of an id. */
  int load(long hash) {
    return Memory.getInt(base + ((hash << LINE_SHIFT) & mask()) + META);
  }

  int find(long hash, long id) {
    long mask = mask();
    for (long at = (hash << LINE_SHIFT) & mask; ; at = (at + LINE) & mask) {
      long line = base + at;
      int slot = slotOf(line, hash, id);
      if (slot < SLOTS) {
        return Memory.getInt(line + ROWS + 4L * slot);
      }
      if ((Memory.getInt(line + META) & PASSED_ON) == 0) {
        return -1;
      }
    }
  }

  /** Adds an id that is not there, in the first bucket with a free slot. */
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
      passed++;
    }
  }

  /**
   * Removes an id that is there. If its bucket passed ids on, one of them moves back into the free
   * slot; its own slot is then filled in the same way. So a bucket that passes ids on stays full.
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
    passed -= distance(home, at);
    long found = backfill(at, slot);
    while (found >= 0) {
      passed -= distance(at, found);
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

  /** The slot of an id in a bucket, or {@link #SLOTS}. */
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
   * Fills a slot: with an id that the bucket passed on, or else with the last id of the bucket.
   *
   * @return where the id came from, the offset of its bucket plus its slot, to be filled next; -1
   *     if it was the last of this bucket
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

  private static void removeSlot(long line) {
    int meta = Memory.getInt(line + META);
    int mask = ((1 << TAG_BITS) - 1) << (TAG_BITS * (count(meta) - 1));
    Memory.setInt(line + META, meta & ~(mask | PASSED_ON));
  }

  /** Where the first id lies that a bucket passed on: offset of its bucket plus slot; or -1. */
  long firstPassed(long at) {
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

  void forEachEntry(IdIndex.EntrySink sink) {
    for (long line = base; line < base + bytes(); line += LINE) {
      int count = count(Memory.getInt(line + META));
      for (int slot = 0; slot < count; slot++) {
        sink.accept(Memory.getLong(line + 8L * slot), Memory.getInt(line + ROWS + 4L * slot));
      }
    }
  }

  void forEachRow(int first, int width, IdIndex.RowSink sink) {
    int every = 1 << IdIndex.BUCKET_BITS;
    for (int from = first; from < Math.max(buckets, every); from += every) {
      forEachRow(from, width, Math.max(buckets, every) - 1, sink);
    }
  }

  private void forEachRow(int first, int width, int bits, IdIndex.RowSink sink) {
    boolean passed = false;
    for (int k = 0; k < buckets && (k < width || passed); k++) {
      long line = base + ((long) (first + k) << LINE_SHIFT & mask());
      int meta = Memory.getInt(line + META);
      int count = count(meta);
      for (int slot = 0; slot < count; slot++) {
        long hash = Hashing.mix(Memory.getLong(line + 8L * slot));
        int home = (int) hash & bits;
        if (home >= first && home < first + width) {
          sink.accept(hash, Memory.getInt(line + ROWS + 4L * slot));
        }
      }
      passed = (meta & PASSED_ON) != 0;
    }
  }
}
