package dev.tern.embedding;

import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;

/**
 * 64-bit id to row number, for whole batches. Extendible hashing: the high bits of an id's hash
 * pick a segment through a directory, the low bits a bucket of it. A bucket is one cache line:
 *
 * <pre>
 * byte 0   5 ids (8 bytes each)
 * byte 40  their 5 row numbers (4 bytes each)
 * byte 60  bits 0-2: slots in use; bit 3: an id that belongs here lies in a later bucket
 * </pre>
 *
 * A full bucket passes ids on to the next one. No id is reserved: a slot is empty because it is not
 * counted. A segment doubles until it has {@link #MAX_BUCKETS} buckets, then splits in two, so
 * growth never touches more than one segment at a time.
 */
final class IdIndex {
  private static final int LINE_SHIFT = 6;
  private static final int SLOTS = 5;
  private static final int ROWS = 40;
  private static final int META = 60;
  private static final int COUNT_MASK = 7;
  private static final int PASSED_ON = 8;
  private static final int MAX_BUCKETS = 1 << 16;

  /** Ids whose cache lines are asked for before the first of them is needed. */
  private static final int GROUP = 32;

  private final Allocator allocator;
  private final String holder;
  private int depth;
  private Segment[] segments;

  /** Per prefix: address of the segment, then its size in bytes less one line. */
  private long[] directory;

  private long size;
  private long bytes;

  /** Keeps the loads of {@link #touch} alive. */
  private int touched;

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

  long size() {
    return size;
  }

  long bytes() {
    return bytes;
  }

  /** Row numbers of {@code count} ids with their hashes, -1 where there is none. */
  void find(long[] hashes, long[] ids, int count, int[] rows) {
    for (int from = 0; from < count; from += GROUP) {
      int to = Math.min(count, from + GROUP);
      touch(hashes, from, to);
      for (int i = from; i < to; i++) {
        rows[i] = find(hashes[i], ids[i]);
      }
    }
  }

  /** Loads from the first bucket of each id, so that their cache misses overlap. */
  private void touch(long[] hashes, int from, int to) {
    int sum = 0;
    for (int i = from; i < to; i++) {
      long hash = hashes[i];
      int entry = prefix(hash) << 1;
      sum += Memory.getInt(directory[entry] + ((hash << LINE_SHIFT) & directory[entry + 1]) + META);
    }
    if (sum == Integer.MIN_VALUE) {
      touched = sum;
    }
  }

  /** Row number of an id, -1 where there is none. */
  int find(long hash, long id) {
    int entry = prefix(hash) << 1;
    long base = directory[entry];
    long mask = directory[entry + 1];
    long at = (hash << LINE_SHIFT) & mask;
    while (true) {
      long line = base + at;
      int meta = Memory.getInt(line + META);
      int slots = slotsHolding(line, id) & ((1 << (meta & COUNT_MASK)) - 1);
      if (slots != 0) {
        return Memory.getInt(line + ROWS + 4L * Integer.numberOfTrailingZeros(slots));
      }
      if ((meta & PASSED_ON) == 0) {
        return -1;
      }
      at = (at + (1 << LINE_SHIFT)) & mask;
    }
  }

  /** Bit i is set where slot i holds {@code id}; without branches, for all 5 are one cache line. */
  private static int slotsHolding(long line, long id) {
    long x0 = Memory.getLong(line) ^ id;
    long x1 = Memory.getLong(line + 8) ^ id;
    long x2 = Memory.getLong(line + 16) ^ id;
    long x3 = Memory.getLong(line + 24) ^ id;
    long x4 = Memory.getLong(line + 32) ^ id;
    long differ =
        ((x0 | -x0) >>> 63)
            | (((x1 | -x1) >>> 62) & 2)
            | (((x2 | -x2) >>> 61) & 4)
            | (((x3 | -x3) >>> 60) & 8)
            | (((x4 | -x4) >>> 59) & 16);
    return (int) ~differ;
  }

  private int prefix(long hash) {
    return (int) ((hash >>> 1) >>> (63 - depth));
  }

  /** Makes sure that {@link #insert} of an id with this hash will not need memory. */
  void reserve(long hash) {
    while (true) {
      Segment segment = segments[prefix(hash)];
      if (segment.size < segment.limit()) {
        return;
      }
      grow(segment, prefix(hash));
    }
  }

  /** Adds an id that is not there, after {@link #reserve}. */
  void insert(long hash, long id, int row) {
    Segment segment = segments[prefix(hash)];
    put(segment, hash, id, row);
    size++;
  }

  private static void put(Segment segment, long hash, long id, int row) {
    long mask = segment.mask();
    long at = (hash << LINE_SHIFT) & mask;
    while (true) {
      long line = segment.base + at;
      int meta = Memory.getInt(line + META);
      int count = meta & COUNT_MASK;
      if (count < SLOTS) {
        Memory.setLong(line + 8L * count, id);
        Memory.setInt(line + ROWS + 4L * count, row);
        Memory.setInt(line + META, meta + 1);
        segment.size++;
        return;
      }
      Memory.setInt(line + META, meta | PASSED_ON);
      at = (at + (1 << LINE_SHIFT)) & mask;
    }
  }

  private Segment newSegment(int buckets, int prefixBits) {
    long length = (long) buckets << LINE_SHIFT;
    long base = allocator.allocate(length, holder);
    bytes += length;
    for (long line = base; line < base + length; line += 1 << LINE_SHIFT) {
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
    }
  }

  /** Moves the ids of {@code old} by the next bit of their hash to {@code low} or {@code high}. */
  private void replace(Segment old, int prefix, Segment low, Segment high) {
    for (long line = old.base; line < old.base + ((long) old.buckets << LINE_SHIFT); line += 64) {
      int count = Memory.getInt(line + META) & COUNT_MASK;
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

  /** Gives every id once, in no useful order. */
  void forEachId(IdSink sink) {
    for (int prefix = 0; prefix < segments.length; ) {
      Segment segment = segments[prefix];
      long end = segment.base + ((long) segment.buckets << LINE_SHIFT);
      for (long line = segment.base; line < end; line += 1 << LINE_SHIFT) {
        int count = Memory.getInt(line + META) & COUNT_MASK;
        for (int slot = 0; slot < count; slot++) {
          sink.accept(Memory.getLong(line + 8L * slot));
        }
      }
      prefix += 1 << (depth - segment.prefixBits);
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
