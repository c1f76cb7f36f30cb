package dev.tern.onnx;

import dev.tern.base.DType;
import dev.tern.base.SplitMix64;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.embedding.config.RowBlock;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.internal.checkpoint.RowShape;
import dev.tern.internal.checkpoint.SavedTable;
import dev.tern.internal.memory.Memory;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * The rows of a saved table as a tensor {@code [n + u + 1, W]}: the {@code n} rows of ids in
 * ascending order, then {@code u} rows that ids without one read as, then zeros. Rows are read from
 * the checkpoint's files block by block as often as they are written.
 */
final class ExportedTable {
  /** Before the name of a table, the names of the tensors of its ids and of its rows. */
  static final String IDS = "ids.";

  static final String ROWS = "table.";

  private static final int BLOCK = 512;

  /** Larger magnitudes count as this one in the mean, as in tables in memory. */
  private static final float LARGEST = 1024;

  private final TableConfig config;
  private final List<Path> files;
  private final RowShape shape;
  private final long count;
  private final long firstId;
  private final boolean isRange;
  private long[] ids = {};

  private ExportedTable(
      TableConfig config, List<Path> files, RowShape shape, long[] firstLastCount) {
    this.config = config;
    this.files = files;
    this.shape = shape;
    count = firstLastCount[2];
    firstId = firstLastCount[0];
    isRange = count > 0 && firstLastCount[1] - firstId == count - 1;
  }

  /** Table {@code number} of a checkpoint; reads its ids once. */
  static ExportedTable of(Checkpoint checkpoint, int number, TableConfig config) {
    List<Path> files = checkpoint.tableFiles(number);
    RowShape saved = RowShape.of(files.getLast());
    RowShape shape = new RowShape(saved.storage(), saved.width(), saved.state(), 0);
    long[] found = {0, 0, 0};
    walk(
        files,
        shape,
        (ids, _, rows) -> {
          found[0] = found[2] == 0 ? ids[0] : found[0];
          found[1] = ids[rows - 1];
          found[2] += rows;
        });
    return new ExportedTable(config, files, shape, found);
  }

  /** Takes the next rows: their ids, and packed values. */
  @FunctionalInterface
  private interface Sink {
    void accept(long[] ids, MemorySegment values, int rows) throws IOException;
  }

