package dev.tern.embedding;

import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.memory.OutOfBudgetException;
import java.util.Arrays;

/**
 * 64-bit id to row number, for whole batches. Extendible hashing: the high bits of an id's hash
 * pick an {@link IdSegment} through a directory. A segment doubles until it has {@link
 * #MAX_BUCKETS} buckets, then splits in two, so growth never touches more than one segment at a
 * time. As ids spread evenly, all segments fill up at about the same time; between two splits there
 * are {@link #SPLIT_EVERY} inserts all the same, while the rest fill a little further. No id is
 * reserved.
 */
final class IdIndex {
  private static final int LINE_SHIFT = IdSegment.LINE_SHIFT;
  private static final int LINE = IdSegment.LINE;
  private static final int SLOTS = IdSegment.SLOTS;
  private static final int ROWS = IdSegment.ROWS;
  private static final int META = IdSegment.META;
  private static final int PASSED_ON = IdSegment.PASSED_ON;
  private static final int TAG_BITS = IdSegment.TAG_BITS;

  /** A bit above the tags, to stand for a slot after the last. */
  private static final int AFTER_TAGS = 1 << TAG_BITS * SLOTS;

  private static final int ELSEWHERE = 32;

  /** Low bits of a hash that find its bucket, in the largest segments: huge pages of memory. */
  static final int BUCKET_BITS = 15;

  private static final int MAX_BUCKETS = 1 << BUCKET_BITS;

  /** Inserts between two splits, each of which costs as much as some thousand of them. */
  private static final int SPLIT_EVERY = 4096;

  /** Ids whose cache lines are asked for before the first of them is needed. */
  private static final int GROUP = 256;

  /** Buckets of a segment that has room for a group beyond its limit. */
  private static final int GROUP_BUCKETS = 16 * GROUP;

  private final Allocator allocator;
  private final String holder;
  private int depth;
  private IdSegment[] segments;

  /** Per prefix: address of the segment, then its size in bytes less one line. */
  private long[] directory;

  private long size;
  private long bytes;
  private long insertsSinceSplit;
  private final SegmentSplit split = new SegmentSplit();

