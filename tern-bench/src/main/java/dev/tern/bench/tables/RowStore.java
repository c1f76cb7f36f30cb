package dev.tern.bench.tables;

import dev.tern.internal.memory.Allocator;
import java.nio.file.Path;

/**
 * Where {@link StoreBench} has rows lie: records of a fixed size by id, each its row, then its id.
 */
interface RowStore extends AutoCloseable {
  /** Copies the records of {@code count} ids to {@code target}; returns how many there are. */
  int read(long[] ids, int count, long target);

  /** Writes what leaves memory in one step. */
  void write(Leaving rows);

  /** Waits until nothing is left to do in the background. */
  default void settle() {}

  /** Bytes of files, once nothing is left to write. */
  long fileBytes();

  /** Bytes of memory. */
  long memory();

  @Override
  void close();

  /**
   * Records that leave memory in a step, partition after partition. Part {@code p} has the records
   * {@code ends[p - 1]} to {@code ends[p] - 1}.
   *
   * @param partitions the partition of each part
   * @param ends the end of each part
   * @param replaced of each part, how many ids have a record already
   * @param ids of all parts
   * @param records address of the records of {@code ids}
   */
  record Leaving(int[] partitions, int[] ends, int[] replaced, long[] ids, long records) {}

  /** The store of the file tier. */
  final class Own implements RowStore {
    private final BareColdRows rows;
    private final int recordBytes;

    Own(Path folder, int recordBytes, int partitions, Allocator allocator) {
      this.recordBytes = recordBytes;
      rows = new BareColdRows(folder, recordBytes - Long.BYTES, partitions, allocator);
    }

    @Override
    public int read(long[] ids, int count, long target) {
      return rows.read(ids, count, target);
    }

    @Override
    public void write(Leaving leaving) {
      int first = 0;
      for (int p = 0; p < leaving.partitions().length; p++) {
        int end = leaving.ends()[p];
        long from = leaving.records() + (long) first * recordBytes;
        int replaced = leaving.replaced()[p];
        rows.write(leaving.partitions()[p], leaving.ids(), first, end, from, replaced);
        first = end;
      }
    }

    @Override
    public long fileBytes() {
      return rows.fileBytes();
    }

    @Override
    public long memory() {
      return rows.bytes();
    }

    @Override
    public void close() {
      rows.close();
    }
  }
}
