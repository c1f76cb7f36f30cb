package dev.tern.predict;

import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Sequence;
import dev.tern.data.encode.ColumnCounts;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.model.Network;
import dev.tern.model.Scorer;
import java.util.Map;

/**
 * Working memory of one call at a time. It has a scorer for each of some numbers of rows, made when
 * first needed: a call takes the one with the least room to spare, so that its rows cost what they
 * need.
 */
final class Context implements AutoCloseable {
  /**
   * Rows that scorers have room for. From 6 on they fill tiles of products, which are 6 rows high;
   * to 108 there is one for each number of tiles. Beyond, each is at most 14 % more than the one
   * before.
   */
  private static final int[] CAPACITIES = {
    1, 2, 4, 6, 12, 18, 24, 30, 36, 42, 48, 54, 60, 66, 72, 78, 84, 90, 96, 102, 108, 120, 132, 144,
    162, 180, 204, 228, 258
  };

  /** Most rows of a call. */
  static final int MOST_ROWS = CAPACITIES[CAPACITIES.length - 1];

  private final FeatureEncoder encoder;
  private final Network network;
  private final Batch raw;
  private final Batch encoded;
  private final float[] single;
  private final Scorer[] scorers = new Scorer[CAPACITIES.length];

  Context(FeatureEncoder encoder, Network network) {
    this.encoder = encoder;
    this.network = network;
    raw = new Batch(encoder.rawSchema(), 1);
    encoded = new Batch(encoder.schema(), 1);
    single = new float[network.tasks().count()];
  }

  /** The logits of one row, one for each task; valid until the next call. */
  float[] logits(Map<String, ?> row) {
    raw.clear();
    encoder.addRow(row, raw);
    encoder.apply(raw, encoded);
    scorer(1).logits(encoded, single, 0);
    return single;
  }

  /**
   * Writes the logits of rows {@code [from, to)} of {@code rows}, {@link #MOST_ROWS} at most, to
   * the places of the same rows.
   */
  void logits(Batch rows, int from, int to, float[] target) {
    encoder.apply(rows, from, to, encoded);
    scorer(to - from).logits(encoded, target, from);
  }

  /** As {@link #logits(Batch, int, int, float[])} for rows that are encoded already. */
  void encodedLogits(Batch rows, int from, int to, float[] target) {
    encoded.clear();
    encoded.appendRows(rows, from, to);
    scorer(to - from).logits(encoded, target, from);
  }

  /** Adds to {@code counts} the values scored last that are unknown to the model. */
  void countUnknown(ColumnCounts counts) {
    synchronized (counts) {
      scorer(encoded.size()).forEachUnknown(counts::addUnknown);
    }
  }

  /** Makes all scorers, with what they read of constant weights. */
  void prepare() {
    for (int capacity : CAPACITIES) {
      scorer(capacity);
    }
    if (!network.sequences().isEmpty()) {
      warmUp(); // Makes plans for the usual lengths.
    }
  }

  /** Makes all scorers and runs each once on missing values; whether all have their full speed. */
  boolean warmUp() {
    raw.clear();
    boolean ready = true;
    for (int capacity : CAPACITIES) {
      while (raw.size() < capacity) {
        for (int f = 0; f < encoder.rawSchema().denseDim(); f++) {
          raw.setDense(f, Float.NaN);
        }
        raw.endRow();
      }
      encoder.apply(raw, encoded);
      Scorer scorer = scorer(capacity);
      scorer.logits(encoded, new float[capacity * single.length], 0);
      ready &= scorer.isReady();
    }
    if (!network.sequences().isEmpty()) {
      for (int capacity : CAPACITIES) {
        ready &= warmUp(capacity, 2) & warmUp(capacity, 1);
      }
    }
    return ready;
  }

  /** The same with sequences of their greatest length, divided by {@code part}. */
  private boolean warmUp(int capacity, int part) {
    Schema schema = encoder.schema();
    encoded.clear();
    for (int row = 0; row < capacity; row++) {
      for (int slot = 0; slot < schema.slotCount(); slot++) {
        int most = schema.slots().get(slot).sequence().map(Sequence::maxLength).orElse(0);
        for (int i = 0; i < most / part; i++) {
          encoded.addId(slot, 0);
        }
      }
      for (int f = 0; f < schema.denseDim(); f++) {
        encoded.setDense(f, 0);
      }
      for (int label = 0; label < schema.labelDim(); label++) {
        encoded.setLabel(label, 0);
      }
      encoded.endRow();
    }
    Scorer scorer = scorer(capacity);
    scorer.logits(encoded, new float[capacity * single.length], 0);
    return scorer.isReady();
  }

  /** Frees its memory; no call may be under way. */
  @Override
  public void close() {
    for (int c = 0; c < scorers.length; c++) {
      if (scorers[c] != null) {
        scorers[c].close();
        scorers[c] = null;
      }
    }
  }

  private Scorer scorer(int rows) {
    int fitting = 0;
    while (CAPACITIES[fitting] < rows) {
      fitting++;
    }
    Scorer scorer = scorers[fitting];
    if (scorer == null) {
      scorer = Scorer.ofConstant(network, CAPACITIES[fitting]);
      scorers[fitting] = scorer;
    }
    return scorer;
  }
}
