package dev.tern.bench.rows;

import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.NumberEncoding;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.readers.Readers;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The very rows that {@code peers/train.py} draws: 26 slots with power-law ids, 13 dense numbers, a
 * label. See the head of that script for the formulas.
 */
public final class CriteoLike implements TrainData {
  public static final int DENSE = 13;
  private static final int DENSE_STREAM = 30;
  private static final int LABEL_STREAM = 31;
  private static final double LABEL_RATE = 0.25;
  private static final List<String> LABELS = List.of("label", "second");

  private final long[] sizes;
  private final Draws draws;
  private final Schema schema;

  /**
   * @param listing file with the slots' sizes, {@code criteo_cardinalities.json}
   * @param rowsTotal rows of all slots together, to which the listed sizes are scaled
   */
  public CriteoLike(Path listing, long rowsTotal, long seed) {
    this(listing, rowsTotal, seed, 1);
  }

  /** As {@link #CriteoLike(Path, long, long)}, with {@code labels} labels a row. */
  public CriteoLike(Path listing, long rowsTotal, long seed, int labels) {
    draws = new Draws(seed);
    sizes = sizes(listing, rowsTotal);
    List<String> dense = new ArrayList<>();
    List<Slot> slots = new ArrayList<>();
    for (int i = 0; i < DENSE; i++) {
      dense.add("I" + (i + 1));
    }
    for (int s = 0; s < sizes.length; s++) {
      slots.add(Slot.oneHot("C" + (s + 1)));
    }
    schema = new Schema(LABELS.subList(0, labels), dense, slots);
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

  @Override
  public long[] sizes() {
    return sizes.clone();
  }

  @Override
  public FeatureEncoder encoder() {
    return FeatureEncoder.fit(
        Readers.inMemory(schema, List.of()),
        Collections.nCopies(DENSE, NumberEncoding.none()),
        Collections.nCopies(sizes.length, IdEncoding.verbatim()),
        TextDictionary.none(),
        read -> {});
  }

  @Override
  public Schema schema() {
    return schema;
  }

  @Override
  public List<Batch> batches(int count, int batch) {
    List<Batch> batches = new ArrayList<>();
    for (int b = 0; b < count; b++) {
      Batch rows = new Batch(schema, batch);
      for (long row = (long) b * batch; row < (b + 1L) * batch; row++) {
        for (int label = 0; label < schema.labelDim(); label++) {
          double draw = draws.uniform(LABEL_STREAM + label, row);
          rows.setLabel(label, draw < LABEL_RATE ? 1 : 0);
        }
        for (int f = 0; f < DENSE; f++) {
          rows.setDense(f, (float) (draws.uniform(DENSE_STREAM, row * DENSE + f) * 2 - 1));
        }
        for (int s = 0; s < sizes.length; s++) {
          rows.addId(s, draws.id(s, row, sizes[s]));
        }
        rows.endRow();
      }
      batches.add(rows);
    }
    return batches;
  }
}
