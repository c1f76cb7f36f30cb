package dev.tern.internal.table.index;

import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.memory.OutOfBudgetException;
import java.util.Arrays;

/**
 * 64-bit id to row number, for whole batches. No id is reserved. Up to {@link #FLAT_BUCKETS} it is
 * a {@link FlatIndex}. From there on it is extendible hashing (Fagin et al. 1979): bits of an id's
 * hash pick an {@link IdSegment} through a directory, and a segment that is full splits in two by
 * the next bit, so growth never touches more than one segment at a time.
 *
 * <p>As ids spread evenly, segments of one size would be full at about the same time, and so be
 * half empty at another. There are {@link #CLASSES} sizes, by the first bits that pick a segment,
 * each larger than the one before by the same factor, the last nearly twice the first. So at any
 * time some are full and others have just split, and bytes per id stay about the same. Of the first
 * segments, which fewer bits pick, one half may be larger than what it came from.
 */
public final class IdIndex {
  /** Low bits of a hash that {@link #forEachRow} goes by, which come first in picking a bucket. */
  public static final int BUCKET_BITS = 15;

  private static final int FIRST_BUCKETS = 1 << 4;
  private static final int FLAT_BUCKETS = 1 << 14;

  /** No more than one segment has room for: all of them move at once. */
  private static final int FLAT_IDS = 4 * FLAT_BUCKETS;

  /** Ids per bucket of a segment that is full. */
  static final double FULL = 5.8;

  private static final int CLASS_BITS = 3;
  private static final int CLASSES = 1 << CLASS_BITS;

  /** No more bits of a hash pick a segment: so many segments have room for any number of rows. */
  private static final int MAX_DEPTH = 20;

  /** Ids that are looked for, or inserted, together. */
  public static final int GROUP = IdBatch.GROUP;

  /** Buckets of a flat index that has room for a group beyond its limit. */
  private static final int GROUP_BUCKETS = 16 * GROUP;

  private final Allocator allocator;
  private final String holder;

  /** While there are no segments. */
  private FlatIndex flat;

  /** None while flat. Directory: of a hash's bits from {@link IdSegment#PREFIX_SHIFT} on. */
  private IdSegment[] segments = new IdSegment[0];

  /** Per place of the directory: address of the segment plus bits of a row number, and buckets. */
  private long[] directory = new long[0];

  private long size;

  public IdIndex(Allocator allocator, String holder) {
    this.allocator = allocator;
    this.holder = holder;
    flat = new FlatIndex(allocator, holder, FIRST_BUCKETS);
  }

  /** Bytes that an index of so many ids takes at most, while it grows. */
  public static long mostBytes(int ids) {
    long flat = FlatIndex.mostBytes(Math.min(ids, FLAT_IDS), FIRST_BUCKETS);
    if (ids <= FLAT_IDS) {
      return flat;
    }
    long segment = 2L * IdSegment.MIN_BUCKETS << IdSegment.LINE_SHIFT;
    return Math.max(flat, Math.min(24L * ids + 2 * segment, 18L * ids + 6 * segment));
  }

  public long size() {
    return size;
  }

  public long bytes() {
    long bytes = isFlat() ? flat.bytes() : 0;
    for (int i = 0; i < segments.length; i++) {
      bytes += isFirst(i) ? segments[i].bytes() : 0;
    }
    return bytes;
  }

  /**
   * How many buckets, each a cache line, are read to find an id: the mean of all ids that are
   * there, 1 at best; NaN where there is none.
   */
  public double probes() {
    long sum = isFlat() ? flat.probes() : 0;
    for (int i = 0; i < segments.length; i++) {
      sum += isFirst(i) ? segments[i].probes() : 0;
    }
    return (double) sum / size;
  }

  private boolean isFlat() {
    return segments.length == 0;
  }

  /** Whether a place of the directory is the first of its segment. */
  private boolean isFirst(int place) {
    return segments[place].prefix == place;
  }

  /**
   * Finds the rows of the ids {@code [from, to)} of a batch, at most {@link #GROUP} of them. Works
   * in rounds so that cache misses overlap: it computes where each id's bucket is, loads from each
   * bucket, then looks into each. A last round does the same for the few ids that may lie
   * elsewhere.
   */
  public void find(IdBatch batch, int from, int to) {
    if (isFlat()) {
      flat.find(batch, from, to);
      return;
    }
    locate(batch, from, to);
    findElsewhere(batch, look(batch, from, to));
  }

