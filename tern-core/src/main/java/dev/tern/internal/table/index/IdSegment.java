package dev.tern.internal.table.index;

import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;

/**
 * Part of an {@link IdIndex}: buckets of ids whose hashes share some bits, the prefix. Hashing is a
 * bijection, so a hash stands for its id. A bucket stores only the bits of a hash that neither the
 * prefix nor the bucket determines (quotienting, Knuth 6.4 exercise 13). Bits of a hash:
 *
 * <pre>
 * 0-31           pick the bucket: number (position * buckets) >> 32, where the position of an id
 *                has bits 0-14 of the hash at its top and bits 15-31 below them
 * 21 and higher  the prefix
 * 0-1 and 15-20  the tag
 * </pre>
 *
 * A bucket is one cache line of 7 slots, which fill in order:
 *
 * <pre>
 * byte 0   the tag of each slot in use, 1 byte each
 * byte 7   bits 0-5: 8 times the slots in use
 *          bit 6: ids of this bucket lie in the next bucket
 *          bit 7: ids of this bucket lie in the overflow
 * byte 8   the entries, 8 bytes each: the row number in the low bits, up to the end of the prefix;
 *          above it the bits of the hash
 * </pre>
 *
 * <p>An id that finds no room in its bucket goes to the next one; after the last bucket there is a
 * spare one. Bits 0 and 1 of the tag then tell that the id belongs in the bucket before, because
 * there are 2^14 buckets or more. An id that finds no room in either, or has a row number too large
 * for an entry, goes to the overflow.
 */
final class IdSegment {
  static final int LINE_SHIFT = 6;
  static final int LINE = 1 << LINE_SHIFT;
  static final int SLOTS = 7;
  static final int MIN_BUCKETS = 1 << 14;

  /** The first bit of the prefix. */
  static final int PREFIX_SHIFT = 21;

  static final long EVERY_TAG = 0x01_0101_0101_0101L;
  static final long HIGH_BITS = 0x80 * EVERY_TAG;

  // In the word of tags: where the count of slots begins, and where other ids of the bucket lie.
  static final int COUNT = 56;
  static final int COUNT_MASK = 8 * Byte.SIZE - 1;
  static final long ONE_MORE = (long) Byte.SIZE << COUNT;
  private static final long IN_NEXT = 1L << 62;
  private static final long IN_OVERFLOW = 1L << 63;
  static final long PASSED_ON = IN_NEXT | IN_OVERFLOW;

  /** Bits of a position that an entry and its tag hold. */
  private static final int KNOWN_BITS = 19;

  private static final int FIRST_OVERFLOW = 64;

  private final Allocator allocator;
  final long base;
  final int buckets;

  /** The bits that all hashes share, and how many they are. */
  final int prefix;

  final int prefixBits;

  final FlatIndex overflow;

  /** Ids in buckets. */
  int placed;

  /** Ids in the bucket after their own. */
  int inNext;

  /** Ids in the overflow for which a search also reads the bucket after their own. */
  int afterNext;

  /** The most ids in buckets; with so many the segment must split. */
  private final int limit;

  /** A segment whose buckets are undefined until {@link #clear}. */
  IdSegment(Allocator allocator, String holder, int buckets, int prefix, int prefixBits) {
    this.allocator = allocator;
    this.buckets = buckets;
    this.prefix = prefix;
    this.prefixBits = prefixBits;
    limit = (int) (buckets * IdIndex.FULL);
    base = allocator.allocate(lineBytes(), holder);
    try {
      overflow = new FlatIndex(allocator, holder, FIRST_OVERFLOW);
    } catch (RuntimeException | Error e) {
      allocator.free(base);
      throw e;
    }
  }

  void clear() {
    for (long at = 0; at < lineBytes(); at += LINE) {
      Memory.setLong(base + at, 0);
    }
  }

  private long lineBytes() {
    return (buckets + 1L) << LINE_SHIFT;
  }

  long bytes() {
    return lineBytes() + overflow.bytes();
  }

  boolean isFull() {
    return placed >= limit;
  }

  int size() {
    return placed + overflow.size();
  }

  /** Buckets read if each id is found once, the overflow's included. */
  long probes() {
    return (long) size() + inNext + afterNext + overflow.probes();
  }

  /** Makes {@link #put} of {@code more} ids need no memory. */
  void reserve(int more) {
    overflow.reserve(more);
  }

  void free() {
    allocator.free(base);
    overflow.free();
  }

  /** The low bits of an entry that hold the row number. */
  int rowBits() {
    return PREFIX_SHIFT + prefixBits;
  }

