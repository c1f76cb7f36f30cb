package dev.tern.serve;

import dev.tern.data.Batch;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.RowFiller;
import dev.tern.serve.wire.JsonOutput;
import dev.tern.serve.wire.ProtoWriter;
import dev.tern.serve.wire.RefusedException;
import org.jspecify.annotations.Nullable;

/** Working memory of a request, used again by later ones of models with the same encoder. */
final class RequestContext {
  /** Rows of a request. */
  static final int MOST_ROWS = 10_000;

  /** Values of columns that are given once for all rows, with each of the rows that has them. */
  static final int MOST_REPEATED = 8_000_000;

  private static final int ID_BYTES = Long.BYTES;

  final FeatureEncoder encoder;
  final RowFiller filler;
  final Batch rows;

  /** Columns that are given once for all rows: a row of them. */
  final RowFiller onceFiller;

  final Batch once;
  final JsonOutput output = new JsonOutput(this::holds);
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

  /** The items that a request does not want, where it asks for items. */
  @Nullable ExcludedItems excluded;

  private final RequestMemory memory;

  /** Bytes of {@link #memory} that the request at hand holds. */
  private long held;

  RequestContext(FeatureEncoder encoder, RequestMemory memory) {
    this.encoder = encoder;
    this.memory = memory;
    filler = encoder.filler();
    rows = new Batch(encoder.rawSchema(), 16);
    onceFiller = encoder.filler();
    once = new Batch(encoder.rawSchema(), 1);
  }

  /**
   * Refuses columns for all rows that are too many values in all, or more than memory is left for:
   * a small body may hold a few long lists for many rows.
   */
  void requireRepeated(int count) {
    long values = 0;
    long bytes = 0;
    for (int s = 0; s < once.schema().slotCount(); s++) {
      values += once.idCount(s);
      int each = once.schema().slots().get(s).weighted() ? ID_BYTES + Float.BYTES : ID_BYTES;
      bytes += (long) each * once.idCount(s) * count;
    }
    if (values * count > MOST_REPEATED) {
      throw new RefusedException(
          400,
          "context: got %,d values for each of %,d rows, expected at most %,d in all; send fewer rows at once"
              .formatted(values, count, MOST_REPEATED));
    }
    if (!holds(bytes)) {
      throw new RefusedException(
          503,
          "context: got %,d values for each of %,d rows, for which no memory is left; ask again, or send fewer rows at once"
              .formatted(values, count));
    }
  }

  /** Holds memory until the request is answered; false where there is no room. */
  boolean holds(long bytes) {
    boolean taken = memory.take(bytes);
    held += taken ? bytes : 0;
    return taken;
  }

  /** Gives back what the request held. */
  void giveMemory() {
    output.shrink();
    message.shrink();
    memory.give(held);
    held = 0;
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
