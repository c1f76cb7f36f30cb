package dev.tern.internal.table.index;

import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.memory.OutOfBudgetException;
import java.util.Arrays;
import java.util.function.ToLongFunction;

/**
 * Maps 64-bit ids to row numbers, a batch at a time. Every id is legal. A small index is one {@link
 * FlatIndex}. A larger one is extendible hashing (Fagin et al. 1979): bits of an id's hash pick an
 * {@link IdSegment} through a directory. A full segment splits in two by the next bit, so growth
 * moves the ids of one segment at a time.
 *
 * <p>Ids spread evenly over segments. Segments of one size would all be full at about the same
 * time, and all half empty soon after. So there are {@link #CLASSES} sizes, picked by the first
 * bits of the prefix: each larger than the one before by the same factor, the last nearly twice the
 * first. At any time some segments are full and others have just split, so bytes per id hardly
 * vary.
 */
public final class IdIndex {
  /** Low bits of a hash, by which {@link #forEachRow} selects; they count most in a position. */
  public static final int BUCKET_BITS = 15;

  private static final int FIRST_BUCKETS = 1 << 4;
  private static final int FLAT_BUCKETS = 1 << 14;

  /** The most ids of a flat index. One segment has room for them. */
  private static final int FLAT_IDS = 4 * FLAT_BUCKETS;

  /** Ids per bucket of a segment that is full. */
  static final double FULL = 5.8;

  private static final int CLASSES = 8;

  /** The most bits of a prefix: 2^20 segments have room for any number of rows. */
  private static final int MAX_DEPTH = 20;

  // Ids that are searched or inserted together, and the buckets that have room for so many more.
  private static final int GROUP = IdBatch.GROUP;
  private static final int GROUP_BUCKETS = 16 * GROUP;

  private final Allocator allocator;
  private final String holder;

  /** In use while there are no segments. */
  FlatIndex flat;

  /**
   * The directory: segments by the bits of a hash from {@link IdSegment#PREFIX_SHIFT} on. A segment
   * with a short prefix stands at several places. Empty while flat.
   */
  IdSegment[] segments = new IdSegment[0];

  /** For each place: address of the segment plus its {@link IdSegment#rowBits}; its buckets. */
  private long[] directory = new long[0];

  private long size;

  public IdIndex(Allocator allocator, String holder) {
    this.allocator = allocator;
    this.holder = holder;
    flat = new FlatIndex(allocator, holder, FIRST_BUCKETS);
  }

