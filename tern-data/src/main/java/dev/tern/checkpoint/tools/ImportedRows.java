package dev.tern.checkpoint.tools;

import dev.tern.base.DataException;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.embedding.config.RowSource;
import dev.tern.internal.checkpoint.RowShape;
import dev.tern.internal.memory.Memory;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

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

  /**
   * Reads the lines of a file for table {@code table}: an id and {@code width} weights each, or
   * what the first line names.
   */
  static ImportedRows text(Path path, Checkpoint checkpoint, int table, int width)
      throws IOException {
    ImportedRows rows =
        new ImportedRows(path, "line", "export it as tern table export does", width);
    try (BufferedReader lines = Files.newBufferedReader(path)) {
      String line = lines.readLine();
      if (line != null && NamedLines.isHeader(line)) {
        rows.readNamed(line, lines, checkpoint, table);
      } else {
        rows.read(line, lines);
      }
    }
    return rows.checked();
  }

  private void read(@Nullable String first, BufferedReader lines) throws IOException {
    float[] row = new float[width];
    long number = 1;
    for (String line = first; line != null; line = lines.readLine(), number++) {
      String[] parts = line.split("\t", -1);
      if (parts.length != 1 + width) {
        throw bad(number, parts.length - 1 + " weights", width + " after an id");
      }
      try {
        for (int j = 0; j < width; j++) {
          row[j] = Float.parseFloat(parts[1 + j]);
        }
        requireFinite(row, number);
        add(id(parts[0]), row, number);
      } catch (NumberFormatException e) {
        throw bad(number, e.getMessage() + " among its numbers", "an id, weights");
      }
    }
  }

  private void readNamed(String first, BufferedReader lines, Checkpoint checkpoint, int table)
      throws IOException {
    NamedLines named;
    try {
      named = NamedLines.of(first, checkpoint, table, width);
    } catch (IllegalArgumentException e) {
      throw bad(1, String.valueOf(e.getMessage()), "id or value, and the weights of the table");
    }
    float[] row = new float[width];
    long number = 2;
    for (String line = lines.readLine(); line != null; line = lines.readLine(), number++) {
      String[] fields = line.split("\t", -1);
      if (fields.length != named.columns()) {
        throw bad(number, fields.length + " fields", named.columns() + " as the first line names");
      }
      try {
        named.weights(fields, row);
        requireFinite(row, number);
        add(named.id(fields), row, number);
      } catch (NumberFormatException e) {
        throw bad(number, e.getMessage() + " among its numbers", "an id, weights");
      } catch (IllegalArgumentException e) {
        throw bad(number, String.valueOf(e.getMessage()), "an id or value of the table");
      }
    }
  }

  /** A signed id, as exports have it, or an unsigned one of up to 2^64 - 1. */
  static long id(String text) {
    return text.startsWith("-") ? Long.parseLong(text) : Long.parseUnsignedLong(text);
  }

  private void requireFinite(float[] row, long place) {
    for (float weight : row) {
      if (!Float.isFinite(weight)) {
        throw bad(place, weight + " among the weights", "numbers of at most 3.4e38");
      }
    }
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