  static long tag(long hash) {
    return hash >>> 13 & 0xFC | hash & 3;
  }

  /** Offset of the bucket that a hash picks. */
  static long home(long hash, long buckets) {
    return (position(hash) * buckets) >>> Integer.SIZE << LINE_SHIFT;
  }

  private static long position(long hash) {
    return Integer.toUnsignedLong(Integer.rotateRight((int) hash, IdIndex.BUCKET_BITS));
  }

  /** Sets the high bit of byte i if slot i holds the tag; slots after the first may be wrong. */
  static long slotsTagged(long meta, long tag) {
    long differ = meta ^ tag * EVERY_TAG;
    return (differ - EVERY_TAG) & ~differ & HIGH_BITS & ~(-1L << (meta >>> COUNT));
  }

  /** 8 times the slots in use, which is also the first bit of the next tag. */
  static int count(long meta) {
    return (int) (meta >>> COUNT) & COUNT_MASK;
  }

  int find(long hash, long id) {
    long line = base + home(hash, buckets);
    long meta = Memory.getLong(line);
    int row = rowIn(line, rowBits(), hash);
    if (row < 0 && passesToNext(meta)) {
      row = rowIn(line + LINE, rowBits(), hash);
    }
    return row < 0 && passesToOverflow(meta) ? overflow.find(hash, id) : row;
  }

  /** The row number of a hash's entry in a bucket, or -1; {@code rowBits} modulo 64. */
  static int rowIn(long line, long rowBits, long hash) {
    long entry = entry(line, rowBits, hash);
    return entry == 0 ? -1 : (int) (Memory.getLong(entry) & ~(-1L << rowBits));
  }

  /** Address of a hash's entry in a bucket, or 0; {@code rowBits} modulo 64. */
  private static long entry(long line, long rowBits, long hash) {
    long meta = Memory.getLong(line);
    long tag = tag(hash);
    for (long slots = slotsTagged(meta, tag); slots != 0; slots &= slots - 1) {
      int slot = Long.numberOfTrailingZeros(slots) >>> 3;
      long entry = line + Long.BYTES * (slot + 1L);
      boolean same = (Memory.getLong(entry) ^ hash) >>> rowBits == 0;
      if (same && (meta >>> (Byte.SIZE * slot) & 0xFF) == tag) {
        return entry;
      }
    }
    return 0;
  }

  /** Adds an id that is not there, after {@link #reserve}. */
  void put(long hash, int row) {
    long line = base + home(hash, buckets);
    if (!place(line, hash, row)) {
      Memory.setLong(line, Memory.getLong(line) | IN_OVERFLOW);
      afterNext += passesToNext(Memory.getLong(line)) ? 1 : 0;
      overflow.put(hash, Hashing.unmix(hash), row);
    }
  }

  /** Adds an id to its bucket at {@code line}, or to the next one, if there is room. */
  private boolean place(long line, long hash, int row) {
    long entry = hash & -1L << rowBits() | row;
    if (row >>> rowBits() != 0 && rowBits() < Integer.SIZE) {
      return false;
    }
    if (append(line, tag(hash), entry)) {
      placed++;
      return true;
    }
    if (append(line + LINE, tag(hash), entry)) {
      noteInNext(line);
      placed++;
      return true;
    }
    return false;
  }

  /** Notes that one more id of a bucket lies in the next one. */
  private void noteInNext(long line) {
    long meta = Memory.getLong(line);
    inNext++;
    if (!passesToNext(meta)) {
      afterNext += inOverflow(line);
      Memory.setLong(line, meta | IN_NEXT);
    }
  }

  private static boolean append(long line, long tag, long entry) {
    long meta = Memory.getLong(line);
    int count = count(meta);
    if (count == Byte.SIZE * SLOTS) {
      return false;
    }
    Memory.setLong(line, meta + (tag << count) + ONE_MORE);
    Memory.setLong(line + Long.BYTES + count, entry);
    return true;
  }

  void erase(long hash, long id) {
    long line = base + home(hash, buckets);
    long at = entry(line, rowBits(), hash);
    if (at != 0) {
      remove(line, at);
      placed--;
      return;
    }
    long meta = Memory.getLong(line);
    at = (meta & IN_NEXT) == 0 ? 0 : entry(line + LINE, rowBits(), hash);
    if (at != 0) {
      remove(line + LINE, at);
      placed--;
      inNext--;
    } else {
      overflow.erase(hash, id);
      afterNext -= passesToNext(meta) ? 1 : 0;
    }
    boolean next = strangers(line + LINE) != 0;
    int others = inOverflow(line);
    afterNext -= passesToNext(meta) && !next ? others : 0;
    Memory.setLong(line, meta & ~PASSED_ON | (next ? IN_NEXT : 0) | (others > 0 ? IN_OVERFLOW : 0));
  }