  /** Finds the rows of the first {@code count} ids of a batch. */
  public void find(IdBatch batch, int count) {
    for (int from = 0; from < count; from += GROUP) {
      find(batch, from, Math.min(count, from + GROUP));
    }
  }

  /**
   * Loads the buckets of the first {@code count} ids, which are to be inserted, so that the cache
   * misses of their inserts overlap.
   */
  public void touch(IdBatch batch, int count) {
    for (int from = 0; from < count; from += GROUP) {
      int to = Math.min(count, from + GROUP);
      if (isFlat()) {
        flat.locate(batch, from, to);
      } else {
        locate(batch, from, to);
      }
    }
  }

  /** Notes the address of each id's bucket plus the bits of a row number, and loads from it. */
  private void locate(IdBatch batch, int from, int to) {
    long[] hashes = batch.hashes;
    long[] lines = batch.lines;
    long[] entries = directory;
    int places = segments.length;
    for (int i = from; i < to; i++) {
      long hash = hashes[i];
      int entry = place(hash, places) << 1;
      lines[i - from] = entries[entry] + IdSegment.home(hash, entries[entry + 1]);
    }
    int sum = 0;
    for (int i = 0; i < to - from; i++) {
      sum += Memory.getInt(lines[i] & -IdSegment.LINE);
    }
    batch.touched = sum;
  }

  /**
   * Looks for each id in its bucket, at the first slot with its tag.
   *
   * @return how many ids may lie elsewhere
   */
  private static int look(IdBatch batch, int from, int to) {
    long[] lines = batch.lines;
    long[] hashes = batch.hashes;
    int[] rows = batch.rows;
    int count = 0;
    for (int i = from; i < to; i++) {
      long hash = hashes[i];
      long bits = lines[i - from]; // shifts take the low bits alone, those of a row number
      long line = bits & -IdSegment.LINE;
      long meta = Memory.getLong(line);
      long slots = IdSegment.slotsTagged(meta, IdSegment.tag(hash));
      if (slots != 0) {
        long entry = Memory.getLong(line + 1 + Long.numberOfTrailingZeros(slots));
        long row = entry ^ hash & -1L << bits;
        if (row >>> bits == 0) {
          rows[i] = (int) row;
          continue;
        }
      }
      rows[i] = -1;
      if ((meta & IdSegment.PASSED_ON | slots & slots - 1) != 0) {
        lines[count] = line;
        batch.elsewhere[count++] = i;
      }
    }
    return count;
  }

  /** Finds the first {@code count} ids listed as elsewhere: in the next bucket or the overflow. */
  private void findElsewhere(IdBatch batch, int count) {
    int sum = 0;
    for (int k = 0; k < count; k++) {
      sum += Memory.getInt(batch.lines[k] + IdSegment.LINE);
    }
    batch.touched = sum;
    for (int k = 0; k < count; k++) {
      int i = batch.elsewhere[k];
      batch.rows[i] = find(batch.hashes[i], batch.ids[i]);
    }
  }

  /** Row number of an id, -1 where there is none. */
  public int find(long hash, long id) {
    return isFlat() ? flat.find(hash, id) : segment(hash).find(hash, id);
  }

  private IdSegment segment(long hash) {
    return segments[place(hash, segments.length)];
  }

  private static int place(long hash, int places) {
    return (int) (hash >>> IdSegment.PREFIX_SHIFT) & places - 1;
  }

  /** Makes sure that {@link #insert} of an id with this hash will not need memory. */
  public void reserve(long hash) {
    while (isFlat() && flat.size() >= flat.limit()) {
      if (flat.buckets() < FLAT_BUCKETS) {
        flat.grow();
      } else {
        leaveFlat();
      }
    }
    if (!isFlat()) {
      while (segment(hash).isFull() && segment(hash).prefixBits < MAX_DEPTH) {
        split(segment(hash));
      }
      segment(hash).reserve(GROUP);
    }
  }

