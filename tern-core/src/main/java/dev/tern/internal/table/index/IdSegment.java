package dev.tern.internal.table.index;

import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;

/**
 * Part of an {@link IdIndex}: buckets of ids in whose hashes some bits are alike, the prefix. A
 * hash is of its id alone, so an id is told by its hash, and of that a bucket holds only what its
 * place does not say (quotienting, Knuth 6.4 exercise 13). Bits of a hash:
 *
 * <pre>
 * 0-14    with 15-31 behind them a number of 32 bits, whose share of 2^32 is the bucket's of all
 * 21-     the prefix, from its first bit on
 * 0, 1 and 15-20  the tag
 * </pre>
 *
 * A bucket is one cache line:
 *
 * <pre>
 * byte 0   7 tags, in the slots in use
 * byte 7   bits 0-5: 8 times the slots in use, which fill in order; bit 6: ids that belong here lie
 *          in the next bucket; bit 7: ids that belong here lie in the overflow
 * byte 8   per slot 8 bytes: from bit 0 the row number, from the first bit after the prefix on the
 *          hash
 * </pre>
 *
 * <p>An id that finds no room in its bucket goes to the next one, of which there is one more than
 * hashes pick; as buckets are 2^14 or more, the tag then says that it is not in its own. One that
 * finds none there, or whose row number is too large, goes to the overflow.
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

  /** Where the count of slots in use begins, in the word of tags. */
  static final int COUNT = 56;

  static final int COUNT_MASK = 8 * Byte.SIZE - 1;
  static final long ONE_MORE = (long) Byte.SIZE << COUNT;
  private static final long IN_NEXT = 1L << 62;
  private static final long IN_OVERFLOW = 1L << 63;

  /** Either of these, as a mask of the word of tags. */
  static final long PASSED_ON = IN_NEXT | IN_OVERFLOW;

  /** Bits of the number that picks a bucket which an entry holds. */
  private static final int KNOWN_BITS = 19;

  private static final int FIRST_OVERFLOW = 64;

  private final Allocator allocator;
  final long base;
  final int buckets;

  /** Bits that the hashes of its ids have in common, and how many. */
  final int prefix;

  final int prefixBits;
  private final FlatIndex overflow;

  /** Ids in buckets. */
  int placed;

  /** Of these, ids in the bucket after their own. */
  private int inNext;

  /** Ids in the overflow for which the bucket after their own is looked into first. */
  private int afterNext;

  /** Ids in buckets before it must split. */
  private final int limit;

  /** Over memory that holds anything. */
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

  /** Empties all buckets. */
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

  /** Buckets, those of the overflow included, that are read where each of its ids is found once. */
  long probes() {
    return (long) size() + inNext + afterNext + overflow.probes();
  }

  /** Makes sure that {@link #put} of {@code more} ids needs no memory. */
  void reserve(int more) {
    overflow.reserve(more);
  }

  void free() {
    allocator.free(base);
    overflow.free();
  }

  /** Bits of an entry that are its row number, from bit 0. */
  int rowBits() {
    return PREFIX_SHIFT + prefixBits;
  }

  static long tag(long hash) {
    return hash >>> 13 & 0xFC | hash & 3;
  }

  /** Offset of the bucket that a hash picks of {@code buckets}. */
  static long home(long hash, long buckets) {
    return (position(hash) * buckets) >>> Integer.SIZE << LINE_SHIFT;
  }

  private static long position(long hash) {
    return Integer.toUnsignedLong(Integer.rotateRight((int) hash, IdIndex.BUCKET_BITS));
  }

  /**
   * The high bit of byte i is set where slot i holds the tag, and perhaps in such after the first.
   */
  static long slotsTagged(long meta, long tag) {
    long differ = meta ^ tag * EVERY_TAG;
    return (differ - EVERY_TAG) & ~differ & HIGH_BITS & ~(-1L << (meta >>> COUNT));
  }

  /** Bit number in the word of tags, of where the count stands, of the next tag. */
  static int count(long meta) {
    return (int) (meta >>> COUNT) & COUNT_MASK;
  }

  /** Row number of an id, -1 where there is none. */
  int find(long hash, long id) {
    long line = base + home(hash, buckets);
    long meta = Memory.getLong(line);
    long at = locate(line, hash);
    if (at == 0 && (meta & IN_NEXT) != 0) {
      at = locate(line + LINE, hash);
    }
    if (at != 0) {
      return (int) (Memory.getLong(at) & ~(-1L << rowBits()));
    }
    return meta < 0 ? overflow.find(hash, id) : -1;
  }

  /** Address of a hash's entry in a bucket, 0 where there is none. */
  private long locate(long line, long hash) {
    long meta = Memory.getLong(line);
    long tag = tag(hash);
    for (long slots = slotsTagged(meta, tag); slots != 0; slots &= slots - 1) {
      int slot = Long.numberOfTrailingZeros(slots) >>> 3;
      long entry = line + Long.BYTES * (slot + 1L);
      boolean same = (Memory.getLong(entry) ^ hash) >>> rowBits() == 0;
      if (same && (meta >>> (Byte.SIZE * slot) & 0xFF) == tag) {
        return entry;
      }
    }
    return 0;
  }

  /** Puts an id that is not there where there is room, after {@link #reserve}. */
  void put(long hash, int row) {
    long line = base + home(hash, buckets);
    if (!place(line, hash, row)) {
      Memory.setLong(line, Memory.getLong(line) | IN_OVERFLOW);
      afterNext += passesToNext(Memory.getLong(line)) ? 1 : 0;
      overflow.put(hash, Hashing.unmix(hash), row);
    }
  }

  /**
   * Puts an id into one of its buckets, the first of which is at {@code line}, if they have room.
   */
  boolean place(long line, long hash, int row) {
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

  /** Takes an id out that is there. */
  void erase(long hash, long id) {
    long line = base + home(hash, buckets);
    long at = locate(line, hash);
    if (at != 0) {
      remove(line, at);
      placed--;
      return;
    }
    long meta = Memory.getLong(line);
    at = (meta & IN_NEXT) == 0 ? 0 : locate(line + LINE, hash);
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

  /** Has the last slot of a bucket take the place of another. */
  private static void remove(long line, long entry) {
    long meta = Memory.getLong(line);
    int last = count(meta) - Byte.SIZE;
    int freed = (int) (entry - line) - Long.BYTES;
    long tag = meta >>> last & 0xFF;
    meta = meta & ~(0xFFL << freed) | tag << freed;
    Memory.setLong(entry, Memory.getLong(line + Long.BYTES + last));
    Memory.setLong(line, (meta & ~(0xFFL << last)) - ONE_MORE);
  }

  /** How many ids that belong in a bucket lie in the overflow. */
  private int inOverflow(long line) {
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

  /** The least number that picks a bucket. */
  private long start(long bucket) {
    return ((bucket << Integer.SIZE) + buckets - 1) / buckets;
  }

  /**
   * How far beyond the start of a bucket the number is that picked the bucket of an entry in it:
   * below 0 where it belongs in the one before.
   */
  private long beyond(long line, int slot, long start) {
    long tag = Memory.getLong(line) >>> slot & 0xFF;
    long known = (tag & 3) << 17 | position(known(line, slot)) & (1 << 17) - 1;
    return (known - start) << (Long.SIZE - KNOWN_BITS) >> (Long.SIZE - KNOWN_BITS);
  }

  /** A hash but for its low 15 bits. */
  private long known(long line, int slot) {
    long tag = Memory.getLong(line) >>> slot & 0xFF;
    long rest = Memory.getLong(line + Long.BYTES + slot) & -1L << rowBits();
    return rest | (long) prefix << PREFIX_SHIFT | tag >>> 2 << 15;
  }

  private long hash(long line, int slot, long start) {
    return known(line, slot) | (start + beyond(line, slot, start)) >>> 17;
  }

  /** The hash of an entry. */
  long hash(long line, int slot) {
    return hash(line, slot, start((line - base) >>> LINE_SHIFT));
  }

  /** The row number of an entry. */
  int row(long line, int slot) {
    return (int) (Memory.getLong(line + Long.BYTES + slot) & ~(-1L << rowBits()));
  }

  /** Bits by slot of entries that belong in the bucket before. */
  int strangers(long line) {
    long start = start((line - base) >>> LINE_SHIFT);
    int count = count(Memory.getLong(line));
    int found = 0;
    for (int slot = 0; slot < count; slot += Byte.SIZE) {
      found |= (beyond(line, slot, start) < 0 ? 1 : 0) << slot / Byte.SIZE;
    }
    return found;
  }

  /** Whether ids that belong in the bucket of these tags lie in the next one. */
  static boolean passesToNext(long meta) {
    return (meta & IN_NEXT) != 0;
  }

  /** Gives every id once with its row, in no useful order. */
  void forEachEntry(IdIndex.EntrySink sink) {
    forEachInBuckets(0, buckets, (hash, row) -> sink.accept(Hashing.unmix(hash), row));
    overflow.forEachEntry(sink);
  }

  /** Gives the ids that lie in no bucket. */
  void forEachInOverflow(IdIndex.EntrySink sink) {
    overflow.forEachEntry(sink);
  }

  private void forEachInBuckets(long from, long to, IdIndex.RowSink sink) {
    for (long bucket = from; bucket <= to; bucket++) {
      long line = base + (bucket << LINE_SHIFT);
      long start = start(bucket);
      int count = count(Memory.getLong(line));
      for (int slot = 0; slot < count; slot += Byte.SIZE) {
        sink.accept(hash(line, slot, start), row(line, slot));
      }
    }
  }

  /** {@link IdIndex#forEachRow} of its ids. */
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

  /**
   * Whether every id lies where it is looked for, the numbers of ids are right, those elsewhere
   * than in their buckets among them, and a bucket says exactly where ids lie that belong in it.
   */
  boolean isSound() {
    int[] ids = {0};
    boolean[] sound = {overflow.isSound()};
    forEachInBuckets(
        0,
        buckets,
        (hash, row) -> {
          ids[0]++;
          boolean mine = (hash >>> PREFIX_SHIFT & (1L << prefixBits) - 1) == prefix;
          sound[0] &= mine && find(hash, Hashing.unmix(hash)) == row;
        });
    overflow.forEachEntry((id, row) -> sound[0] &= find(Hashing.mix(id), id) == row);
    int next = 0;
    int after = 0;
    for (long line = base; line < base + ((long) buckets << LINE_SHIFT); line += LINE) {
      long meta = Memory.getLong(line);
      int passed = Integer.bitCount(strangers(line + LINE));
      int others = inOverflow(line);
      sound[0] &= passed > 0 == passesToNext(meta) && others > 0 == meta < 0;
      next += passed;
      after += passed > 0 ? others : 0;
    }
    return sound[0] && ids[0] == placed && next == inNext && after == afterNext;
  }
}
