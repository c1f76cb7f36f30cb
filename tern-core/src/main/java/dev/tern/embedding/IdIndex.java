package dev.tern.embedding;

import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import java.util.Arrays;

/**
 * 64-bit id to row number, for whole batches. Extendible hashing: the high bits of an id's hash
 * pick a segment through a directory, the low bits a bucket of it. A bucket is one cache line:
 *
 * <pre>
 * byte 0   5 ids (8 bytes each)
 * byte 40  their 5 row numbers (4 bytes each)
 * byte 60  bits 0-29: a tag per slot, 6 bits of its id's hash but never 0; 0 where the slot is empty
 *          bit 30: an id that belongs here lies in a later bucket
 * </pre>
 *
 * A full bucket passes ids on to the next one. No id is reserved: a slot is empty because its tag
 * says so. A bucket that passes ids on is full, also after ids were erased. A segment doubles until
 * it has {@link #MAX_BUCKETS} buckets, then splits in two, so growth never touches more than one
 * segment at a time. As ids spread evenly, all segments fill up at about the same time; between two
 * splits there are {@link #SPLIT_EVERY} inserts all the same, while the rest fill a little further.
 */
final class IdIndex {
  private static final int LINE_SHIFT = 6;
  private static final int LINE = 1 << LINE_SHIFT;
  private static final int SLOTS = 5;
  private static final int ROWS = 40;
  private static final int META = 60;
  private static final int PASSED_ON = 1 << 30;
  private static final int TAG_BITS = 6;

  /** Bits of the hash beside those that find segment and bucket. */
  private static final int TAG_SHIFT = 27;

  private static final int EVERY_TAG = 0b000001_000001_000001_000001_000001;
  private static final int LOW_BITS = 0b011111 * EVERY_TAG;
  private static final int HIGH_BITS = 0b100000 * EVERY_TAG;

  /** A bit above the tags, to stand for slot {@link #SLOTS}. */
  private static final int AFTER_TAGS = 1 << TAG_BITS * SLOTS;

  private static final int ELSEWHERE = 32;

  /** Low bits of a hash that find its bucket, in the largest segments: huge pages of memory. */
  static final int BUCKET_BITS = 15;

  private static final int MAX_BUCKETS = 1 << BUCKET_BITS;

  /** Inserts between two splits, each of which costs as much as some thousand of them. */
  private static final int SPLIT_EVERY = 4096;

  /** Ids whose cache lines are asked for before the first of them is needed. */
  private static final int GROUP = 256;

  private final Allocator allocator;
  private final String holder;
  private int depth;
  private Segment[] segments;

  /** Per prefix: address of the segment, then its size in bytes less one line. */
  private long[] directory;

  private long size;
  private long bytes;
  private long insertsSinceSplit;

  private static final class Segment {
    final long base;
    final int buckets;
    final int prefixBits;
    int size;

    Segment(long base, int buckets, int prefixBits) {
      this.base = base;
      this.buckets = buckets;
      this.prefixBits = prefixBits;
    }

    /** Ids before it must grow: 4 of 5 slots. */
    int limit() {
      return buckets * (SLOTS - 1);
    }

    /** Ids before it must grow even if another one has just grown. */
    int lastLimit() {
      return limit() + buckets / 4;
    }

    long mask() {
      return (buckets - 1L) << LINE_SHIFT;
    }
  }

  IdIndex(Allocator allocator, String holder) {
    this.allocator = allocator;
    this.holder = holder;
    Segment first = newSegment(1 << 4, 0);
    segments = new Segment[] {first};
    directory = new long[] {first.base, first.mask()};
  }

  static long hash(long id) {
    return Hashing.mix(id);
  }

  /** Bytes that an index of so many ids takes at most, while it grows. */
  static long mostBytes(int ids) {
    long segment = (long) MAX_BUCKETS << LINE_SHIFT;
    long growing = 12L * LINE * ids / (SLOTS - 1) / 4 + 3 * (LINE << 4);
    long splitting = 2L * LINE * ids / (SLOTS - 1) + 4 * segment;
    return Math.min(growing, splitting);
  }

