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

  /** What was met in each dense column, and in each slot. */
  private final NumberRange[] ranges;

  private final SlotValues[] values;
  private long rows;

  EncoderFit(Schema schema, List<NumberEncoding> dense, List<IdEncoding> slots) {
    this.schema = schema;
    dense.forEach(encoding -> numbers.add(NumberFit.of(encoding)));
    ranges = NumberRange.of(schema.denseDim());
    values = SlotValues.of(schema, slots);
    Map<String, IdFit> tables = new HashMap<>();
    for (int s = 0; s < slots.size(); s++) {
      String table = schema.slots().get(s).table();
      ids.add(
          slots.get(s) instanceof IdEncoding.Vocabulary encoding
              ? Optional.of(tables.computeIfAbsent(table, _ -> new IdFit(table, encoding)))
              : Optional.empty());
    }
  }

  /** Whether any encoding learns from data. */
  boolean needsData() {
    return numbers.stream().anyMatch(fit -> !(fit instanceof NumberFit.Known))
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
          throw FeatureEncoder.infinite(schema.dense().get(f), x, rows + row, "all read");
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
    private final IdCounts counts;

    /** After {@link #finish}: the share of the values that the vocabulary leaves out. */
    private double unknown;

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
      unknown = counts.shareBeside(kept);
      @Nullable String[] texts = new String[kept.length];
      for (int i = 0; encoding.text() && i < kept.length; i++) {
        texts[i] = dictionary.text(kept[i]).orElse(null);
      }
      return new Vocabulary(kept, texts, encoding);
    }
  }
}
