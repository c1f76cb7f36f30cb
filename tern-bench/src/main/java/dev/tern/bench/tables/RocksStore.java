package dev.tern.bench.tables;

import dev.tern.internal.memory.Memory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.ByteBufferGetStatus;
import org.rocksdb.CompressionType;
import org.rocksdb.DataBlockIndexType;
import org.rocksdb.FlushOptions;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.Status;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteBufferManager;
import org.rocksdb.WriteOptions;

/**
 * RocksDB as a store of rows, set up as its guides say for point reads of small values that are all
 * there: one limit for cached blocks, indexes, filters and memtables, a Bloom filter of as many
 * bits as the file tier has but none for the last level, hashed data blocks; no log before writes
 * and no checksums when reading, as files end with the process and the file tier has neither; no
 * compression, as the bits of weights have nothing to compress. All goes through direct buffers; a
 * step is one multiGet and one batch of writes.
 */
final class RocksStore implements RowStore {
  static {
    RocksDB.loadLibrary();
  }

  private static final double FILTER_BITS = 8;

  /** Of the memory, one part in so many is for memtables. */
  private static final int MEMTABLES = 4;

  private final Path folder;
  private final int recordBytes;
  private final LRUCache cache;
  private final WriteBufferManager buffers;
  private final BloomFilter filter = new BloomFilter(FILTER_BITS);
  private final Options options;
  private final WriteOptions unlogged = new WriteOptions().setDisableWAL(true);
  private final ReadOptions reading = new ReadOptions().setVerifyChecksums(false);
  private final RocksDB store;
  private final WriteBatch batch = new WriteBatch();
  private final List<ByteBuffer> keys = new ArrayList<>();
  private final ByteBuffer keyBytes;
  private final ByteBuffer key = ByteBuffer.allocateDirect(Long.BYTES);

  /** An empty store in a new folder, for reads of up to {@code most} rows. */
  RocksStore(Path parent, int recordBytes, long memory, int most) throws IOException {
    this.recordBytes = recordBytes;
    folder = Files.createTempDirectory(parent, "tern-rocks");
    cache = new LRUCache(memory);
    buffers = new WriteBufferManager(memory / MEMTABLES, cache);
    BlockBasedTableConfig table =
        new BlockBasedTableConfig()
            .setBlockCache(cache)
            .setCacheIndexAndFilterBlocks(true)
            .setPinL0FilterAndIndexBlocksInCache(true)
            .setFilterPolicy(filter)
            .setDataBlockIndexType(DataBlockIndexType.kDataBlockBinaryAndHash);
    options =
        new Options()
            .setCreateIfMissing(true)
            .setWriteBufferManager(buffers)
            .setMaxBackgroundJobs(Runtime.getRuntime().availableProcessors())
            .setLevelCompactionDynamicLevelBytes(true)
            .setOptimizeFiltersForHits(true)
            .setCompressionType(CompressionType.NO_COMPRESSION)
            .setTableFormatConfig(table);
    try {
      store = RocksDB.open(options, folder.toString());
    } catch (RocksDBException e) {
      throw failed(e);
    }
    keyBytes = ByteBuffer.allocateDirect(Long.BYTES * most);
    for (int i = 0; i < most; i++) {
      keys.add(keyBytes.slice(Long.BYTES * i, Long.BYTES));
    }
  }

  private static IllegalStateException failed(RocksDBException e) {
    return new IllegalStateException("tier bench: got an error of RocksDB: " + e.getMessage(), e);
  }

  private static ByteBuffer at(long address, int bytes) {
    return MemorySegment.ofAddress(address).reinterpret(bytes).asByteBuffer();
  }

  @Override
  public int read(long[] ids, int count, long target) {
    int rowBytes = recordBytes - Long.BYTES;
    List<ByteBuffer> values = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      long record = target + (long) i * recordBytes;
      keyBytes.putLong(Long.BYTES * i, ids[i]);
      keys.get(i).rewind();
      values.add(at(record, rowBytes));
      Memory.setLong(record + rowBytes, ids[i]);
    }
    int found = 0;
    try {
      for (ByteBufferGetStatus got :
          store.multiGetByteBuffers(reading, keys.subList(0, count), values)) {
        found += got.status.getCode() == Status.Code.Ok ? 1 : 0;
      }
    } catch (RocksDBException e) {
      throw failed(e);
    }
    return found;
  }

  @Override
  public void write(Leaving leaving) {
    try {
      batch.clear();
      long[] ids = leaving.ids();
      int rowBytes = recordBytes - Long.BYTES;
      ByteBuffer all = at(leaving.records(), recordBytes * ids.length);
      for (int i = 0; i < ids.length; i++) {
        key.clear().putLong(ids[i]).flip();
        all.limit(i * recordBytes + rowBytes).position(i * recordBytes);
        batch.put(key, all);
      }
      store.write(unlogged, batch);
    } catch (RocksDBException e) {
      throw failed(e);
    }
  }

  @Override
  public void settle() {
    try {
      while (number("rocksdb.mem-table-flush-pending")
              + number("rocksdb.num-running-flushes")
              + number("rocksdb.compaction-pending")
              + number("rocksdb.num-running-compactions")
          > 0) {
        LockSupport.parkNanos(1_000_000);
      }
    } catch (RocksDBException e) {
      throw failed(e);
    }
  }

  private long number(String property) throws RocksDBException {
    return store.getLongProperty(property);
  }

  @Override
  public long fileBytes() {
    try (FlushOptions flush = new FlushOptions()) {
      store.flush(flush);
      settle();
      return SnapshotBench.bytes(folder);
    } catch (RocksDBException e) {
      throw failed(e);
    } catch (IOException e) {
      throw new UncheckedIOException("tier bench: cannot read " + folder, e);
    }
  }

  @Override
  public long memory() {
    try {
      return number("rocksdb.block-cache-usage");
    } catch (RocksDBException e) {
      throw failed(e);
    }
  }

  @Override
  public void close() {
    batch.close();
    store.close();
    options.close();
    unlogged.close();
    reading.close();
    filter.close();
    buffers.close();
    cache.close();
    try {
      SnapshotBench.delete(folder);
    } catch (IOException e) {
      throw new UncheckedIOException("tier bench: cannot delete " + folder, e);
    }
  }
}
