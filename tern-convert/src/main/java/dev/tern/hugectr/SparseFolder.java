package dev.tern.hugectr;

import dev.tern.base.DataException;
import dev.tern.embedding.config.VectorSource;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The rows of an embedding, {@code NAMEi_sparse_N.model/}: {@code key} (int64) and {@code
 * emb_vector} (float32, row by row), little-endian; where slots have rows of their own {@code
 * slot_id} (uint64) too. The keys hold what a reader adds to those of each slot.
 */
final class SparseFolder implements VectorSource, AutoCloseable {
  static final String KEY = "key";
  static final String VECTOR = "emb_vector";
  static final String SLOT = "slot_id";

  private static final int BLOCK_BYTES = 1 << 20;

  private final Path folder;
  private final Tables.Table table;
  private final long rows;
  private final FileChannel keys;
  private final FileChannel vectors;
  private final ByteBuffer keyBlock;
  private final ByteBuffer vectorBlock;

  /** The first row of the blocks, and how many rows they have. */
  private long first;

  private int held;

  /** The next row in the blocks. */
  private int row;

  /** Whether the vectors of the block were read: only if one of its rows belongs to the table. */
  private boolean hasVectors;

  private long taken;

  private SparseFolder(Path folder, Tables.Table table) throws IOException {
    this.folder = folder;
    this.table = table;
    rows = rows(folder, table.width());
    keys = FileChannel.open(folder.resolve(KEY));
    try {
      vectors = FileChannel.open(folder.resolve(VECTOR));
    } catch (IOException | RuntimeException e) {
      keys.close();
      throw e;
    }
    int block = Math.max(1, BLOCK_BYTES / (Float.BYTES * table.width()));
    keyBlock = buffer(Long.BYTES * block);
    vectorBlock = buffer(Float.BYTES * table.width() * block);
  }

  private static ByteBuffer buffer(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Opens the rows of a table. */
  static SparseFolder open(Path folder, Tables.Table table) {
    try {
      return new SparseFolder(folder, table);
    } catch (IOException e) {
      throw DenseFile.unread(folder, e);
    }
  }

  /**
   * The rows of a folder.
   *
   * @throws DataException if its files have other sizes
   */
  static long rows(Path folder, int width) {
    if (Files.isRegularFile(folder)) {
      throw new DataException(
          "%s: got a file, as HugeCTR wrote embeddings before version 3.1, expected a folder with %s and %s; load and save the model with a later version of HugeCTR"
              .formatted(folder, KEY, VECTOR));
    }
    try {
      for (String name : new String[] {KEY, VECTOR}) {
        if (!Files.isRegularFile(folder.resolve(name))) {
          throw new DataException(
              "%s: got no file %s, expected a folder with %s and %s, which HugeCTR saves for each embedding; check the path"
                  .formatted(folder, name, KEY, VECTOR));
        }
      }
      long bytes = Files.size(folder.resolve(KEY));
      if (bytes % Long.BYTES != 0) {
        throw new DataException(
            "%s: got %d bytes, expected a multiple of %d, keys of 64 bits; it is cut off: copy it again"
                .formatted(folder.resolve(KEY), bytes, Long.BYTES));
      }
      long rows = bytes / Long.BYTES;
      requireSize(folder.resolve(VECTOR), 4L * width * rows, rows + " vectors of " + width);
      if (Files.exists(folder.resolve(SLOT))) {
        requireSize(folder.resolve(SLOT), Long.BYTES * rows, rows + " numbers of slots");
      }
      return rows;
    } catch (IOException e) {
      throw DenseFile.unread(folder, e);
    }
  }

  private static void requireSize(Path file, long bytes, String what) throws IOException {
    long got = Files.size(file);
    if (got != bytes) {
      throw new DataException(
          "%s: got %d bytes, expected %d for %s; give the embeddings in the order of the graph, each complete"
              .formatted(file, got, bytes, what));
    }
  }

  @Override
  public int next(long[] ids, float[] into) {
    int count = 0;
    try {
      while (count < ids.length && (row < held || fill())) {
        long key = keyBlock.getLong(Long.BYTES * row);
        boolean all = table.end() == Long.MAX_VALUE;
        if (all || key >= table.from() && key < table.end()) {
          ids[count] = key - table.from();
          vector(into, count * table.width());
          count++;
        }
        row++;
      }
    } catch (IOException e) {
      throw DenseFile.unread(folder, e);
    }
    taken += count;
    return count;
  }

  /** Rows given so far. */
  long taken() {
    return taken;
  }

  private boolean fill() throws IOException {
    first += held;
    row = 0;
    held = (int) Math.min(keyBlock.capacity() / Long.BYTES, rows - first);
    hasVectors = false;
    if (held > 0) {
      read(keys, keyBlock.clear().limit(Long.BYTES * held), Long.BYTES * first);
    }
    return held > 0;
  }

  private void vector(float[] into, int to) throws IOException {
    int bytes = Float.BYTES * table.width();
    if (!hasVectors) {
      read(vectors, vectorBlock.clear().limit(bytes * held), bytes * first);
      hasVectors = true;
    }
    for (int i = 0; i < table.width(); i++) {
      float weight = vectorBlock.getFloat(bytes * row + Float.BYTES * i);
      if (!Float.isFinite(weight)) {
        throw new DataException(
            "%s: byte offset %d: got the weight %s, expected a finite number; its training diverged, or the file is damaged: take an earlier one"
                .formatted(
                    folder.resolve(VECTOR), bytes * (first + row) + Float.BYTES * i, weight));
      }
      into[to + i] = weight;
    }
  }

  private static void read(FileChannel from, ByteBuffer into, long at) throws IOException {
    while (into.hasRemaining()) {
      if (from.read(into, at + into.position()) < 0) {
        throw new IOException("it ended early");
      }
    }
  }

  @Override
  public void close() {
    try {
      keys.close();
      vectors.close();
    } catch (IOException e) {
      throw DenseFile.unread(folder, e);
    }
  }
}