  long size() {
    return size;
  }

  long bytes() {
    return bytes;
  }

  /**
   * Row numbers of a lookup's distinct ids, -1 where there is none. In groups, so that cache misses
   * overlap: where is each id's bucket, load from each of them, look into each; then the same for
   * the few ids that may lie in the next one. Uses the lookup's addresses and missing as scratch.
   */
  void find(Lookup lookup) {
    long[] hashes = lookup.hashes;
    long[] lines = lookup.addresses;
    int[] open = lookup.missing;
    int count = lookup.unique();
    for (int from = 0; from < count; from += GROUP) {
      int to = Math.min(count, from + GROUP);
      locate(directory, depth, hashes, from, to, lines);
      lookup.touched = touch(lines, from, to);
      int end = look(lookup, from, to);
      locateNext(directory, depth, hashes, open, from, end, lines);
      lookup.touched = touch(lines, from, end);
      end = lookNext(lookup, from, end);
      for (int k = from; k < end; k++) {
        int i = open[k];
        lookup.rows[i] = find(hashes[i], lookup.ids[i]);
      }
    }
  }

  /**
   * Loads the buckets of a lookup's distinct ids, none of which is there, so that the cache misses
   * of their inserts overlap. Uses the lookup's addresses as scratch.
   */
  void touch(Lookup lookup) {
    int count = lookup.unique();
    locate(directory, depth, lookup.hashes, 0, count, lookup.addresses);
    lookup.touched = touch(lookup.addresses, 0, count);
  }

  private static void locate(
      long[] directory, int depth, long[] hashes, int from, int to, long[] lines) {
    for (int i = from; i < to; i++) {
      long hash = hashes[i];
      int entry = prefix(hash, depth) << 1;
      lines[i] = directory[entry] + ((hash << LINE_SHIFT) & directory[entry + 1]);
    }
  }

  /** The buckets after those of {@code open[from .. to)}. */
  private static void locateNext(
      long[] directory, int depth, long[] hashes, int[] open, int from, int to, long[] lines) {
    for (int k = from; k < to; k++) {
      long hash = hashes[open[k]];
      int entry = prefix(hash, depth) << 1;
      lines[k] = directory[entry] + (((hash << LINE_SHIFT) + LINE) & directory[entry + 1]);
    }
  }

  private static int touch(long[] lines, int from, int to) {
    int sum = 0;
    for (int i = from; i < to; i++) {
      sum += Memory.getInt(lines[i] + META);
    }
    return sum;
  }

  /**
   * Looks for each id in its bucket.
   *
   * @return end of the list, from index {@code from} of missing on, of ids that may be elsewhere
   */
  private static int look(Lookup lookup, int from, int to) {
    long[] lines = lookup.addresses;
    long[] hashes = lookup.hashes;
    long[] ids = lookup.ids;
    int[] rows = lookup.rows;
    int[] open = lookup.missing;
    int end = from;
    for (int i = from; i < to; i++) {
      long found = look(lines[i], hashes[i], ids[i]);
      rows[i] = (int) found;
      open[end] = i;
      end += (int) (found >>> ELSEWHERE);
    }
    return end;
  }

