package dev.tern.bench.tables;

import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.memory.ScratchFile;
import dev.tern.internal.table.index.Hashing;
import dev.tern.internal.table.index.IdIndex;
import dev.tern.internal.table.tier.ColdMerge;
import dev.tern.internal.table.tier.ColdRows;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * The rows in the file of a file tier by themselves, for the benchmarks, which are on the same
 * class path. Records are of {@code rowBytes}, with the id behind.
 */
final class BareColdRows implements AutoCloseable {
  /** Bytes of memory that records are merged in. */
  private static final long BUFFERS = 1 << 19;

  private final ColdRows records;
  private final ScratchFile file;
  private long[] order = new long[0];

  /**
   * No rows.
   *
   * @param rowBytes a multiple of 4
   * @param partitions a power of two
   */
  BareColdRows(Path folder, int rowBytes, int partitions, Allocator allocator) {
    file = ScratchFile.in(folder, "cold rows");
    int bits = Integer.numberOfTrailingZeros(partitions);
    records = new ColdRows(rowBytes, bits, BUFFERS, file, allocator, "cold rows");
  }

  /** Partitions at most. */
  static int mostPartitions() {
    return 1 << IdIndex.BUCKET_BITS;
  }

  /** Where an id belongs, of so many partitions. */
  static int partition(long id, int partitions) {
    int bits = Integer.numberOfTrailingZeros(partitions);
    return (int) (Hashing.mix(id) & mostPartitions() - 1) >>> (IdIndex.BUCKET_BITS - bits);
  }

  /** Copies the records of {@code count} ids to {@code target}; returns how many it found. */
  int read(long[] ids, int count, long target) {
    int bytes = records.recordBytes();
    int found = 0;
    for (int i = 0; i < count; i++) {
      long record = records.find(Hashing.mix(ids[i]), ids[i], records.scratch());
      if (record != ColdRows.NONE) {
        Memory.copy(record, target + (long) i * bytes, bytes);
        found++;
      }
    }
    return found;
  }

  /**
   * Writes the records of ids of one partition, each once.
   *
   * @param from where records {@code ids[first .. end)} lie, one after another
   * @param replaced how many of the ids have records
   */
  void write(int partition, long[] ids, int first, int end, long from, int replaced) {
    int count = end - first;
    if (order.length < count) {
      order = new long[2 * count];
    }
    long[] hashes = new long[count];
    long[] addresses = new long[count];
    for (int i = 0; i < count; i++) {
      order[i] = (Hashing.mix(ids[first + i]) ^ Long.MIN_VALUE) & -1L << 32 | i;
    }
    Arrays.sort(order, 0, count);
    for (int i = 0; i < count; i++) {
      int at = (int) order[i];
      long hash = Hashing.mix(ids[first + at]);
      int place = i;
      for (; place > 0 && Long.compareUnsigned(hashes[place - 1], hash) > 0; place--) {
        hashes[place] = hashes[place - 1];
        addresses[place] = addresses[place - 1];
      }
      hashes[place] = hash;
      addresses[place] = from + (long) at * records.recordBytes();
    }
    ColdMerge.Rows rows = new ColdMerge.Rows(hashes, addresses, new int[count]);
    ColdMerge merge = records.begin(partition, rows, replaced, ColdRows.FILTER_BITS);
    records.run(merge);
    records.end(merge);
  }

  long records() {
    return records.records();
  }

  /** Bytes of memory. */
  long bytes() {
    return records.bytes();
  }

  /** Bytes on the disk. */
  long fileBytes() {
    return file.bytes();
  }

  @Override
  public void close() {
    records.free();
    file.close();
  }
}
