package dev.tern.train;

import dev.tern.data.DataException;
import dev.tern.embedding.RowSource;
import dev.tern.internal.memory.Memory;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** Ids and weights that were read from a file of somebody else, given in ascending order of id. */
final class ImportedRows {
  private final Path path;
  private final int width;
  private long[] ids = new long[1024];
  private float[] weights;
  private int count;

  private ImportedRows(Path path, int width) {
    this.path = path;
    this.width = width;
    weights = new float[1024 * width];
  }

  /** Reads lines of an id and {@code width} weights. */
  static ImportedRows text(Path path, int width) throws IOException {
    ImportedRows rows = new ImportedRows(path, width);
    float[] row = new float[width];
    try (BufferedReader lines = Files.newBufferedReader(path)) {
      long number = 1;
      for (String line = lines.readLine(); line != null; line = lines.readLine(), number++) {
        String[] parts = line.split("\t", -1);
        if (parts.length != 1 + width) {
          throw rows.bad("line " + number, parts.length - 1 + " weights", width + " after an id");
        }
        try {
          for (int j = 0; j < width; j++) {
            row[j] = Float.parseFloat(parts[1 + j]);
          }
          rows.add(Long.parseLong(parts[0]), row);
        } catch (NumberFormatException e) {
          throw rows.bad("line " + number, e.getMessage() + " among its numbers", "an id, weights");
        }
      }
    }
    return rows.checked();
  }

  /** Reads the rows of table {@code slot} in a folder of HugeCTR; where it has no slots, all. */
  static ImportedRows hugectr(Path folder, int width, int slot) throws IOException {
    ImportedRows rows = new ImportedRows(folder, width);
    Path slots = folder.resolve(TableExport.SLOT);
    boolean several = Files.exists(slots);
    long keys = Files.size(folder.resolve(TableExport.KEY)) / Long.BYTES;
    rows.requireSize(folder.resolve(TableExport.KEY), Long.BYTES * keys);
    rows.requireSize(folder.resolve(TableExport.VECTOR), 4L * width * keys);
    if (several) {
      rows.requireSize(slots, Long.BYTES * keys);
    }
    float[] row = new float[width];
    try (FileChannel key = FileChannel.open(folder.resolve(TableExport.KEY));
        FileChannel vector = FileChannel.open(folder.resolve(TableExport.VECTOR));
        FileChannel number = FileChannel.open(several ? slots : folder.resolve(TableExport.KEY))) {
      int block = Math.max(1, (1 << 18) / width);
      for (long from = 0; from < keys; from += block) {
        int length = (int) Math.min(block, keys - from);
        ByteBuffer blockKeys = read(key, 8 * from, 8 * length);
        ByteBuffer blockSlots = read(number, 8 * from, 8 * length);
        ByteBuffer blockWeights = read(vector, 4L * width * from, 4 * width * length);
        for (int i = 0; i < length; i++) {
          blockWeights.asFloatBuffer().get(i * width, row);
          if (!several || blockSlots.getLong(8 * i) == slot) {
            rows.add(blockKeys.getLong(8 * i), row);
          }
        }
      }
    }
    return rows.checked();
  }

  private static ByteBuffer read(FileChannel from, long at, int bytes) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    while (buffer.hasRemaining()) {
      if (from.read(buffer, at + buffer.position()) < 0) {
        throw new IOException("it ended early");
      }
    }
    return buffer.flip();
  }

  private void requireSize(Path file, long bytes) throws IOException {
    if (Files.size(file) != bytes) {
      throw new DataException(
          file
              + ": got "
              + Files.size(file)
              + " bytes, expected "
              + bytes
              + " for rows of "
              + width
              + " weights; export the model again, or check the width of the embedding");
    }
  }

  private void add(long id, float[] row) {
    if (count == ids.length) {
      ids = Arrays.copyOf(ids, count + count / 2);
      weights = Arrays.copyOf(weights, Math.multiplyExact(ids.length, width));
    }
    ids[count] = id;
    System.arraycopy(row, 0, weights, count * width, width);
    count++;
  }

  /** Puts rows into order. */
  private ImportedRows checked() {
    long[] sorted = Arrays.copyOf(ids, count);
    Arrays.sort(sorted);
    for (int i = 1; i < count; i++) {
      if (sorted[i] == sorted[i - 1]) {
        throw bad("id " + sorted[i], "it twice", "each id once");
      }
    }
    float[] moved = new float[count * width];
    for (int i = 0; i < count; i++) {
      int to = Arrays.binarySearch(sorted, ids[i]);
      System.arraycopy(weights, i * width, moved, to * width, width);
    }
    ids = sorted;
    weights = moved;
    return this;
  }

  private DataException bad(String where, String got, String expected) {
    return new DataException(
        path
            + ": "
            + where
            + ": got "
            + got
            + ", expected "
            + expected
            + "; export it as tern table export does");
  }

  int count() {
    return count;
  }

  /**
   * The rows as new ones of a table.
   *
   * @param state first value of optimizer state
   * @param metadata numbers that a row keeps about itself
   */
  RowSource source(RowShape shape, float state, int[] metadata) {
    int[] at = {0};
    return (blockIds, values) -> {
      int length = Math.min(blockIds.length, count - at[0]);
      for (int i = 0; i < length; i++) {
        int row = at[0]++;
        blockIds[i] = ids[row];
        long address = values + i * shape.packedBytes();
        Memory.copyIn(weights, row * width, address, width);
        for (int j = width; j < width + shape.state(); j++) {
          Memory.setFloat(address + 4L * j, state);
        }
        for (int j = 0; j < shape.metadata(); j++) {
          Memory.setInt(address + 4L * (width + shape.state() + j), metadata[j]);
        }
      }
      return length;
    };
  }
}
