package dev.tern.bench;

import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.files.CriteoGenerator;
import dev.tern.files.DataWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Rows like Criteo's, written to files of any size by repeating them: {@link #CYCLE} rows, more
 * than a row group or a window of any codec holds, so that repeats compress no better than other
 * rows.
 */
final class DataSet {
  static final int CYCLE = 1 << 19;

  private final Schema schema;
  private final List<Batch> batches = new ArrayList<>();
  private final Digest cycle;

  DataSet(long seed) {
    CriteoGenerator generator = CriteoGenerator.of(seed, CriteoGenerator.scaleFor(10_000_000));
    schema = generator.schema();
    cycle = new Digest();
    try (DataReader reader = generator.open(0, CYCLE)) {
      for (Optional<Batch> next = reader.next(); next.isPresent(); next = reader.next()) {
        cycle.add(next.get());
        batches.add(next.get());
      }
    }
  }

  Schema schema() {
    return schema;
  }

  /** What a reader of {@code cycles} repeats must deliver. */
  Digest expected(long cycles) {
    return cycle.times(cycles);
  }

  /** Writes whole cycles until {@code file} has {@code bytes}; returns how many. */
  long write(DataFormat format, Path file, long bytes) {
    long cycles = cyclesFor(format, file, bytes);
    write(format, file, cycles, schema);
    return cycles;
  }

  private long cyclesFor(DataFormat format, Path file, long bytes) {
    write(format, file, 1, schema);
    try {
      return Math.ceilDiv(bytes, Files.size(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void write(DataFormat format, Path file, long cycles, Schema schema) {
    try (DataWriter writer = format.writer(file, schema)) {
      for (long i = 0; i < cycles; i++) {
        batches.forEach(writer::write);
      }
      writer.finish();
    }
  }

  /**
   * Counts and sums of rows: of labels, dense numbers and ids, each mixed with its column and its
   * row within the cycle, so that a value in another place counts as another value.
   */
  static final class Digest {
    private long rows;
    private long labels;
    private long dense;
    private long ids;
    private long idSum;

    void add(Batch batch) {
      Schema schema = batch.schema();
      for (int i = 0; i < batch.size(); i++) {
        long row = (rows + i) % CYCLE;
        for (int k = 0; k < schema.labelDim(); k++) {
          labels += mix(row, k, Float.floatToIntBits(batch.labels()[i * schema.labelDim() + k]));
        }
        for (int k = 0; k < schema.denseDim(); k++) {
          dense += mix(row, k, Float.floatToIntBits(batch.dense()[i * schema.denseDim() + k]));
        }
      }
      for (int slot = 0; slot < schema.slotCount(); slot++) {
        addIds(batch, slot);
      }
      rows += batch.size();
    }

    private void addIds(Batch batch, int slot) {
      int[] offsets = batch.offsets(slot);
      long[] values = batch.ids(slot);
      for (int i = 0; i < batch.size(); i++) {
        long row = (rows + i) % CYCLE;
        for (int k = offsets[i]; k < offsets[i + 1]; k++) {
          ids += mix(row, (long) slot << 32 | k - offsets[i], values[k]);
          idSum += values[k];
        }
      }
    }

    private static long mix(long row, long column, long value) {
      long z = value + 0x9E3779B97F4A7C15L * (row + 1) + 0xC2B2AE3D27D4EB4FL * (column + 1);
      z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
      return z ^ (z >>> 31);
    }

    private Digest times(long cycles) {
      Digest all = new Digest();
      all.rows = rows * cycles;
      all.labels = labels * cycles;
      all.dense = dense * cycles;
      all.ids = ids * cycles;
      all.idSum = idSum * cycles;
      return all;
    }

    long rows() {
      return rows;
    }

    /** The plain sum of ids, modulo 2<sup>64</sup>, for peers. */
    long idSum() {
      return idSum;
    }

    void require(String name, Digest expected) {
      if (!toString().equals(expected.toString())) {
        throw new IllegalStateException(
            "bench data: %s: got %s, expected %s".formatted(name, this, expected));
      }
    }

    @Override
    public String toString() {
      return "%d rows, labels %016x, dense %016x, ids %016x".formatted(rows, labels, dense, ids);
    }
  }
}
