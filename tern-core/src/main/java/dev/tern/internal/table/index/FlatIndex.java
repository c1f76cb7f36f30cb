package dev.tern.internal.table.index;

import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;

/**
 * 64-bit id to row number in one piece of memory, which doubles as it fills up: an {@link IdIndex}
 * of few ids, and what has no place in an {@link IdSegment}. The low bits of a hash pick a bucket,
 * which is one cache line:
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
final class FlatIndex {
  private static final int LINE_SHIFT = 6;
  private static final int LINE = 1 << LINE_SHIFT;
  private static final int SLOTS = 5;
  private static final int ROWS = 40;
  private static final int META = 60;
  private static final int PASSED_ON = 1 << 30;
  private static final int TAG_BITS = 6;

  /** Bits of the hash that find neither a bucket nor a segment. */
  private static final int TAG_SHIFT = 48;

  private static final int EVERY_TAG = 0b000001_000001_000001_000001_000001;
  private static final int LOW_BITS = 0b011111 * EVERY_TAG;
  private static final int HIGH_BITS = 0b100000 * EVERY_TAG;

  /** A bit above the tags, to stand for a slot after the last. */
  private static final int AFTER_TAGS = 1 << TAG_BITS * SLOTS;

  private static final int ELSEWHERE = 32;

  private final Allocator allocator;
  private final String holder;
  private long base;
  private int buckets;
  private int size;

  /** By how many buckets ids lie after the one that their hash picks, all together. */
  private long passed;

  /** An empty one; {@code buckets} is a power of two. */
  FlatIndex(Allocator allocator, String holder, int buckets) {
    this.allocator = allocator;
    this.holder = holder;
    this.buckets = buckets;
    base = allocator.allocate(bytes(), holder);
    for (long at = 0; at <= mask(); at += LINE) {
      Memory.setInt(base + at + META, 0);
    }
  }

  /** Bytes that one of so many ids, of {@code leastBuckets} at first, takes at most as it grows. */
  static long mostBytes(long ids, int leastBuckets) {
    return 3L * LINE * Math.max(ids / (SLOTS - 1) + 1, leastBuckets);
  }

  int size() {
    return size;
  }

  /** Buckets that are read where each of its ids is found once. */
  long probes() {
    return size + passed;
  }

  int buckets() {
    return buckets;
  }

  long bytes() {
    return (long) buckets << LINE_SHIFT;
  }

  private long mask() {
    return bytes() - LINE;
  }

  /** Buckets from one offset on to another. */
  private long distance(long from, long to) {
    return ((to - from) & mask()) >>> LINE_SHIFT;
  }

  /** Ids that 4 of 5 slots have room for. */
  int limit() {
    return buckets * (SLOTS - 1);
  }

  /** Makes sure that {@link #put} will not fill up the last bucket, nor {@code more} of them. */
  void reserve(int more) {
    while (size + more > buckets * SLOTS - buckets / 2) {
      grow();
    }
  }

  /** Doubles. */
  void grow() {
    FlatIndex larger = new FlatIndex(allocator, holder, 2 * buckets);
    forEachEntry((id, row) -> larger.put(Hashing.mix(id), id, row));
    free();
    base = larger.base;
    buckets = larger.buckets;
    size = larger.size;
    passed = larger.passed;
  }

  /** Gives the memory back; of use once. */
  void free() {
    allocator.free(base);
    buckets = 0;
    size = 0;
    passed = 0;
  }

  private static int tag(long hash) {
    int bits = (int) (hash >>> TAG_SHIFT) & ((1 << TAG_BITS) - 1);
    return bits - ((bits - 1) >> 31);
  }

  /** The high bit of tag i is set where slot i holds the tag of {@code tags}. */
  private static int slotsTagged(int meta, int tags) {
    int differ = meta ^ tags;
    return ~(((differ & LOW_BITS) + LOW_BITS) | differ) & HIGH_BITS;
  }

  /** Slots in use; they fill in order. */
  private static int count(int meta) {
    int tags = meta & (LOW_BITS | HIGH_BITS);
    return (Integer.SIZE + TAG_BITS - 1 - Integer.numberOfLeadingZeros(tags)) / TAG_BITS;
  }

  /** {@link IdIndex#find(IdBatch, int, int)} of its ids. */
  void find(IdBatch batch, int from, int to) {
    locate(batch, from, to);
    int count = look(batch, from, to);
    for (int k = 0; k < count; k++) {
      int i = batch.elsewhere[k];
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

  /** Looks for each id in its bucket; returns how many ids may lie elsewhere. */
  private static int look(IdBatch batch, int from, int to) {
    long[] lines = batch.lines;
    long[] hashes = batch.hashes;
    long[] ids = batch.ids;
    int[] rows = batch.rows;
    int[] open = batch.elsewhere;
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
   * Looks for an id in one bucket, at the first slot with its tag. Without branches, as which slot
   * it is cannot be predicted.
   *
   * @return in the low half the row number or -1; bit {@link #ELSEWHERE} where there is none and it
   *     may be in another slot or bucket
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

  /** Row number of an id, -1 where there is none. */
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
      passed++;
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

  /**
   * Whether slots fill in order, tags are those of their ids, the numbers of ids and of buckets
   * between are right, and a bucket says that it passes ids on exactly where it does, and is full
   * then.
   */
  boolean isSound() {
    int ids = 0;
    long between = 0;
    boolean sound = true;
    for (long at = 0; at <= mask(); at += LINE) {
      int meta = Memory.getInt(base + at + META);
      int count = count(meta);
      boolean passes = (meta & PASSED_ON) != 0;
      sound &= passes == firstPassed(at) >= 0 && (!passes || count == SLOTS);
      for (int slot = 0; slot < count; slot++) {
        int tag = (meta >>> (TAG_BITS * slot)) & ((1 << TAG_BITS) - 1);
        long hash = Hashing.mix(Memory.getLong(base + at + 8L * slot));
        sound &= tag == tag(hash);
        between += distance(hash << LINE_SHIFT, at);
      }
      ids += count;
    }
    return sound && ids == size && between == passed;
  }
}
