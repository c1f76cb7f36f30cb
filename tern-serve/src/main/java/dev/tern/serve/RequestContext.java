package dev.tern.serve;

import dev.tern.data.Batch;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.RowFiller;

/** Working memory of a request, used again by later ones of models with the same encoder. */
final class RequestContext {
  /** Rows of a request. */
  static final int MOST_ROWS = 10_000;

  /** Values of columns that are given once for all rows, with each of the rows that has them. */
  static final int MOST_REPEATED = 8_000_000;

  final FeatureEncoder encoder;
  final RowFiller filler;
  final Batch rows;

  /** Columns that are given once for all rows: a row of them. */
  final RowFiller onceFiller;

  final Batch once;
  final JsonOutput output = new JsonOutput();
  final RequestOptions options = new RequestOptions();
  final Scoring scoring = new Scoring();
  final InferInputs inputs = new InferInputs();
  final JsonFlow flow = new JsonFlow();
  final ColumnOrder order = new ColumnOrder();
  final ProtoWriter message = new ProtoWriter();

  /** Where raw tensors begin and end, two places each. */
  int[] raws = new int[128];

  /** A name at hand. */
  char[] text = new char[64];

  RequestContext(FeatureEncoder encoder) {
    this.encoder = encoder;
    filler = encoder.filler();
    rows = new Batch(encoder.rawSchema(), 16);
    onceFiller = encoder.filler();
    once = new Batch(encoder.rawSchema(), 1);
  }

  /** Refuses columns for all rows that are too many values in all. */
  void requireRepeated(int count) {
    long values = 0;
    for (int s = 0; s < once.schema().slotCount(); s++) {
      values += once.idCount(s);
    }
    if (values * count > MOST_REPEATED) {
      throw new RefusedException(
          400,
          "context: got %,d values for each of %,d rows, expected at most %,d in all; send fewer rows at once"
              .formatted(values, count, MOST_REPEATED));
    }
  }

  /** The ids that it has room for. */
  long ids() {
    long ids = (long) rows.dense().length / 2;
    for (int s = 0; s < rows.schema().slotCount(); s++) {
      ids += rows.ids(s).length + once.ids(s).length;
    }
    return ids;
  }

  static void requireRows(long count) {
    if (count > MOST_ROWS) {
      throw new RefusedException(
          400,
          "body: got %,d rows, expected at most %,d; send several requests"
              .formatted(count, MOST_ROWS));
    }
  }
}
