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

  /** What the vocabulary of each slot learns; empty for other encodings. */
  private final List<Optional<IdFit>> ids = new ArrayList<>();

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
      String table = schema.slots().get(s).table();
      ids.add(
          slots.get(s) instanceof IdEncoding.Vocabulary encoding
              ? Optional.of(tables.computeIfAbsent(table, _ -> new IdFit(table, encoding)))
              : Optional.empty());
    }
  }

  private static NumberFeature scaled(NumberEncoding.Scaled scaled, double mean, double deviation) {
    return new NumberFeature.Scale(scaled.log1p(), mean, deviation, scaled.fill());
  }

  /** Whether any encoding learns from data. */
  boolean needsData() {
    return numbers.stream().anyMatch(fit -> !(fit instanceof Known))
        || ids.stream().anyMatch(Optional::isPresent);
  }

  /** Reads a whole pass; {@code progress} receives the rows read so far. */
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
      if (ids.get(s).isPresent()) {
        ids.get(s).get().add(batch.ids(s), batch.idCount(s));
      }
    }
  }

  List<NumberFeature> numbers() {
    return numbers.stream().map(NumberFit::finish).toList();
  }

  /** The vocabulary of each slot; empty if it has none. Slots of one table share one. */
  List<Vocabulary> vocabularies(TextDictionary dictionary) {
    Map<IdFit, Vocabulary> tables = new IdentityHashMap<>();
    return ids.stream()
        .map(fit -> fit.map(one -> tables.computeIfAbsent(one, _ -> one.finish(dictionary))))
        .map(vocabulary -> vocabulary.orElse(Vocabulary.EMPTY))
        .toList();
  }

  /** Learns the encoding of a dense column. */
  private sealed interface NumberFit {
    /** Adds a number that is not missing. */
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

  /** Counts numbers by the leading 20 bits of the float: 2048 bins for each power of two. */
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

    /** A boundary before each bin where the share of rows below reaches the next 1 / buckets. */
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

  /** Counts the raw ids of the slots that share a vocabulary. */
  private static final class IdFit {
    private final IdEncoding.Vocabulary encoding;
    private final IdCounts counts;

    IdFit(String slot, IdEncoding.Vocabulary encoding) {
      this.encoding = encoding;
      counts = new IdCounts(slot);
    }

    void add(long[] ids, int count) {
      boolean text = encoding.text();
      for (int i = 0; i < count; i++) {
        if (!text || ids[i] != TextHash.EMPTY) {
          counts.saw(ids[i]);
        }
      }
    }

    Vocabulary finish(TextDictionary dictionary) {
      long[] kept = counts.mostFrequent(encoding.minCount(), encoding.maxSize());
      @Nullable String[] texts = new String[kept.length];
      for (int i = 0; encoding.text() && i < kept.length; i++) {
        texts[i] = dictionary.text(kept[i]).orElse(null);
      }
      return new Vocabulary(kept, texts, encoding);
    }
  }
}
