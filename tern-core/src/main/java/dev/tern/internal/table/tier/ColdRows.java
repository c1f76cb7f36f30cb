package dev.tern.internal.table.tier;

import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.BlockArena;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.memory.ScratchFile;
import dev.tern.internal.table.index.Hashing;
import dev.tern.internal.table.index.IdIndex;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Rows in a file. A record is a row as it lies in memory, then its id. Records are in partitions by
 * the low bits of the hashes of their ids; a partition is one piece of the file, ascending by hash
 * (unsigned), and is only ever written as a whole, to where nothing else is. Memory has a summary
 * of each:
 *
 * <pre>
 * fences   4 bytes for each block of records: the upper half of the first one's hash
 * filter   four bits of one 8-byte word for each id (Bloom), so that ids without a record are
 *          mostly known to have none
 * </pre>
 *
 * so to find a record is to read one block, rarely two. A record stays when its row comes back to
 * memory, and is replaced when that row leaves memory again; who looks for a row looks in memory
 * first.
 *
 * <p>A {@link ColdMerge} gives rows of one partition records. Between its begin and its end, which
 * are for the thread that changes the table, another thread runs it, and its rows are found where
 * they are in memory. Any number of threads may {@link #find} while none is begun or ended.
 */
public final class ColdRows {
  /** Bits of the filter for each id, where there is memory. */
  public static final int FILTER_BITS = 8;

  /** No record. */
  public static final long NONE = 0;

  private static final int BLOCK_BYTES = 2048;

  private final Allocator allocator;
  private final String holder;
  private final ScratchFile file;
  private final BlockArena places = new BlockArena(1L << 50);
  private final int idOffset;
  private final int recordBytes;
  private final int blockRecords;
  private final int shift;

  /** Of the thread that runs merges, or while none is run. */
  private final PartitionMerge merger;

  /** Room for a block, of the thread that changes the table. */
  private final long scratch;

  /** Per partition: the merge that has begun. */
  private final @Nullable ColdMerge[] merges;

  /** Per partition: its place in the file, offset there, records, summary, words of the filter. */
  private final long[] handles;

  private final long[] offsets;
  private final int[] counts;
  private final long[] summaries;
  private final int[] words;

  /** Per partition: times that a merge began. */
  private final long[] writes;

  private long records;

  /** Records of the partitions in which merges have begun: each of these has two summaries. */
  private long twice;

  /** Bytes written to the file, those of merges that have begun included. */
  private long written;

  private long fenceBytes;
  private long filterBytes;

  /**
   * No rows.
   *
   * @param idOffset where the id lies in a record and in a row in memory
   * @param buffers bytes of memory to merge with, about
   * @param bits partitions are {@code 2^bits}, at most 2^{@link IdIndex#BUCKET_BITS}
   */
  public ColdRows(
      int idOffset, int bits, long buffers, ScratchFile file, Allocator allocator, String holder) {
    this.idOffset = idOffset;
    this.file = file;
    this.allocator = allocator;
    this.holder = holder;
    recordBytes = idOffset + Long.BYTES;
    blockRecords = Math.max(1, BLOCK_BYTES / recordBytes);
    shift = IdIndex.BUCKET_BITS - bits;
    int partitions = 1 << bits;
    handles = new long[partitions];
    offsets = new long[partitions];
    counts = new int[partitions];
    summaries = new long[partitions];
    words = new int[partitions];
    writes = new long[partitions];
    merges = new @Nullable ColdMerge[partitions];
    merger = new PartitionMerge(idOffset, blockRecords, buffers, file, allocator, holder);
    try {
      scratch = allocator.allocate(blockBytes(), holder);
    } catch (RuntimeException | Error e) {
      merger.free();
      throw e;
    }
  }

  int partitions() {
    return counts.length;
  }

  int partition(long hash) {
    return ((int) hash & ((1 << IdIndex.BUCKET_BITS) - 1)) >>> shift;
  }

  /** Records, those of rows in memory among them. */
  public long records() {
    return records;
  }

  /** Records that a partition has in the file. */
  int records(int p) {
    return counts[p];
  }

  /** Those of all partitions in which merges have begun and not ended: with two summaries. */
  long twice() {
    return twice;
  }

  /** Bytes of the file that merges wrote or are about to. */
  long written() {
    return written;
  }

  public int recordBytes() {
    return recordBytes;
  }

  /** Bytes of memory. */
  public long bytes() {
    return fenceBytes + filterBytes + blockBytes() + merger.bytes();
  }

  /**
   * How often a merge began in the partition of an id with this hash: until one does again, records
   * stay as they are.
   */
  long writes(long hash) {
    return writes[partition(hash)];
  }

  /** Records of a block. */
  int blockRecords() {
    return blockRecords;
  }

  /** Bytes that the summary of a partition of some more records takes at most. */
  long summaryBytes(int p, int more) {
    long count = (long) counts[p] + more;
    return FILTER_BITS * count / 8 + 4 * count / blockRecords + 4 * Long.BYTES;
  }

  /** Bytes of memory of the filters. */
  long filterBytes() {
    return filterBytes;
  }

  /** Bytes that {@link #find} needs to read into. */
  int blockBytes() {
    return blockRecords * recordBytes;
  }

  /** Such room, for the thread that changes the table. */
  public long scratch() {
    return scratch;
  }

  /** The merge of a partition that has begun and not ended. */
  Optional<ColdMerge> merge(int p) {
    return Optional.ofNullable(merges[p]);
  }

  /**
   * Reads the record of an id.
   *
   * @param buffer takes {@link #blockBytes}
   * @return the record's address, in the buffer or of a row that is on its way here, or {@link
   *     #NONE}
   */
  public long find(long hash, long id, long buffer) {
    int p = partition(hash);
    ColdMerge merge = merges[p];
    int leaving = merge == null ? -1 : merge.find(hash);
    return leaving >= 0 ? merge.address(leaving) : findInFile(p, hash, id, buffer);
  }

  private long findInFile(int p, long hash, long id, long buffer) {
    int count = counts[p];
    if (count == 0 || !mayHold(p, hash)) {
      return NONE;
    }
    int key = (int) (hash >>> 32);
    int blocks = blocks(count);
    int block = lastBefore(summaries[p], blocks, key);
    do {
      int from = block * blockRecords;
      int length = Math.min(blockRecords, count - from);
      file.read(offsets[p] + (long) from * recordBytes, buffer, (long) length * recordBytes);
      long end = buffer + (long) length * recordBytes;
      for (long at = buffer; at < end; at += recordBytes) {
        if (Memory.getLong(at + idOffset) == id) {
          return at;
        }
      }
      block++;
    } while (block < blocks && Integer.compareUnsigned(fence(summaries[p], block), key) <= 0);
    return NONE;
  }

  private int blocks(int count) {
    return (count + blockRecords - 1) / blockRecords;
  }

  private static int fence(long summary, int block) {
    return Memory.getInt(summary + 4L * block);
  }

  /** The last block that begins below a key; the first one where none does. */
  private static int lastBefore(long summary, int blocks, int key) {
    int low = 0;
    int high = blocks;
    while (high - low > 1) {
      int middle = (low + high) >>> 1;
      if (Integer.compareUnsigned(fence(summary, middle), key) < 0) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** Whether a partition may have a record with this hash. */
  boolean mayHold(int p, long hash) {
    if (words[p] == 0) {
      return true;
    }
    long bits = filterBits(hash);
    return (Memory.getLong(filterWord(p, hash)) & bits) == bits;
  }

  private long filterWord(int p, long hash) {
    return filter(summaries[p], counts[p]) + 8 * word(hash, words[p]);
  }

  /** Where the filter of a summary begins. */
  private long filter(long summary, int count) {
    return summary + fenceBytes(count);
  }

  private long fenceBytes(int count) {
    return (4L * blocks(count) + 7) & -8;
  }

  /** By 32 bits of the hash above those that make partitions. */
  static long word(long hash, int words) {
    return ((hash >>> IdIndex.BUCKET_BITS & 0xFFFFFFFFL) * words) >>> 32;
  }

  /** The bits that stand for a hash in its word. */
  static long filterBits(long hash) {
    long bits = hash * 0x9E3779B97F4A7C15L;
    return 1L << (bits >>> 58) | 1L << (bits >>> 52) | 1L << (bits >>> 46) | 1L << (bits >>> 40);
  }

  /**
   * Begins to give rows records, new ones or in the place of those that they have; where no merge
   * of their partition has begun. Nothing has changed if that fails.
   *
   * @param rows of one partition, which stay as they are to the end
   * @param replaced how many of them have records
   * @param bits bits of the filter for each id, 0 to {@link #FILTER_BITS}
   */
  public ColdMerge begin(int p, ColdMerge.Rows rows, int replaced, int bits) {
    ColdMerge merge = new ColdMerge(p, rows, counts[p] + rows.count() - replaced, bits);
    place(merge);
    merges[p] = merge;
    writes[p]++;
    twice += counts[p];
    records += rows.count() - replaced;
    written += (long) merge.after() * recordBytes;
    return merge;
  }

  /** Finds room for what comes out. */
  private void place(ColdMerge merge) {
    long bytes = (long) merge.after() * recordBytes;
    long place = places.allocate(bytes, BlockArena.End.LOW, 0);
    try {
      file.makeRoom(places.offset(place) + bytes);
      long summary = newSummary(merge.after(), merge.words());
      merge.setPlace(place, places.offset(place), summary, filter(summary, merge.after()));
    } catch (RuntimeException | Error e) {
      places.free(place);
      throw e;
    }
  }

  /** Writes what comes out of a merge that has begun, which shows at its end; anew if it failed. */
  public void run(ColdMerge merge) {
    int p = merge.partition();
    merger.run(merge, offsets[p], counts[p]);
  }

  /** Ends a merge that was run: its rows are in the file. */
  public void end(ColdMerge merge) {
    int p = merge.partition();
    twice -= counts[p];
    release(p);
    handles[p] = merge.place();
    offsets[p] = merge.offset();
    counts[p] = merge.after();
    summaries[p] = merge.summary();
    words[p] = merge.words();
    merges[p] = null;
  }

  private long newSummary(int count, int filterWords) {
    long summary = allocator.allocate(fenceBytes(count) + 8L * filterWords, holder);
    fenceBytes += fenceBytes(count);
    filterBytes += 8L * filterWords;
    return summary;
  }

  private void freeSummary(long summary, int count, int filterWords) {
    allocator.free(summary);
    fenceBytes -= fenceBytes(count);
    filterBytes -= 8L * filterWords;
  }

  private void release(int p) {
    if (counts[p] > 0) {
      places.free(handles[p]);
      freeSummary(summaries[p], counts[p], words[p]);
      counts[p] = 0;
    }
  }

  /** Gives the id of every record once, in no useful order; while no merge is run. */
  void forEachId(IdIndex.IdSink sink) {
    for (int p = 0; p < counts.length; p++) {
      ColdMerge merge = merges[p];
      if (merge == null) {
        merger.read(offsets[p], counts[p], sink);
        continue;
      }
      merger.read(
          offsets[p],
          counts[p],
          id -> {
            if (merge.find(Hashing.mix(id)) < 0) {
              sink.accept(id);
            }
          });
      for (int i = 0; i < merge.count(); i++) {
        sink.accept(Memory.getLong(merge.address(i) + idOffset));
      }
    }
  }

  /** While no merge is run. */
  public void free() {
    for (int p = 0; p < counts.length; p++) {
      release(p);
      merge(p).ifPresent(begun -> freeSummary(begun.summary(), begun.after(), begun.words()));
    }
    allocator.free(scratch);
    merger.free();
  }
}