  /** Looks for each id listed in the bucket located for it; shortens the list. */
  private static int lookNext(Lookup lookup, int from, int to) {
    long[] lines = lookup.addresses;
    int[] open = lookup.missing;
    int end = from;
    for (int k = from; k < to; k++) {
      int i = open[k];
      int row = (int) look(lines[k], lookup.hashes[i], lookup.ids[i]);
      lookup.rows[i] = row;
      open[end] = i;
      end += row >>> 31;
    }
    return end;
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
    int entry = prefix(hash, depth) << 1;
    long base = directory[entry];
    long mask = directory[entry + 1];
    int tags = tag(hash) * EVERY_TAG;
    for (long at = (hash << LINE_SHIFT) & mask; ; at = (at + LINE) & mask) {
      long line = base + at;
      int meta = Memory.getInt(line + META);
      for (int slots = slotsTagged(meta, tags); slots != 0; slots &= slots - 1) {
        int slot = Integer.numberOfTrailingZeros(slots) / TAG_BITS;
        if (Memory.getLong(line + 8L * slot) == id) {
          return Memory.getInt(line + ROWS + 4L * slot);
        }
      }
      if ((meta & PASSED_ON) == 0) {
        return -1;
      }
    }
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

  private int prefix(long hash) {
    return prefix(hash, depth);
  }

  private static int prefix(long hash, int depth) {
    return (int) ((hash >>> 1) >>> (63 - depth));
  }

  /** Makes sure that {@link #insert} of an id with this hash will not need memory. */
  void reserve(long hash) {
    while (true) {
      Segment segment = segments[prefix(hash)];
      if (segment.size < segment.limit() || mayWait(segment)) {
        return;
      }
      grow(segment, prefix(hash));
    }
  }

  private boolean mayWait(Segment segment) {
    return segment.buckets == MAX_BUCKETS
        && insertsSinceSplit < SPLIT_EVERY
        && segment.size < segment.lastLimit();
  }

  /** Adds an id that is not there, after {@link #reserve}. */
  void insert(long hash, long id, int row) {
    Segment segment = segments[prefix(hash)];
    put(segment, hash, id, row);
    size++;
    insertsSinceSplit++;
  }

  private static void put(Segment segment, long hash, long id, int row) {
    long mask = segment.mask();
    long at = (hash << LINE_SHIFT) & mask;
    while (true) {
      long line = segment.base + at;
      int meta = Memory.getInt(line + META);
      int count = count(meta);
      if (count < SLOTS) {
        Memory.setLong(line + 8L * count, id);
        Memory.setInt(line + ROWS + 4L * count, row);
        Memory.setInt(line + META, meta | (tag(hash) << (TAG_BITS * count)));
        segment.size++;
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
    Segment segment = segments[prefix(hash)];
    long mask = segment.mask();
    long home = (hash << LINE_SHIFT) & mask;
    long at = home;
    int slot = slotOf(segment.base + at, hash, id);
    while (slot == SLOTS) {
      at = (at + LINE) & mask;
      slot = slotOf(segment.base + at, hash, id);
    }
    long found = backfill(segment, at, slot);
    while (found >= 0) {
      at = found & mask;
      found = backfill(segment, at, (int) found & (LINE - 1));
    }
    removeSlot(segment.base + at);
    for (long line = home; line != at; line = (line + LINE) & mask) {
      int meta = Memory.getInt(segment.base + line + META);
      if (firstPassed(segment, line) < 0) {
        Memory.setInt(segment.base + line + META, meta & ~PASSED_ON);
      }
    }
    segment.size--;
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
  private static long backfill(Segment segment, long at, int slot) {
    long line = segment.base + at;
    int meta = Memory.getInt(line + META);
    long passed = (meta & PASSED_ON) == 0 ? -1 : firstPassed(segment, at);
    long from = passed < 0 ? line : segment.base + (passed & segment.mask());
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
  private static long firstPassed(Segment segment, long at) {
    long mask = segment.mask();
    long before = at;
    do {
      long next = (before + LINE) & mask;
      int count = count(Memory.getInt(segment.base + next + META));
      for (int slot = 0; slot < count; slot++) {
        long home = (hash(Memory.getLong(segment.base + next + 8L * slot)) << LINE_SHIFT) & mask;
        if (((next - home) & mask) >= ((next - at) & mask)) {
          return next + slot;
        }
      }
      before = next;
    } while (before != at && (Memory.getInt(segment.base + before + META) & PASSED_ON) != 0);
    return -1;
  }

  private Segment newSegment(int buckets, int prefixBits) {
    long length = (long) buckets << LINE_SHIFT;
    long base = allocator.allocate(length, holder);
    bytes += length;
    for (long line = base; line < base + length; line += LINE) {
      Memory.setInt(line + META, 0);
    }
    return new Segment(base, buckets, prefixBits);
  }

  private void grow(Segment old, int prefix) {
    if (old.buckets < MAX_BUCKETS) {
      Segment larger = newSegment(2 * old.buckets, old.prefixBits);
      replace(old, prefix, larger, larger);
    } else {
      if (old.prefixBits == depth) {
        doubleDirectory();
        prefix <<= 1;
      }
      Segment low = newSegment(MAX_BUCKETS, old.prefixBits + 1);
      Segment high;
      try {
        high = newSegment(MAX_BUCKETS, old.prefixBits + 1);
      } catch (RuntimeException | Error e) {
        release(low);
        throw e;
      }
      replace(old, prefix, low, high);
      insertsSinceSplit = 0;
    }
  }

  /** Makes room for about {@code ids} at once, where there are none yet: they need no split. */
  void expect(long ids) {
    int bits = 0;
    while (ids >> bits > (long) MAX_BUCKETS * (SLOTS - 1)) {
      bits++;
    }
    if (size > 0 || bits <= depth) {
      return;
    }
    Segment[] fresh = new Segment[1 << bits];
    int made = 0;
    try {
      for (; made < fresh.length; made++) {
        fresh[made] = newSegment(MAX_BUCKETS, bits);
      }
    } catch (RuntimeException | Error e) {
      Arrays.stream(fresh, 0, made).forEach(this::release);
      throw e;
    }
    free();
    depth = bits;
    segments = fresh;
    directory = new long[2 * fresh.length];
    for (int prefix = 0; prefix < fresh.length; prefix++) {
      setEntry(prefix, fresh[prefix]);
    }
  }

  /** Moves the ids of {@code old} by the next bit of their hash to {@code low} or {@code high}. */
  private void replace(Segment old, int prefix, Segment low, Segment high) {
    for (long line = old.base; line < old.base + ((long) old.buckets << LINE_SHIFT); line += LINE) {
      int count = count(Memory.getInt(line + META));
      for (int slot = 0; slot < count; slot++) {
        long id = Memory.getLong(line + 8L * slot);
        long hash = hash(id);
        boolean up = ((hash << old.prefixBits) < 0);
        put(up ? high : low, hash, id, Memory.getInt(line + ROWS + 4L * slot));
      }
    }
    int entries = 1 << (depth - old.prefixBits);
    int first = prefix & -entries;
    for (int i = 0; i < entries; i++) {
      setEntry(first + i, 2 * i < entries ? low : high);
    }
    release(old);
  }

  private void setEntry(int prefix, Segment segment) {
    segments[prefix] = segment;
    directory[2 * prefix] = segment.base;
    directory[2 * prefix + 1] = segment.mask();
  }

  private void doubleDirectory() {
    Segment[] before = segments;
    segments = new Segment[2 * before.length];
    directory = new long[4 * before.length];
    depth++;
    for (int i = 0; i < segments.length; i++) {
      setEntry(i, before[i >> 1]);
    }
  }

  private void release(Segment segment) {
    allocator.free(segment.base);
    bytes -= (long) segment.buckets << LINE_SHIFT;
  }

  /** Takes ids one at a time. */
  @FunctionalInterface
  interface IdSink {
    void accept(long id);
  }

  /** Takes ids with their rows one at a time. */
  @FunctionalInterface
  interface EntrySink {
    void accept(long id, int row);
  }

  /**
   * Gives ids whose hashes, as unsigned numbers, are from {@code from} on, those of one segment, in
   * no useful order.
   *
   * @param from 0, or what was returned
   * @return where to go on; 0 at the end
   */
  long forEachEntry(long from, EntrySink sink) {
    int prefix = prefix(from);
    Segment segment = segments[prefix];
    long end = segment.base + ((long) segment.buckets << LINE_SHIFT);
    for (long line = segment.base; line < end; line += LINE) {
      int count = count(Memory.getInt(line + META));
      for (int slot = 0; slot < count; slot++) {
        sink.accept(Memory.getLong(line + 8L * slot), Memory.getInt(line + ROWS + 4L * slot));
      }
    }
    long next = prefix + (1L << (depth - segment.prefixBits));
    return next == segments.length ? 0 : (next << 1) << (63 - depth);
  }

  /** Takes rows one at a time. */
  @FunctionalInterface
  interface RowSink {
    void accept(long hash, int row);
  }

  /**
   * Gives every row once of whose id's hash the low {@link #BUCKET_BITS} bits are from {@code
   * first} to {@code first + width - 1}, powers of two apart.
   */
  void forEachRow(int first, int width, RowSink sink) {
    for (int prefix = 0; prefix < segments.length; ) {
      Segment segment = segments[prefix];
      forEachRow(segment, first, width, sink);
      prefix += 1 << (depth - segment.prefixBits);
    }
  }

  private static void forEachRow(Segment segment, int first, int width, RowSink sink) {
    boolean passed = false;
    for (int k = 0; k < segment.buckets && (k < width || passed); k++) {
      long line = segment.base + ((long) (first + k) << LINE_SHIFT & segment.mask());
      int meta = Memory.getInt(line + META);
      int count = count(meta);
      for (int slot = 0; slot < count; slot++) {
        long hash = hash(Memory.getLong(line + 8L * slot));
        int bits = (int) hash & (MAX_BUCKETS - 1);
        if (bits >= first && bits < first + width) {
          sink.accept(hash, Memory.getInt(line + ROWS + 4L * slot));
        }
      }
      passed = (meta & PASSED_ON) != 0;
    }
  }

  /**
   * Checks what every operation keeps true: slots fill in order, tags are those of their ids, sizes
   * add up, and a bucket says that it passes ids on exactly where it does, and is full then. For
   * tests.
   */
  void requireSound() {
    long sum = 0;
    for (int prefix = 0; prefix < segments.length; ) {
      Segment segment = segments[prefix];
      prefix += 1 << (depth - segment.prefixBits);
      int ids = 0;
      for (long at = 0; at <= segment.mask(); at += LINE) {
        int count = count(Memory.getInt(segment.base + at + META));
        ids += count;
        requireSound(segment, at, count);
      }
      if (ids != segment.size) {
        throw new IllegalStateException(holder + ": got " + ids + " ids in " + segment.size);
      }
      sum += ids;
    }
    if (sum != size) {
      throw new IllegalStateException(holder + ": got " + sum + " ids, expected " + size);
    }
  }

  private void requireSound(Segment segment, long at, int count) {
    long line = segment.base + at;
    int meta = Memory.getInt(line + META);
    boolean passes = (meta & PASSED_ON) != 0;
    boolean sound = passes == firstPassed(segment, at) >= 0 && (!passes || count == SLOTS);
    for (int slot = 0; slot < count; slot++) {
      int tag = (meta >>> (TAG_BITS * slot)) & ((1 << TAG_BITS) - 1);
      sound &= tag == tag(hash(Memory.getLong(line + 8L * slot)));
    }
    if (!sound) {
      throw new IllegalStateException(holder + ": got a damaged bucket at byte " + at);
    }
  }

  void free() {
    for (int prefix = 0; prefix < segments.length; ) {
      Segment segment = segments[prefix];
      prefix += 1 << (depth - segment.prefixBits);
      release(segment);
    }
    segments = new Segment[0];
    directory = new long[0];
    size = 0;
  }
}