  /** Moves the last entry of a bucket to the place of another. */
  private static void remove(long line, long entry) {
    long meta = Memory.getLong(line);
    int last = count(meta) - Byte.SIZE;
    int freed = (int) (entry - line) - Long.BYTES;
    long tag = meta >>> last & 0xFF;
    meta = meta & ~(0xFFL << freed) | tag << freed;
    Memory.setLong(entry, Memory.getLong(line + Long.BYTES + last));
    Memory.setLong(line, (meta & ~(0xFFL << last)) - ONE_MORE);
  }

  /** How many ids of a bucket lie in the overflow. */
  int inOverflow(long line) {
    if (Memory.getLong(line) >= 0) {
      return 0;
    }
    long bucket = (line - base) >>> LINE_SHIFT;
    int low = (int) (start(bucket) >>> 17);
    int high = (int) ((start(bucket + 1) - 1) >>> 17);
    int[] found = {0};
    overflow.forEachRow(
        low, high - low + 1, (hash, _) -> found[0] += base + home(hash, buckets) == line ? 1 : 0);
    return found[0];
  }

  /** The lowest position that picks a bucket. */
  private long start(long bucket) {
    return ((bucket << Integer.SIZE) + buckets - 1) / buckets;
  }

  /** Position of an entry minus the start of the bucket: below 0 if it is of the one before. */
  private long beyond(long line, int slot, long start) {
    long tag = Memory.getLong(line) >>> slot & 0xFF;
    long known = (tag & 3) << 17 | position(known(line, slot)) & (1 << 17) - 1;
    return (known - start) << (Long.SIZE - KNOWN_BITS) >> (Long.SIZE - KNOWN_BITS);
  }

  /** A hash without its low 15 bits. */
  private long known(long line, int slot) {
    long tag = Memory.getLong(line) >>> slot & 0xFF;
    long rest = Memory.getLong(line + Long.BYTES + slot) & -1L << rowBits();
    return rest | (long) prefix << PREFIX_SHIFT | tag >>> 2 << 15;
  }

  private long hash(long line, int slot, long start) {
    return known(line, slot) | (start + beyond(line, slot, start)) >>> 17;
  }

  long hash(long line, int slot) {
    return hash(line, slot, start((line - base) >>> LINE_SHIFT));
  }

  int row(long line, int slot) {
    return (int) (Memory.getLong(line + Long.BYTES + slot) & ~(-1L << rowBits()));
  }

  /** One bit for each slot: 1 if its id belongs in the bucket before. */
  int strangers(long line) {
    long start = start((line - base) >>> LINE_SHIFT);
    int count = count(Memory.getLong(line));
    int found = 0;
    for (int slot = 0; slot < count; slot += Byte.SIZE) {
      found |= (beyond(line, slot, start) < 0 ? 1 : 0) << slot / Byte.SIZE;
    }
    return found;
  }

  /** Whether ids of the bucket with these tags lie in the next one. */
  static boolean passesToNext(long meta) {
    return (meta & IN_NEXT) != 0;
  }

  /** Whether ids of the bucket with these tags lie in the overflow. */
  static boolean passesToOverflow(long meta) {
    return (meta & IN_OVERFLOW) != 0;
  }

  void forEachEntry(IdIndex.EntrySink sink) {
    forEachInBuckets(0, buckets, (hash, row) -> sink.accept(Hashing.unmix(hash), row));
    overflow.forEachEntry(sink);
  }

  void forEachInBuckets(long from, long to, IdIndex.RowSink sink) {
    for (long bucket = from; bucket <= to; bucket++) {
      long line = base + (bucket << LINE_SHIFT);
      long start = start(bucket);
      int count = count(Memory.getLong(line));
      for (int slot = 0; slot < count; slot += Byte.SIZE) {
        sink.accept(hash(line, slot, start), row(line, slot));
      }
    }
  }

  void forEachRow(int first, int width, IdIndex.RowSink sink) {
    long from = (long) first << 17;
    long last = ((long) (first + width) << 17) - 1;
    forEachInBuckets(
        from * buckets >>> Integer.SIZE,
        (last * buckets >>> Integer.SIZE) + 1,
        (hash, row) -> {
          int bits = (int) hash & ((1 << IdIndex.BUCKET_BITS) - 1);
          if (bits >= first && bits < first + width) {
            sink.accept(hash, row);
          }
        });
    overflow.forEachRow(first, width, sink);
  }
}
