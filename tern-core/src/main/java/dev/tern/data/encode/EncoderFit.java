package dev.tern.data.encode;

import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * What one pass over the training data tells encodings. Rows are taken one by one in the order of
 * the reader, so results do not depend on how the reader cuts batches.
 */
final class EncoderFit {
  private final Schema schema;
  private final List<NumberFit> numbers = new ArrayList<>();
  private final List<IdFit> ids = new ArrayList<>();

  EncoderFit(Schema schema, List<NumberEncoding> dense, List<IdEncoding> slots) {
    this.schema = schema;
    for (NumberEncoding encoding : dense) {
      numbers.add(
          switch (encoding) {
            case NumberEncoding.Scaled scaled ->
                scaled.standardize() ? new Moments(scaled) : new Known(scaled(scaled, 0, 1));
            case NumberEncoding.Quantiles(int count) -> new Histogram(count);
            case NumberEncoding.Boundaries(List<Float> values) ->
                new Known(NumberFeature.Buckets.of(values));
          });
    }
    Map<String, IdFit> tables = new HashMap<>();
    for (int s = 0; s < slots.size(); s++) {
      IdEncoding encoding = slots.get(s);
      ids.add(
          tables.computeIfAbsent(
              schema.slots().get(s).table(), table -> new IdFit(table, encoding)));
    }
  }

  private static NumberFeature scaled(NumberEncoding.Scaled scaled, double mean, double deviation) {
    return new NumberFeature.Scale(scaled.log1p(), mean, deviation, scaled.fill());
  }

  /** Whether any encoding must see data. */
  boolean needsData() {
    return numbers.stream().anyMatch(fit -> !(fit instanceof Known))
        || ids.stream().anyMatch(fit -> fit.counts != null);
  }

  /** Reads a whole pass; {@code progress} is told the rows read so far. */
  void read(DataReader training, LongConsumer progress) {
    training.start(0);
    long rows = 0;
    for (Optional<Batch> next = training.next(); next.isPresent(); next = training.next()) {
      try (Batch batch = next.get()) {
        add(batch, rows);
        rows += batch.size();
      }
      progress.accept(rows);
    }
  }

  private void add(Batch batch, long firstRow) {
    int dim = schema.denseDim();
    float[] dense = batch.dense();
    for (int f = 0; f < dim; f++) {
      NumberFit fit = numbers.get(f);
      for (int row = 0; row < batch.size(); row++) {
        float x = dense[row * dim + f];
        if (Float.isFinite(x)) {
          fit.add(x);
        } else if (!Float.isNaN(x)) {
          throw FeatureEncoder.infinite(schema.dense().get(f), x, firstRow + row, "all read");
        }
      }
    }
    for (int s = 0; s < ids.size(); s++) {
      ids.get(s).add(batch.ids(s), batch.idCount(s));
    }
  }

  List<NumberFeature> numbers() {
    return numbers.stream().map(NumberFit::finish).toList();
  }

  /** The vocabulary of each slot, empty where it has none; slots of one table have one. */
  List<Vocabulary> vocabularies(TextDictionary dictionary) {
    Map<IdFit, Vocabulary> tables = new IdentityHashMap<>();
    return ids.stream()
        .map(fit -> tables.computeIfAbsent(fit, one -> one.finish(dictionary)))
        .toList();
  }

  /** What is gathered about a dense column. */
  private sealed interface NumberFit {
    /** Takes the next number that is not missing. */
    void add(float x);

    NumberFeature finish();
  }

  /** Nothing to learn. */
  private record Known(NumberFeature finish) implements NumberFit {
    @Override
    public void add(float x) {}
  }

  /** Mean and population deviation by Welford's recurrence (1962), in double. */
  private static final class Moments implements NumberFit {
    private final NumberEncoding.Scaled scaled;
    private long count;
    private double mean;
    private double squares;

    Moments(NumberEncoding.Scaled scaled) {
      this.scaled = scaled;
    }

    @Override
    public void add(float x) {
      double value = scaled.log1p() ? NumberFeature.Scale.log1p(x) : x;
      count++;
      double delta = value - mean;
      mean += delta / count;
      squares += delta * (value - mean);
    }

    @Override
    public NumberFeature finish() {
      double deviation = count == 0 ? 0 : Math.sqrt(squares / count);
      return scaled(scaled, mean, deviation > 0 ? deviation : 1);
    }
  }

  /** Counts by the leading 20 bits of the float in the order of numbers: 2048 bins an octave. */
  private static final class Histogram implements NumberFit {
    private static final int DROPPED_BITS = 12;

    private final int buckets;
    private final long[] bins = new long[1 << 32 - DROPPED_BITS];
    private long count;

    Histogram(int buckets) {
      this.buckets = buckets;
    }

    @Override
    public void add(float x) {
      int bits = Float.floatToRawIntBits(x + 0.0f);
      int ordered = bits ^ (bits >> 31 | Integer.MIN_VALUE);
      bins[ordered >>> DROPPED_BITS]++;
      count++;
    }

    private static float lowerEdge(int bin) {
      int ordered = bin << DROPPED_BITS;
      return Float.intBitsToFloat(ordered < 0 ? ordered ^ Integer.MIN_VALUE : ~ordered);
    }

    /** A boundary wherever the rows below a bin reach the next multiple of 1 / buckets. */
    @Override
    public NumberFeature finish() {
      List<Float> boundaries = new ArrayList<>();
      long below = 0;
      long reached = 0;
      for (int bin = 0; bin < bins.length; bin++) {
        if (bins[bin] == 0) {
          continue;
        }
        long share = (long) ((double) below * buckets / count);
        if (share > reached) {
          boundaries.add(lowerEdge(bin));
          reached = share;
        }
        below += bins[bin];
      }
      return NumberFeature.Buckets.of(List.copyOf(boundaries));
    }
  }

  /** Counts of the raw ids of a slot, where its encoding is a vocabulary. */
  private static final class IdFit {
    private final IdEncoding encoding;
    private final @Nullable IdCounts counts;

    IdFit(String slot, IdEncoding encoding) {
      this.encoding = encoding;
      counts = encoding instanceof IdEncoding.Vocabulary ? new IdCounts(slot) : null;
    }

    void add(long[] ids, int count) {
      if (counts == null) {
        return;
      }
      boolean text = encoding.text();
      for (int i = 0; i < count; i++) {
        if (!text || ids[i] != TextHash.EMPTY) {
          counts.saw(ids[i]);
        }
      }
    }

    Vocabulary finish(TextDictionary dictionary) {
      if (counts == null || !(encoding instanceof IdEncoding.Vocabulary vocabulary)) {
        return Vocabulary.EMPTY;
      }
      long[] kept = counts.mostFrequent(vocabulary.minCount(), vocabulary.maxSize());
      @Nullable String[] texts = new String[kept.length];
      for (int i = 0; vocabulary.text() && i < kept.length; i++) {
        texts[i] = dictionary.text(kept[i]).orElse(null);
      }
      return new Vocabulary(kept, texts);
    }
  }
}
