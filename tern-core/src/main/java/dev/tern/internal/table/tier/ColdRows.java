package dev.tern.internal.table.tier;

import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.BlockArena;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.memory.ScratchFile;
import dev.tern.internal.table.index.Hashing;
import dev.tern.internal.table.index.IdIndex;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Rows in a file. A record is a row as it lies in memory, then its id. The low bits of an id's hash
 * name its partition. A partition is one piece of the file, ascending by hash (unsigned), and is
 * only ever written as a whole, to a free place. Memory holds a summary of each partition:
 *
 * <pre>
 * fences   4 bytes for each block of records: the upper half of the first one's hash
 * filter   four bits of one 8-byte word for each id (Bloom), so that most ids without a record
 *          are known to have none
 * </pre>
 *
 * To find a record is to read one block, rarely two. A record stays when its row comes back to
 * memory, and is replaced when that row leaves memory again; so look for a row in memory first.
 *
 * <p>A {@link ColdMerge} gives rows of one partition records. The thread that changes the table
 * begins and ends it; another thread runs it in between. Until its end, its rows are found where
 * they are in memory. Any number of threads may {@link #find} while no merge begins or ends.
 */
public final class ColdRows {
  /** Bits of the filter for each id, if there is memory. */
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

  /** For the thread that runs merges; for others while none runs. */
  private final PartitionMerge merger;

  private final long scratch;

  private final ColdPartition[] partitions;

  // Per partition: the merge that has begun, and how often one began.
  private final @Nullable ColdMerge[] merges;
  private final long[] writes;

  private long records;

  /** Records of the partitions under merge, each of which has two summaries. */
  private long twice;

  /** Bytes of the file that merges wrote or are about to. */
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
    partitions = new ColdPartition[1 << bits];
    Arrays.fill(partitions, ColdPartition.EMPTY);
    writes = new long[partitions.length];
    merges = new @Nullable ColdMerge[partitions.length];
    merger = new PartitionMerge(idOffset, blockRecords, buffers, file, allocator, holder);
    try {
      scratch = allocator.allocate(blockBytes(), holder);
    } catch (RuntimeException | Error e) {
      merger.free();
      throw e;
    }
  }

  int partitions() {
    return partitions.length;
  }

  int partition(long hash) {
    return ((int) hash & ((1 << IdIndex.BUCKET_BITS) - 1)) >>> shift;
  }

  /** Records, including stale ones of rows in memory. */
  public long records() {
    return records;
  }

  int records(int p) {
    return partitions[p].count();
  }

  long twice() {
    return twice;
  }

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
   * How often a merge began in the partition of an id with this hash. While this number stays the
   * same, so do the records.
   */
  long writes(long hash) {
    return writes[partition(hash)];
  }

  int blockRecords() {
    return blockRecords;
  }

  /** Bytes that the summary of a partition of some more records takes at most. */
  long summaryBytes(int p, int more) {
    long count = (long) partitions[p].count() + more;
    return FILTER_BITS * count / 8 + 4 * count / blockRecords + 4 * Long.BYTES;
  }

  long filterBytes() {
    return filterBytes;
  }

  /** Bytes that {@link #find} needs to read into. */
  int blockBytes() {
    return blockRecords * recordBytes;
  }

  /** A buffer for {@link #find}, of the thread that changes the table. */
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
    ColdPartition part = partitions[p];
    int count = part.count();
    if (count == 0 || !mayHold(p, hash)) {
      return NONE;
    }
    int key = (int) (hash >>> 32);
    int blocks = blocks(count);
    int block = lastBefore(part, blocks, key);
    do {
      int from = block * blockRecords;
      int length = Math.min(blockRecords, count - from);
      file.read(part.offset() + (long) from * recordBytes, buffer, (long) length * recordBytes);
      long end = buffer + (long) length * recordBytes;
      for (long at = buffer; at < end; at += recordBytes) {
        if (Memory.getLong(at + idOffset) == id) {
          return at;
        }
      }
      block++;
    } while (block < blocks && Integer.compareUnsigned(fence(part, block), key) <= 0);
    return NONE;
  }

  private int blocks(int count) {
    return (count + blockRecords - 1) / blockRecords;
  }

  private static int fence(ColdPartition part, int block) {
    return Memory.getInt(part.fences() + 4L * block);
  }

  /** The last block that begins below a key; the first one if none does. */
  private static int lastBefore(ColdPartition part, int blocks, int key) {
    int low = 0;
    int high = blocks;
    while (high - low > 1) {
      int middle = (low + high) >>> 1;
      if (Integer.compareUnsigned(fence(part, middle), key) < 0) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** Whether a partition may have a record with this hash. */
  boolean mayHold(int p, long hash) {
    ColdPartition part = partitions[p];
    if (part.words() == 0) {
      return true;
    }
    long bits = filterBits(hash);
    return (Memory.getLong(part.filter() + 8 * word(hash, part.words())) & bits) == bits;
  }

  private long fenceBytes(int count) {
    return (4L * blocks(count) + 7) & -8;
  }

  /** The word of a filter that has a hash, by 32 bits above those that name its partition. */
  static long word(long hash, int words) {
    return ((hash >>> IdIndex.BUCKET_BITS & 0xFFFFFFFFL) * words) >>> 32;
  }

  /** The bits that stand for a hash in its word. */
  static long filterBits(long hash) {
    long bits = hash * 0x9E3779B97F4A7C15L;
    return 1L << (bits >>> 58) | 1L << (bits >>> 52) | 1L << (bits >>> 46) | 1L << (bits >>> 40);
  }

  /**
   * Begins to give rows records: new ones, or in the place of the old ones. No other merge of their
   * partition may have begun. If this fails, nothing has changed.
   *
   * @param rows of one partition, which stay as they are to the end
   * @param replaced how many of them have records
   * @param bits bits of the filter for each id, 0 to {@link #FILTER_BITS}
   */
  public ColdMerge begin(int p, ColdMerge.Rows rows, int replaced, int bits) {
    int fresh = rows.hashes().length - replaced;
    int before = partitions[p].count();
    ColdMerge merge = new ColdMerge(p, rows, newPartition(before + fresh, bits));
    merges[p] = merge;
    writes[p]++;
    twice += before;
    records += fresh;
    written += (long) merge.merged().count() * recordBytes;
    return merge;
  }

  /** Finds room for a partition in the file and in memory. */
  private ColdPartition newPartition(int count, int bits) {
    long bytes = (long) count * recordBytes;
    int words = (int) (((long) count * bits + 63) >>> 6);
    long place = places.allocate(bytes, BlockArena.End.LOW, 0);
    long offset = places.offset(place);
    long fences;
    try {
      file.makeRoom(offset + bytes);
      fences = allocator.allocate(fenceBytes(count) + 8L * words, holder);
    } catch (RuntimeException | Error e) {
      places.free(place);
      throw e;
    }
    fenceBytes += fenceBytes(count);
    filterBytes += 8L * words;
    return new ColdPartition(place, offset, count, fences, fences + fenceBytes(count), words);
  }

  /**
   * Writes what comes out of a merge that has begun. It shows when the merge ends. A run that
   * failed may be repeated.
   */
  public void run(ColdMerge merge) {
    merger.run(merge, partitions[merge.partition()]);
  }

  /** Ends a merge that was run: its rows are in the file. */
  public void end(ColdMerge merge) {
    int p = merge.partition();
    twice -= partitions[p].count();
    release(partitions[p]);
    partitions[p] = merge.merged();
    merges[p] = null;
  }

  private void release(ColdPartition part) {
    if (part.count() > 0) {
      places.free(part.place());
      allocator.free(part.fences());
      fenceBytes -= fenceBytes(part.count());
      filterBytes -= 8L * part.words();
    }
  }

  /** Gives the id of every record once, in no useful order; while no merge is run. */
  void forEachId(IdIndex.IdSink sink) {
    for (int p = 0; p < partitions.length; p++) {
      ColdMerge merge = merges[p];
      if (merge == null) {
        merger.read(partitions[p], sink);
        continue;
      }
      merger.read(
          partitions[p],
          id -> {
            if (merge.find(Hashing.mix(id)) < 0) {
              sink.accept(id);
            }
          });
      for (long address : merge.rows().addresses()) {
        sink.accept(Memory.getLong(address + idOffset));
      }
    }
  }

  /** While no merge is run. */
  public void free() {
    for (int p = 0; p < partitions.length; p++) {
      release(partitions[p]);
      merge(p).ifPresent(begun -> release(begun.merged()));
    }
    allocator.free(scratch);
    merger.free();
  }
}
