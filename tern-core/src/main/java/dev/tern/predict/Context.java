package dev.tern.predict;

import dev.tern.data.Batch;
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
final class Context {
  /**
   * Rows that scorers have room for. From 6 on they fill tiles of products, which are 6 rows high.
   * From 24 on each is at most a third more than the one before.
   */
  private static final int[] CAPACITIES = {
    1, 2, 4, 6, 12, 18, 24, 30, 36, 48, 60, 72, 90, 108, 138, 174, 216, 258
  };

  /** Most rows of a call. */
  static final int MOST_ROWS = CAPACITIES[CAPACITIES.length - 1];

  private final FeatureEncoder encoder;
  private final Network network;
  private final Batch raw;
  private final Batch encoded;
  private final float[] single = new float[1];
  private final Scorer[] scorers = new Scorer[CAPACITIES.length];

  Context(FeatureEncoder encoder, Network network) {
    this.encoder = encoder;
    this.network = network;
    raw = new Batch(encoder.rawSchema(), 1);
    encoded = new Batch(encoder.schema(), 1);
  }

  /** The logit of one row. */
  float logit(Map<String, ?> row) {
    raw.clear();
    encoder.addRow(row, raw);
    encoder.apply(raw, encoded);
    scorer(1).logits(encoded, single, 0);
    return single[0];
  }

  /**
   * Writes the logits of rows {@code [from, to)} of {@code rows}, {@link #MOST_ROWS} at most, to
   * the same places.
   */
  void logits(Batch rows, int from, int to, float[] target) {
    encoder.apply(rows, from, to, encoded);
    scorer(to - from).logits(encoded, target, from);
  }

  /** Adds to {@code counts} the values scored last that are unknown to the model. */
  void countUnknown(ColumnCounts counts) {
    synchronized (counts) {
      scorer(encoded.size()).forEachUnknown(counts::addUnknown);
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
      scorer.logits(encoded, new float[capacity], 0);
      ready &= scorer.isReady();
    }
    return ready;
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