  IdIndex(Allocator allocator, String holder) {
    this.allocator = allocator;
    this.holder = holder;
    IdSegment first = emptySegment(1 << 4, 0);
    segments = new IdSegment[] {first};
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
    int slots = IdSegment.slotsTagged(meta, IdSegment.tag(hash) * IdSegment.EVERY_TAG);
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
    int tags = IdSegment.tag(hash) * IdSegment.EVERY_TAG;
    for (long at = (hash << LINE_SHIFT) & mask; ; at = (at + LINE) & mask) {
      long line = base + at;
      int meta = Memory.getInt(line + META);
      for (int slots = IdSegment.slotsTagged(meta, tags); slots != 0; slots &= slots - 1) {
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

  private int prefix(long hash) {
    return prefix(hash, depth);
  }

  private static int prefix(long hash, int depth) {
    return (int) ((hash >>> 1) >>> (63 - depth));
  }

  /** Makes sure that {@link #insert} of an id with this hash will not need memory. */
  void reserve(long hash) {
    while (true) {
      IdSegment segment = segments[prefix(hash)];
      if (segment.size < segment.limit() || mayWait(segment)) {
        return;
      }
      grow(segment, prefix(hash));
    }
  }

  private boolean mayWait(IdSegment segment) {
    return segment.buckets == MAX_BUCKETS
        && insertsSinceSplit < SPLIT_EVERY
        && segment.size < segment.lastLimit();
  }

  /**
   * Adds the first {@code count} of a lookup's missing ids, none of which is there, with their
   * rows. In groups, as in {@link #find}: what a segment that splits takes of the caches is loaded
   * again at once. If memory ends, the first of them are in, as many as the size says.
   */
  void insert(Lookup lookup, int count) {
    for (int from = 0; from < count; from += GROUP) {
      int to = Math.min(count, from + GROUP);
      if (depth == 0 && segments[0].buckets < GROUP_BUCKETS) {
        for (int i = from; i < to; i++) {
          int u = lookup.missing[i];
          reserve(lookup.hashes[u]);
          insert(lookup.hashes[u], lookup.ids[u], lookup.rows[u]);
        }
      } else {
        insertGroup(lookup, from, to);
      }
    }
  }

  /** Has all room made first, so that a segment may take some more ids than it should. */
  private void insertGroup(Lookup lookup, int from, int to) {
    int[] missing = lookup.missing;
    for (int i = from; i < to; i++) {
      reserve(lookup.hashes[missing[i]]);
    }
    int sum = 0;
    for (int i = from; i < to; i++) {
      long hash = lookup.hashes[missing[i]];
      int entry = prefix(hash) << 1;
      long line = directory[entry] + ((hash << LINE_SHIFT) & directory[entry + 1]);
      sum += Memory.getInt(line + META);
    }
    lookup.touched = sum;
    for (int i = from; i < to; i++) {
      int u = missing[i];
      insert(lookup.hashes[u], lookup.ids[u], lookup.rows[u]);
    }
  }

  /** Adds an id that is not there, after {@link #reserve}. */
  void insert(long hash, long id, int row) {
    segments[prefix(hash)].put(hash, id, row);
    size++;
    insertsSinceSplit++;
  }

  /** Takes an id out that is there. */
  void erase(long hash, long id) {
    segments[prefix(hash)].erase(hash, id);
    size--;
  }

  private IdSegment emptySegment(int buckets, int prefixBits) {
    IdSegment segment = newSegment(buckets, prefixBits);
    segment.clear();
    return segment;
  }

  /** A segment whose buckets may hold anything. */
  private IdSegment newSegment(int buckets, int prefixBits) {
    long length = (long) buckets << LINE_SHIFT;
    long base = allocator.allocate(length, holder);
    bytes += length;
    return new IdSegment(base, buckets, prefixBits);
  }

  private void grow(IdSegment old, int prefix) {
    if (old.buckets < MAX_BUCKETS) {
      IdSegment larger = newSegment(2 * old.buckets, old.prefixBits);
      replace(old, prefix, larger, larger);
    } else {
      if (old.prefixBits == depth) {
        doubleDirectory();
        prefix <<= 1;
      }
      IdSegment low = newSegment(MAX_BUCKETS, old.prefixBits + 1);
      IdSegment high;
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

  /**
   * Makes room for about {@code ids} at once, where there are none yet, so that they need next to
   * no split. Where there is no memory for that, room is made as ids come.
   */
  void expect(long ids) {
    long most = Math.min(ids, Integer.MAX_VALUE);
    int bits = 0;
    while (most >> bits > (long) MAX_BUCKETS * (SLOTS - 1)) {
      bits++;
    }
    if (size > 0 || bits <= depth) {
      return;
    }
    IdSegment[] fresh = new IdSegment[1 << bits];
    int made = 0;
    try {
      for (; made < fresh.length; made++) {
        fresh[made] = emptySegment(MAX_BUCKETS, bits);
      }
    } catch (OutOfBudgetException _) {
      Arrays.stream(fresh, 0, made).forEach(this::release);
      return;
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
  private void replace(IdSegment old, int prefix, IdSegment low, IdSegment high) {
    split.move(old, low, high);
    int entries = 1 << (depth - old.prefixBits);
    int first = prefix & -entries;
    for (int i = 0; i < entries; i++) {
      setEntry(first + i, 2 * i < entries ? low : high);
    }
    release(old);
  }

  private void setEntry(int prefix, IdSegment segment) {
    segments[prefix] = segment;
    directory[2 * prefix] = segment.base;
    directory[2 * prefix + 1] = segment.mask();
  }

  private void doubleDirectory() {
    IdSegment[] before = segments;
    segments = new IdSegment[2 * before.length];
    directory = new long[4 * before.length];
    depth++;
    for (int i = 0; i < segments.length; i++) {
      setEntry(i, before[i >> 1]);
    }
  }

  private void release(IdSegment segment) {
    allocator.free(segment.base);
    bytes -= segment.bytes();
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
    IdSegment segment = segments[prefix];
    segment.forEachEntry(sink);
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
      IdSegment segment = segments[prefix];
      segment.forEachRow(first, width, sink);
      prefix += 1 << (depth - segment.prefixBits);
    }
  }

  /** Checks what every operation keeps true. For tests. */
  void requireSound() {
    long sum = 0;
    for (int prefix = 0; prefix < segments.length; ) {
      IdSegment segment = segments[prefix];
      if (!segment.isSound()) {
        throw new IllegalStateException(holder + ": got a damaged segment at prefix " + prefix);
      }
      prefix += 1 << (depth - segment.prefixBits);
      sum += segment.size;
    }
    if (sum != size) {
      throw new IllegalStateException(holder + ": got " + sum + " ids, expected " + size);
    }
  }

  void free() {
    for (int prefix = 0; prefix < segments.length; ) {
      IdSegment segment = segments[prefix];
      prefix += 1 << (depth - segment.prefixBits);
      release(segment);
    }
    segments = new IdSegment[0];
    directory = new long[0];
    size = 0;
  }
}