  /** The most bytes held while an index grows to so many ids. */
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
    return isFlat() ? flat.bytes() : sum(IdSegment::bytes);
  }

  /** Buckets that a search reads, the mean over all ids: 1 at best, NaN in an empty index. */
  public double probes() {
    return (double) (isFlat() ? flat.probes() : sum(IdSegment::probes)) / size;
  }

  private long sum(ToLongFunction<IdSegment> number) {
    return Arrays.stream(segments).distinct().mapToLong(number).sum();
  }

  boolean isFlat() {
    return segments.length == 0;
  }

  /** Whether a place of the directory is the first of its segment. */
  boolean isFirst(int place) {
    return segments[place].prefix == place;
  }

  /**
   * Writes the row number, or -1, of each id {@code [from, to)} of a batch. Works in groups, each
   * in rounds, so that cache misses overlap: loads from the bucket of each id, then searches each
   * bucket. The few ids that may lie elsewhere are searched later, those of many groups together.
   */
  public void find(IdBatch batch, int from, int to) {
    int far = 0;
    for (int first = from; first < to; first += GROUP) {
      int last = Math.min(to, first + GROUP);
      if (isFlat()) {
        flat.find(batch, first, last);
        continue;
      }
      locate(batch, first, last);
      far = look(batch, first, last, far);
      if (FarIds.areMany(far)) {
        batch.far.find(this, batch, far);
        far = 0;
      }
    }
    batch.far.find(this, batch, far);
  }

  /** Loads the buckets of the first {@code count} ids, so that cache misses of inserts overlap. */
  public void touch(IdBatch batch, int count) {
    for (int from = 0; from < count; from += GROUP) {
      locate(batch, from, Math.min(count, from + GROUP));
    }
  }

  /** Notes the address of each id's bucket plus the bits of a row number, and loads from it. */
  private void locate(IdBatch batch, int from, int to) {
    if (isFlat()) {
      flat.locate(batch, from, to);
      return;
    }
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
   * Searches each id at the first slot with its tag; appends those that may lie elsewhere to the
   * {@code before} far ids, and returns how many there are then.
   */
  private static int look(IdBatch batch, int from, int to, int before) {
    long[] lines = batch.lines;
    long[] hashes = batch.hashes;
    int[] rows = batch.rows;
    int[] farIndexes = batch.far.indexes;
    long[] farLines = batch.far.lines;
    int count = before;
    for (int i = from; i < to; i++) {
      long hash = hashes[i];
      long bits = lines[i - from]; // shifts use the low bits alone, which a row number fits
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
        farLines[count] = bits;
        farIndexes[count++] = i;
      }
    }
    return count;
  }

  /** The row number of an id, or -1. */
  public int find(long hash, long id) {
    return isFlat() ? flat.find(hash, id) : segment(hash).find(hash, id);
  }

  IdSegment segment(long hash) {
    return segments[place(hash, segments.length)];
  }

  private static int place(long hash, int places) {
    return (int) (hash >>> IdSegment.PREFIX_SHIFT) & places - 1;
  }

  /** Makes {@link #insert} of an id with this hash need no memory. */
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
   * Adds the ids {@code which[0 .. count)} of a batch, which must be new, with their rows. Works in
   * groups, so that the buckets that a split displaced from the caches are loaded together. If
   * memory runs out, the first ids are in: as many as {@link #size} grew by.
   */
  public void insert(IdBatch batch, int[] which, int count) {
    for (int from = 0; from < count; from += GROUP) {
      int to = Math.min(count, from + GROUP);
      if (isFlat() && flat.buckets() < GROUP_BUCKETS) {
        for (int i = from; i < to; i++) {
          int u = which[i];
          reserve(batch.hashes[u]);
          insert(batch.hashes[u], batch.ids[u], batch.rows[u]);
        }
      } else {
        insertGroup(batch, which, from, to);
      }
    }
  }

  /** Makes room for the whole group first, so a segment may exceed its limit by a group. */
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
      int u = which[i];
      insert(batch.hashes[u], batch.ids[u], batch.rows[u]);
    }
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

  /** Removes an id that is there. */
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

  /** A directory of empty segments with room for about so many ids. */
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

  /** The shortest prefix whose segment has room for its share of so many ids. */
  private static int prefixBits(long ids, int prefix) {
    int bits = 0;
    while (ids >> bits > FULL * bucketsOf(prefix & (1 << bits) - 1)) {
      bits++;
    }
    return bits;
  }

  /** Buckets of a segment, by the first bits of its prefix. */
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
    // Assigned together: an allocation above may fail.
    segments = moreSegments;
    directory = moreDirectory;
  }

  /** Makes room for about {@code ids} in an empty index, if memory allows, to save splits. */
  public void expect(long ids) {
    long most = Math.min(ids, Integer.MAX_VALUE);
    if (size > 0 || !isFlat() || most <= FLAT_IDS) {
      return;
    }
    try {
      leaveFlatFor(emptySegments(most + most / 64));
    } catch (OutOfBudgetException _) {
      // Segments split as ids come.
    }
  }

  @FunctionalInterface
  public interface IdSink {
    void accept(long id);
  }

  @FunctionalInterface
  public interface EntrySink {
    void accept(long id, int row);
  }

  /**
   * Gives the ids of one segment, those with the lowest {@link #walkKey} from {@code from} on, in
   * no useful order. Segments may split between calls.
   *
   * @param from 0, or the result of the last call
   * @return the next {@code from}; 0 at the end
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

  /** A key of 32 bits: {@link #forEachEntry} gives segments in the order of the keys. */
  public static long walkKey(long hash) {
    return Integer.toUnsignedLong(Integer.reverse((int) (hash >>> IdSegment.PREFIX_SHIFT)));
  }

  @FunctionalInterface
  public interface RowSink {
    void accept(long hash, int row);
  }

  /**
   * Gives each row whose hash has {@code first} to {@code first + width - 1} in its low {@link
   * #BUCKET_BITS} bits. The width is a power of two, and {@code first} a multiple of it.
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