  /**
   * Adds the ids {@code which[0 .. count)} of a batch, none of which is there, with their rows.
   * Works in groups, as {@link #find} does, so that what a split evicts from the caches is loaded
   * again at once. If memory ends, the first of them are in, as many as {@link #size} grew by.
   */
  public void insert(IdBatch batch, int[] which, int count) {
    for (int from = 0; from < count; from += GROUP) {
      int to = Math.min(count, from + GROUP);
      if (isFlat() && flat.buckets() < GROUP_BUCKETS) {
        for (int i = from; i < to; i++) {
          reserve(batch.hashes[which[i]]);
          insert(batch, which[i]);
        }
      } else {
        insertGroup(batch, which, from, to);
      }
    }
  }

  /** Makes all room first, so that a segment may take a few ids more than it should. */
  private void insertGroup(IdBatch batch, int[] which, int from, int to) {
    for (int i = from; i < to; i++) {
      reserve(batch.hashes[which[i]]);
    }
    int sum = 0;
    for (int i = from; i < to && !isFlat(); i++) {
      long hash = batch.hashes[which[i]];
      IdSegment segment = segment(hash);
      sum += Memory.getInt(segment.base + IdSegment.home(hash, segment.buckets));
    }
    batch.touched = sum;
    for (int i = from; i < to; i++) {
      insert(batch, which[i]);
    }
  }

  private void insert(IdBatch batch, int u) {
    insert(batch.hashes[u], batch.ids[u], batch.rows[u]);
  }

  /** Adds an id that is not there, after {@link #reserve}. */
  public void insert(long hash, long id, int row) {
    if (isFlat()) {
      flat.put(hash, id, row);
    } else {
      segment(hash).put(hash, row);
    }
    size++;
  }

  /** Takes an id out that is there. */
  public void erase(long hash, long id) {
    if (isFlat()) {
      flat.erase(hash, id);
    } else {
      segment(hash).erase(hash, id);
    }
    size--;
  }

  private void leaveFlat() {
    IdSegment[] fresh = emptySegments(0);
    try {
      flat.forEachEntry((id, row) -> {
        long hash = Hashing.mix(id);
        IdSegment segment = fresh[place(hash, fresh.length)];
        segment.reserve(GROUP + 1);
        segment.put(hash, row);
      });
    } catch (RuntimeException | Error e) {
      free(fresh);
      throw e;
    }
    leaveFlatFor(fresh);
  }

  private void leaveFlatFor(IdSegment[] fresh) {
    directory = new long[2 * fresh.length];
    flat.free();
    segments = fresh;
    for (int i = 0; i < fresh.length; i++) {
      setEntry(i);
    }
  }

  /** A directory of empty segments that have room for about so many ids. */
  private IdSegment[] emptySegments(long ids) {
    IdSegment[] fresh = new IdSegment[1 << prefixBits(ids, 0)];
    try {
      for (int i = 0; i < fresh.length; i++) {
        int bits = prefixBits(ids, i);
        int first = i & (1 << bits) - 1;
        fresh[i] = first < i ? fresh[first] : newSegment(i, bits);
        if (first == i) {
          fresh[i].clear();
        }
      }
    } catch (RuntimeException | Error e) {
      free(fresh);
      throw e;
    }
    return fresh;
  }

  /** Bits that pick the segment of a prefix where there are so many ids. */
  private static int prefixBits(long ids, int prefix) {
    int bits = 0;
    while (ids >> bits > FULL * bucketsOf(prefix & (1 << bits) - 1)) {
      bits++;
    }
    return bits;
  }

  /** Buckets of segments, by the first bits that pick them. */
  private static int bucketsOf(int prefix) {
    double share = (prefix & CLASSES - 1) / (double) CLASSES;
    return (int) (IdSegment.MIN_BUCKETS * Math.pow(2, share));
  }

  private void split(IdSegment old) {
    if (1 << old.prefixBits == segments.length) {
      doubleDirectory();
    }
    int bits = old.prefixBits + 1;
    IdSegment low = newSegment(old.prefix, bits);
    try {
      IdSegment high = newSegment(old.prefix | 1 << old.prefixBits, bits);
      try {
        SegmentSplit.move(old, low, high);
        low.reserve(GROUP);
        high.reserve(GROUP);
      } catch (RuntimeException | Error e) {
        high.free();
        throw e;
      }
      setPlaces(low);
      setPlaces(high);
    } catch (RuntimeException | Error e) {
      low.free();
      throw e;
    }
    old.free();
  }

