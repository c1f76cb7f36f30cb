package dev.tern.data.encode;

import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
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

  /** What was met in each dense column, and in each slot. */
  private final NumberRange[] ranges;

  private final SlotValues[] values;
  private long rows;

  /**
   * @param earlier what an earlier fit learned of columns by name: their scaling is kept, and their
   *     vocabularies grow
   */
  EncoderFit(Schema schema, List<NumberEncoding> dense, List<IdEncoding> slots, Learned earlier) {
    this.schema = schema;
    for (int f = 0; f < dense.size(); f++) {
      String column = schema.dense().get(f);
      numbers.add(NumberFit.of(dense.get(f), wanted -> earlier.number(column, wanted)));
    }
    ranges = NumberRange.of(schema.denseDim());
    values = SlotValues.of(schema, slots);
    Map<String, IdFit> tables = new HashMap<>();
    for (int s = 0; s < slots.size(); s++) {
      String table = schema.slots().get(s).table();
      ids.add(
          slots.get(s) instanceof IdEncoding.Vocabulary encoding
              ? Optional.of(
                  tables.computeIfAbsent(
                      table, _ -> new IdFit(table, encoding, earlier.vocabulary(table, encoding))))
              : Optional.empty());
    }
  }

  /** What an earlier fit learned. */
  interface Learned {
    /**
     * The encoding of a dense column, if it was encoded as {@code encoding} says, or a part of it.
     */
    Optional<NumberFeature> number(String column, NumberEncoding encoding);

    /** The vocabulary of a table; empty without one. */
    Vocabulary vocabulary(String table, IdEncoding.Vocabulary encoding);

    /** Nothing. */
    Learned NOTHING =
        new Learned() {
          @Override
          public Optional<NumberFeature> number(String column, NumberEncoding encoding) {
            return Optional.empty();
          }

          @Override
          public Vocabulary vocabulary(String table, IdEncoding.Vocabulary encoding) {
            return Vocabulary.EMPTY;
          }
        };
  }

  /** Whether any encoding learns from data. */
  boolean needsData() {
    return numbers.stream().anyMatch(NumberFit::learns)
        || ids.stream().anyMatch(Optional::isPresent);
  }

  /** Reads a whole pass; {@code progress} receives the rows read so far. */
  void read(DataReader training, LongConsumer progress) {
    training.start(0);
    for (Optional<Batch> next = training.next(); next.isPresent(); next = training.next()) {
      try (Batch batch = next.get()) {
        add(batch);
        rows += batch.size();
      }
      progress.accept(rows);
    }
  }

  private void add(Batch batch) {
    int dim = schema.denseDim();
    float[] dense = batch.dense();
    for (int f = 0; f < dim; f++) {
      NumberFit fit = numbers.get(f);
      for (int row = 0; row < batch.size(); row++) {
        float x = dense[row * dim + f];
        if (Float.isFinite(x)) {
          fit.add(x);
          ranges[f].add(x);
        } else if (!Float.isNaN(x)) {
          throw NumberColumns.infinite(schema.dense().get(f), x, rows + row, "all read");
        }
      }
    }
    for (int s = 0; s < ids.size(); s++) {
      if (ids.get(s).isPresent()) {
        ids.get(s).get().add(batch.ids(s), batch.idCount(s));
      }
      values[s].add(batch, s);
    }
  }

  List<NumberFeature> numbers() {
    return numbers.stream().map(NumberFit::finish).toList();
  }

  /** What the rows were like, once the vocabularies are known; empty if none were read. */
  Optional<TrainingFacts> facts(TextDictionary dictionary) {
    if (rows == 0) {
      return Optional.empty();
    }
    List<TrainingFacts.Column> columns = new ArrayList<>();
    for (int f = 0; f < ranges.length; f++) {
      columns.add(ranges[f].facts(schema.dense().get(f), rows));
    }
    for (int s = 0; s < values.length; s++) {
      double unknown = ids.get(s).map(fit -> fit.unknown).orElse(0.0);
      columns.add(values[s].facts(schema.slots().get(s).name(), unknown, dictionary));
    }
    return Optional.of(new TrainingFacts(rows, columns));
  }

  /** The vocabulary of each slot; empty if it has none. Slots of one table share one. */
  List<Vocabulary> vocabularies(TextDictionary dictionary) {
    Map<IdFit, Vocabulary> tables = new IdentityHashMap<>();
    return ids.stream()
        .map(fit -> fit.map(one -> tables.computeIfAbsent(one, _ -> one.finish(dictionary))))
        .map(vocabulary -> vocabulary.orElse(Vocabulary.EMPTY))
        .toList();
  }

  /** Counts the raw ids of the slots that share a vocabulary. */
  private static final class IdFit {
    private final IdEncoding.Vocabulary encoding;
    private final Vocabulary earlier;
    private final IdCounts counts;

    /** After {@link #finish}: the share of the values that the vocabulary leaves out. */
    private double unknown;

    /**
     * @param earlier values whose numbers are kept; others follow them
     */
    IdFit(String slot, IdEncoding.Vocabulary encoding, Vocabulary earlier) {
      this.encoding = encoding;
      this.earlier = earlier;
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
      long[] kept = kept();
      unknown = counts.shareBeside(kept);
      @Nullable String[] texts = new String[kept.length];
      for (int i = 0; encoding.text() && i < kept.length; i++) {
        Optional<String> known = i < earlier.size() ? earlier.text(i + 1) : Optional.empty();
        texts[i] = known.isPresent() ? known.get() : dictionary.text(kept[i]).orElse(null);
      }
      return new Vocabulary(kept, texts, encoding);
    }

    /** The values of the earlier vocabulary, then new ones by descending count. */
    private long[] kept() {
      int before = earlier.size();
      if (before == 0) {
        return counts.mostFrequent(encoding.minCount(), encoding.maxSize());
      }
      LongStream old = IntStream.rangeClosed(1, before).mapToLong(earlier::id);
      LongStream added =
          Arrays.stream(counts.mostFrequent(encoding.minCount(), Integer.MAX_VALUE))
              .filter(id -> !earlier.contains(id))
              .limit(Math.max(0, encoding.maxSize() - before));
      return LongStream.concat(old, added).toArray();
    }
  }
}