  private static void walk(List<Path> files, RowShape shape, Sink sink) {
    try (SavedTable table = SavedTable.open(files, shape);
        Arena arena = Arena.ofConfined()) {
      MemorySegment values = Memory.allocate(arena, BLOCK * shape.packedBytes(), 8, "onnx rows");
      long[] ids = new long[BLOCK];
      for (int rows = table.next(ids, values); rows > 0; rows = table.next(ids, values)) {
        sink.accept(ids, values, rows);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  String name() {
    return config.name();
  }

  TableConfig config() {
    return config;
  }

  int width() {
    return shape.width();
  }

  DType storage() {
    return shape.storage();
  }

  /** Rows of ids, {@code n}. */
  long count() {
    return count;
  }

  /** Whether ids are {@code firstId} and those that follow it, without a gap. */
  boolean isRange() {
    return isRange;
  }

  long firstId() {
    return firstId;
  }

  /** Rows that ids without one share by a hash; 0 if all read as the same. */
  int buckets() {
    return config.unknown().buckets();
  }

  /** Whether what an id without a row reads as depends on the id. */
  boolean needsIds() {
    return buckets() > 0 || isInitial();
  }

  /** Whether ids without a row read as the weights that they would begin with. */
  boolean isInitial() {
    return config.unknown() == UnknownRow.INITIAL;
  }

  /** The first row that ids without one read as; zeros where {@link #isInitial}. */
  long unknownRow() {
    return count;
  }

  /** The row of zeros. */
  long zeroRow() {
    return count + Math.max(1, buckets());
  }

  long[] dims() {
    return new long[] {zeroRow() + 1, width()};
  }

  /** The row that {@code id} reads. */
  long row(long id) {
    long at = place(id);
    return at >= 0 ? at : unknownRow(id);
  }

  private long unknownRow(long id) {
    return count + (buckets() == 0 ? 0 : SplitMix64.bounded(id, buckets()));
  }

  private long place(long id) {
    if (isRange) {
      return id >= firstId && id - firstId < count ? id - firstId : -1;
    }
    return Arrays.binarySearch(ids(), id);
  }

  /** All ids, ascending, in memory. */
  long[] ids() {
    if (ids.length == 0 && count > 0) {
      ids = allIds();
    }
    return ids;
  }

  private long[] allIds() {
    long[] all = new long[Math.toIntExact(count)];
    int[] at = {0};
    walk(
        files,
        shape,
        (some, _, rows) -> {
          System.arraycopy(some, 0, all, at[0], rows);
          at[0] += rows;
        });
    return all;
  }

  /** Writes the ids, INT64 {@code [n]}. */
  Constant.Content idContent() {
    return out -> {
      ByteBuffer bytes = ByteBuffer.allocate(8 * BLOCK).order(ByteOrder.LITTLE_ENDIAN);
      walk(
          files,
          shape,
          (some, _, rows) -> {
            bytes.asLongBuffer().put(some, 0, rows);
            out.write(bytes.array(), 0, 8 * rows);
          });
    };
  }

  /** Writes the weights as they are stored. */
  Constant.Content content() {
    return this::write;
  }

  private void write(OutputStream out) throws IOException {
    int rowBytes = storage().bytes() * width();
    ByteBuffer bytes = ByteBuffer.allocate(BLOCK * rowBytes).order(ByteOrder.LITTLE_ENDIAN);
    boolean hasMean = config.unknown() == UnknownRow.MEAN;
    Mean mean = new Mean(count, width());
    walk(
        files,
        shape,
        (_, values, rows) -> {
          bytes.clear();
          for (int row = 0; row < rows; row++) {
            long at = row * shape.packedBytes();
            for (int j = 0; j < width(); j++) {
              float weight = values.get(ValueLayout.JAVA_FLOAT, at + 4L * j);
              put(bytes, weight);
              if (hasMean) {
                mean.add(j, weight);
              }
            }
          }
          out.write(bytes.array(), 0, rows * rowBytes);
        });
    writeUnknown(out, bytes, mean);
    out.write(new byte[rowBytes]);
  }

  private void writeUnknown(OutputStream out, ByteBuffer bytes, Mean mean) throws IOException {
    if (buckets() > 0) {
      writeBuckets(out);
      return;
    }
    bytes.clear();
    for (int j = 0; j < width(); j++) {
      put(bytes, config.unknown() == UnknownRow.MEAN ? mean.of(j) : 0);
    }
    out.write(bytes.array(), 0, bytes.position());
  }

  private void writeBuckets(OutputStream out) throws IOException {
    int rowBytes = storage().bytes() * width();
    try (SavedTable table = SavedTable.open(files, shape);
        RowBlock block = new RowBlock(storage(), width(), shape.state(), 0, Arena.ofConfined())) {
      var rows = table.bucketRows();
      while (rows.next(block)) {
        byte[] weights = new byte[block.count() * rowBytes];
        MemorySegment.copy(block.weights(), ValueLayout.JAVA_BYTE, 0, weights, 0, weights.length);
        out.write(weights);
      }
    }
  }

  /** Appends a weight in the type of the table; weights of rows are exact in it. */
  private void put(ByteBuffer bytes, float weight) {
    switch (storage()) {
      case F32 -> bytes.putFloat(weight);
      case F16 -> bytes.putShort(Float.floatToFloat16(weight));
      case BF16 -> bytes.putShort(bf16(weight));
      case I32, I64, BOOL -> throw new AssertionError("no storage of weights: " + storage());
    }
  }

  /** The nearest, of two as near the even one. */
  private static short bf16(float weight) {
    int bits = Float.floatToRawIntBits(weight);
    return (short) (bits + 0x7FFF + (bits >>> 16 & 1) >>> 16);
  }

  /** The mean of all rows, by whole numbers, as tables in memory compute it. */
  private static final class Mean {
    private final long size;
    private final double scale;
    private final long[] sums;

    Mean(long size, int width) {
      this.size = size;
      scale = Math.scalb(1.0, 20 + Integer.numberOfLeadingZeros((int) size));
      sums = new long[width];
    }

    void add(int column, float weight) {
      sums[column] += Math.round(Math.clamp(weight, -LARGEST, LARGEST) * scale);
    }

    float of(int column) {
      return size == 0 ? 0 : (float) (sums[column] / scale / size);
    }
  }
}
