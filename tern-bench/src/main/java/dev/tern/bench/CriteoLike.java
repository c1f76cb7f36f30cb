package dev.tern.bench;

import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The very rows that {@code peers/train.py} draws: 26 slots with power-law ids, 13 dense numbers, a
 * label. See the head of that script for the formulas.
 */
public final class CriteoLike {
  public static final int DENSE = 13;
  private static final int DENSE_STREAM = 30;
  private static final int LABEL_STREAM = 31;
  private static final double ALPHA = 1.05;
  private static final double LABEL_RATE = 0.25;

  private final long[] sizes;
  private final long seed;
  private final Schema schema;

  /**
   * @param listing file with the slots' sizes, {@code criteo_cardinalities.json}
   * @param rowsTotal rows of all slots together, to which the listed sizes are scaled
   */
  public CriteoLike(Path listing, long rowsTotal, long seed) {
    this.seed = seed;
    sizes = sizes(listing, rowsTotal);
    List<String> dense = new ArrayList<>();
    List<Slot> slots = new ArrayList<>();
    for (int i = 0; i < DENSE; i++) {
      dense.add("I" + (i + 1));
    }
    for (int s = 0; s < sizes.length; s++) {
      slots.add(Slot.oneHot("C" + (s + 1)));
    }
    schema = new Schema(List.of("label"), dense, slots);
  }

  private static long[] sizes(Path listing, long rowsTotal) {
    String json;
    try {
      json = Files.readString(listing);
    } catch (IOException e) {
      throw new UncheckedIOException(listing + ": cannot be read; run from the source tree", e);
    }
    String list = json.substring(json.indexOf("\"cardinalities\""));
    list = list.substring(list.indexOf('[') + 1, list.indexOf(']'));
    Matcher number = Pattern.compile("\\d+").matcher(list);
    List<Long> listed = new ArrayList<>();
    while (number.find()) {
      listed.add(Long.parseLong(number.group()));
    }
    long total = listed.stream().mapToLong(Long::longValue).sum();
    long[] sizes = listed.stream().mapToLong(n -> Math.max(1, n * rowsTotal / total)).toArray();
    int largest = 0;
    long sum = 0;
    for (int s = 0; s < sizes.length; s++) {
      largest = sizes[s] > sizes[largest] ? s : largest;
      sum += sizes[s];
    }
    sizes[largest] += rowsTotal - sum;
    return sizes;
  }

  public long[] sizes() {
    return sizes.clone();
  }

  public Schema schema() {
    return schema;
  }

  /** {@code count} batches of {@code batch} rows. */
  public List<Batch> batches(int count, int batch) {
    List<Batch> batches = new ArrayList<>();
    for (int b = 0; b < count; b++) {
      Batch rows = new Batch(schema, batch);
      for (long row = (long) b * batch; row < (b + 1L) * batch; row++) {
        rows.setLabel(0, uniform(LABEL_STREAM, row) < LABEL_RATE ? 1 : 0);
        for (int f = 0; f < DENSE; f++) {
          rows.setDense(f, (float) (uniform(DENSE_STREAM, row * DENSE + f) * 2 - 1));
        }
        for (int s = 0; s < sizes.length; s++) {
          rows.addId(s, powerLaw(uniform(s, row), sizes[s]));
        }
        rows.endRow();
      }
      batches.add(rows);
    }
    return batches;
  }

  private double uniform(int stream, long index) {
    long z = ((seed << 40) + ((long) stream << 32) + index + 1) * 0x9E3779B97F4A7C15L;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    z ^= z >>> 31;
    return (z >>> 11) * 0x1p-53;
  }

  private static long powerLaw(double u, long size) {
    double exponent = 1 - ALPHA;
    double top = Math.pow(size + 1, exponent);
    double y = Math.pow((top - 1) * u + 1, 1 / exponent);
    return Math.clamp((long) Math.floor(y) - 1, 0, size - 1);
  }
}
