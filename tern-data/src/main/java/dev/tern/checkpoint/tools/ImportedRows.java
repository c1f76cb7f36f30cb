package dev.tern.checkpoint.tools;

import dev.tern.base.DataException;
import dev.tern.embedding.config.RowSource;
import dev.tern.internal.checkpoint.RowShape;
import dev.tern.internal.memory.Memory;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.IntStream;

/** Ids and weights from a file of another program, sorted by id. */
final class ImportedRows {
  private final Path path;
  private final String unit;
  private final String remedy;
  private final int width;
  private long[] ids = new long[1024];
  private long[] places = new long[1024];
  private float[] weights;
  private int count;

  /**
   * Begins without rows.
   *
   * @param unit unit of places in the file, for messages: line or byte offset
   * @param remedy what to do about a bad file, for messages
   */
  ImportedRows(Path path, String unit, String remedy, int width) {
    this.path = path;
    this.unit = unit;
    this.remedy = remedy;
    this.width = width;
    weights = new float[1024 * width];
  }

  /** Reads lines of an id and {@code width} weights. */
  static ImportedRows text(Path path, int width) throws IOException {
    ImportedRows rows =
        new ImportedRows(path, "line", "export it as tern table export does", width);
    float[] row = new float[width];
    try (BufferedReader lines = Files.newBufferedReader(path)) {
      long number = 1;
      for (String line = lines.readLine(); line != null; line = lines.readLine(), number++) {
        String[] parts = line.split("\t", -1);
        if (parts.length != 1 + width) {
          throw rows.bad(number, parts.length - 1 + " weights", width + " after an id");
        }
        try {
          for (int j = 0; j < width; j++) {
            row[j] = Float.parseFloat(parts[1 + j]);
          }
          rows.add(Long.parseLong(parts[0]), row, number);
        } catch (NumberFormatException e) {
          throw rows.bad(number, e.getMessage() + " among its numbers", "an id, weights");
        }
      }
    }
    return rows.checked();
  }

  /** Adds a row from place {@code place} of the file. */
  void add(long id, float[] row, long place) {
    if (count == ids.length) {
      ids = Arrays.copyOf(ids, count + count / 2);
      places = Arrays.copyOf(places, ids.length);
      weights = Arrays.copyOf(weights, Math.multiplyExact(ids.length, width));
    }
    ids[count] = id;
    places[count] = place;
    System.arraycopy(row, 0, weights, count * width, width);
    count++;
  }

  /** Sorts the rows after the last was added; throws if an id occurs twice. */
  ImportedRows checked() {
    long[] sorted = Arrays.copyOf(ids, count);
    Arrays.sort(sorted);
    for (int i = 1; i < count; i++) {
      if (sorted[i] == sorted[i - 1]) {
        throw twice(sorted[i]);
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

  private DataException twice(long id) {
    long[] both =
        IntStream.range(0, count).filter(i -> ids[i] == id).mapToLong(i -> places[i]).toArray();
    return bad(both[1], "id " + id + " as at " + unit + " " + both[0], "each id once");
  }

  private DataException bad(long place, String got, String expected) {
    return new DataException(
        "%s: %s %d: got %s, expected %s; %s".formatted(path, unit, place, got, expected, remedy));
  }

  int count() {
    return count;
  }

  /**
   * The rows as new rows of a table.
   *
   * @param state optimizer state of each row
   * @param metadata metadata of each row
   */
  RowSource source(RowShape shape, float[] state, int[] metadata) {
    int[] at = {0};
    return (blockIds, rows) -> {
      long values = rows.address();
      int length = Math.min(blockIds.length, count - at[0]);
      for (int i = 0; i < length; i++) {
        int row = at[0]++;
        blockIds[i] = ids[row];
        long address = values + i * shape.packedBytes();
        Memory.copyIn(weights, row * width, address, width);
        Memory.copyIn(state, 0, address + 4L * width, shape.state());
        for (int j = 0; j < shape.metadata(); j++) {
          Memory.setInt(address + 4L * (width + shape.state() + j), metadata[j]);
        }
      }
      return length;
    };
  }
}
