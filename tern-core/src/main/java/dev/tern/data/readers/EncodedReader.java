package dev.tern.data.readers;

import dev.tern.data.Batch;
import dev.tern.data.BatchPool;
import dev.tern.data.DataReader;
import dev.tern.data.Reading;
import dev.tern.data.Schema;
import dev.tern.data.encode.FeatureEncoder;
import java.util.Optional;

/** See {@link Readers#encoded(DataReader, FeatureEncoder)}. */
class EncodedReader extends DerivedReader {
  private final FeatureEncoder encoder;
  private final BatchPool pool;

  EncodedReader(DataReader source, FeatureEncoder encoder) {
    super(source);
    if (source.schema().weighted() && !encoder.schema().weighted()) {
      throw new IllegalArgumentException(
          "encode: got rows with the weights %s, expected rows without as in training; take FeatureEncoder.withWeight"
              .formatted(source.schema().weight().orElseThrow()));
    }
    this.encoder = encoder;
    pool = new BatchPool(encoder.schema(), 1024);
  }

  @Override
  public final Schema schema() {
    return encoder.schema();
  }

  /** None: the values are features, which no file holds. */
  @Override
  public final Optional<Reading> reading() {
    return Optional.empty();
  }

  @Override
  protected final Optional<Batch> read() {
    return readFrom(pool);
  }

  @Override
  protected final boolean readInto(Batch target) {
    Optional<Batch> next = source.nextView();
    if (next.isEmpty()) {
      return false;
    }
    try (Batch raw = next.get()) {
      encode(raw, target);
    }
    return true;
  }

  /** Encodes the rows of a batch. */
  void encode(Batch raw, Batch target) {
    encoder.apply(raw, target);
  }

  @Override
  protected final long pass(long rows) {
    return source.skip(rows);
  }
}