  private IdSegment newSegment(int prefix, int bits) {
    return new IdSegment(allocator, holder, bucketsOf(prefix), prefix, bits);
  }

  private void setPlaces(IdSegment segment) {
    for (int i = segment.prefix; i < segments.length; i += 1 << segment.prefixBits) {
      segments[i] = segment;
      setEntry(i);
    }
  }

  private void setEntry(int place) {
    directory[2 * place] = segments[place].base + segments[place].rowBits();
    directory[2 * place + 1] = segments[place].buckets;
  }

  private void doubleDirectory() {
    int places = segments.length;
    IdSegment[] moreSegments = Arrays.copyOf(segments, 2 * places);
    long[] moreDirectory = Arrays.copyOf(directory, 4 * places);
    System.arraycopy(segments, 0, moreSegments, places, places);
    System.arraycopy(directory, 0, moreDirectory, 2 * places, 2 * places);
    // Both or, where the heap is full, none.
    segments = moreSegments;
    directory = moreDirectory;
  }

  /**
   * Makes room for about {@code ids} at once, where there are none yet, so that they need next to
   * no split. Where there is no memory for that, room is made as ids come.
   */
  public void expect(long ids) {
    long most = Math.min(ids, Integer.MAX_VALUE);
    if (size > 0 || !isFlat() || most <= FLAT_IDS) {
      return;
    }
    try {
      leaveFlatFor(emptySegments(most + most / 64));
    } catch (OutOfBudgetException _) {
      // As ids come.
    }
  }

  /** Takes ids one at a time. */
  @FunctionalInterface
  public interface IdSink {
    void accept(long id);
  }

  /** Takes ids with their rows one at a time. */
  @FunctionalInterface
  public interface EntrySink {
    void accept(long id, int row);
  }

  /**
   * Gives ids whose {@link #walkKey} is {@code from} or above, those of one part of the index, in
   * no useful order. Parts may be split between calls.
   *
   * @param from 0, or what was returned
   * @return where to go on; 0 at the end
   */
  public long forEachEntry(long from, EntrySink sink) {
    if (isFlat()) {
      flat.forEachEntry(sink);
      return 0;
    }
    IdSegment segment = segments[Integer.reverse((int) from) & segments.length - 1];
    segment.forEachEntry(sink);
    long next = from + (1L << Integer.SIZE - segment.prefixBits);
    return next & (1L << Integer.SIZE) - 1;
  }

  /** By which {@link #forEachEntry} goes: ids of a part have neighbouring keys, of 32 bits. */
  public static long walkKey(long hash) {
    return Integer.toUnsignedLong(Integer.reverse((int) (hash >>> IdSegment.PREFIX_SHIFT)));
  }

  /** Takes rows one at a time. */
  @FunctionalInterface
  public interface RowSink {
    void accept(long hash, int row);
  }

  /**
   * Gives every row once of whose id's hash the low {@link #BUCKET_BITS} bits are from {@code
   * first} to {@code first + width - 1}, powers of two apart.
   */
  public void forEachRow(int first, int width, RowSink sink) {
    if (isFlat()) {
      flat.forEachRow(first, width, sink);
    }
    for (int i = 0; i < segments.length; i++) {
      if (isFirst(i)) {
        segments[i].forEachRow(first, width, sink);
      }
    }
  }

  /** Checks what every operation keeps true. For tests. */
  public void requireSound() {
    long sum = isFlat() ? flat.size() : 0;
    boolean sound = !isFlat() || flat.isSound();
    for (int i = 0; i < segments.length; i++) {
      sound &= i % (1 << segments[i].prefixBits) == segments[i].prefix;
      if (isFirst(i)) {
        sound &= segments[i].isSound();
        sum += segments[i].size();
      }
    }
    if (!sound || sum != size) {
      throw new IllegalStateException(
          "%s: got %d ids, expected %d; or one that is not found, or a wrong mark"
              .formatted(holder, sum, size));
    }
  }

  public void free() {
    if (isFlat()) {
      flat.free();
    }
    free(segments);
    segments = new IdSegment[0];
    directory = new long[0];
    size = 0;
  }

  private static void free(IdSegment[] segments) {
    for (int i = 0; i < segments.length; i++) {
      if (segments[i] != null && segments[i].prefix == i) {
        segments[i].free();
      }
    }
  }
}
