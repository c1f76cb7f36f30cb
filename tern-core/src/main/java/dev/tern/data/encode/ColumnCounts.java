package dev.tern.data.encode;

import dev.tern.data.Batch;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Counts, in rows that a model scores, the values that are missing and the values that the model
 * does not know. One thread at a time.
 */
public final class ColumnCounts {
  private static final double LARGE = 0.2;
  private static final double NEARLY_ALL = 0.9;

  /** A share of at most this factor times the share in scoring is much smaller. */
  private static final double MUCH_SMALLER = 0.25;

  private final FeatureEncoder encoder;
  private long rows;

  // By dense column, then by slot of the raw schema.
  private final long[] missingNumbers;
  private final long[] missingIds;
  private final long[] values;
  private final long[] unknown;

  /**
   * One column.
   *
   * @param name of the dense column or slot
   * @param rows rows
   * @param missing of these, rows without a value
   * @param values values of a slot that are not missing; 0 for a dense column
   * @param unknown of these, values that have no row in the model: unseen ones, and rare ones
   */
  public record Column(String name, long rows, long missing, long values, long unknown) {}

  /** Counts rows that {@code encoder} encodes. */
  public ColumnCounts(FeatureEncoder encoder) {
    this.encoder = encoder;
    missingNumbers = new long[encoder.rawSchema().denseDim()];
    int slots = encoder.rawSchema().slotCount();
    missingIds = new long[slots];
    values = new long[slots];
    unknown = new long[slots];
  }

  /**
   * Adds rows; their values without a row in the model are added by {@link #addUnknown}.
   *
   * @param raw rows of the encoder's {@link FeatureEncoder#rawSchema}
   */
  public void add(Batch raw) {
    rows += raw.size();
    float[] dense = raw.dense();
    int dim = missingNumbers.length;
    for (int row = 0; row < raw.size(); row++) {
      for (int f = 0; f < dim; f++) {
        missingNumbers[f] += Float.isNaN(dense[row * dim + f]) ? 1 : 0;
      }
    }
    for (int s = 0; s < missingIds.length; s++) {
      boolean text = encoder.slots().get(s).text();
      missingIds[s] += SlotValues.missing(raw, s, text);
      values[s] += values(raw, s, text);
      unknown[s] += ValueIds.unknownWithRow(encoder, raw, s);
    }
  }

  private static long values(Batch raw, int slot, boolean text) {
    int count = raw.idCount(slot);
    long[] ids = raw.ids(slot);
    int values = count;
    for (int i = 0; text && i < count; i++) {
      values -= ids[i] == TextHash.EMPTY ? 1 : 0;
    }
    return values;
  }

  /** Adds an id of an encoded slot that has no row in the model. */
  public void addUnknown(int slot, long id) {
    if (slot < unknown.length && !encoder.isMissing(slot, id)) {
      unknown[slot]++;
    }
  }

  /** Rows so far. */
  public long rows() {
    return rows;
  }

  /** The counts of each dense column, then of each slot. */
  public List<Column> columns() {
    List<Column> columns = new ArrayList<>();
    for (int f = 0; f < missingNumbers.length; f++) {
      columns.add(new Column(encoder.rawSchema().dense().get(f), rows, missingNumbers[f], 0, 0));
    }
    for (int s = 0; s < unknown.length; s++) {
      String name = encoder.rawSchema().slotNames().get(s);
      columns.add(new Column(name, rows, missingIds[s], values[s], unknown[s]));
    }
    return columns;
  }

  /**
   * A sentence for each column that is unlike the training rows: above 20% of its values are
   * unknown where training had under a quarter of that share, or above 90% whatever training had;
   * or above 20% of the rows have no value where training had under a quarter of that share.
   */
  public List<String> warnings() {
    List<String> warnings = new ArrayList<>();
    for (Column column : columns()) {
      unknownWarning(column).ifPresent(warnings::add);
      missingWarning(column).ifPresent(warnings::add);
    }
    return warnings;
  }

  private Optional<String> unknownWarning(Column column) {
    double share = (double) column.unknown / column.values;
    int slot = encoder.rawSchema().slotNames().indexOf(column.name);
    boolean unlike = share > LARGE && trainedUnknown(slot) < MUCH_SMALLER * share;
    if (!unlike && !(share > NEARLY_ALL)) {
      return Optional.empty();
    }
    String most =
        encoder.text(slot, 1).map(text -> ", such as \"" + text + "\" in training").orElse("");
    return Optional.of(
        "%s: %s of %,d values are unknown to the model; check that they are written as in training%s"
            .formatted(column.name, percent(share), column.values, most));
  }

  /** The share of the values in training without a row; 1 where it is not known. */
  private double trainedUnknown(int slot) {
    if (!(encoder.slots().get(slot) instanceof IdEncoding.Vocabulary vocabulary)) {
      return 1;
    }
    return trained(encoder.rawSchema().slotNames().get(slot))
        .map(TrainingFacts.Column::unknown)
        .orElse(vocabulary.leavesOut() ? 1.0 : 0.0);
  }

  private Optional<String> missingWarning(Column column) {
    double share = (double) column.missing / rows;
    Optional<TrainingFacts.Column> before = trained(column.name);
    if (before.isEmpty() || !(share > LARGE)) {
      return Optional.empty();
    }
    double then = (double) before.get().missing() / encoder.training().orElseThrow().rows();
    return then < MUCH_SMALLER * share
        ? Optional.of(
            "%s: %s of %,d rows have no value, in training %s had none; check the column in the files"
                .formatted(column.name, percent(share), rows, percent(then)))
        : Optional.empty();
  }

  private Optional<TrainingFacts.Column> trained(String name) {
    return encoder.training().flatMap(facts -> facts.column(name));
  }

  private static String percent(double share) {
    return "%.3g%%".formatted(100 * share);
  }
}
