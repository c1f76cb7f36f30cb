package dev.tern.data;

import java.util.Optional;
import java.util.OptionalLong;

/** See {@link Readers#encoded}. */
final class EncodedReader implements DataReader {
  private final DataReader source;
  private final FeatureEncoder encoder;
  private final BatchPool pool;

  EncodedReader(DataReader source, FeatureEncoder encoder) {
    this.source = source;
    this.encoder = encoder;
    pool = new BatchPool(encoder.schema(), 1024);
  }

  @Override
  public Schema schema() {
    return encoder.schema();
  }

  @Override
  public Optional<Batch> next() {
    Optional<Batch> next = source.next();
    if (next.isEmpty()) {
      return next;
    }
    Batch encoded = pool.take();
    try (Batch raw = next.get()) {
      encoder.apply(raw, encoded);
    } catch (Throwable e) {
      encoded.close();
      throw e;
    }
    return Optional.of(encoded);
  }

  @Override
  public void start(int epoch) {
    source.start(epoch);
  }

  @Override
  public long skip(long rows) {
    return source.skip(rows);
  }

  @Override
  public OptionalLong rowCount() {
    return source.rowCount();
  }

  @Override
  public void close() {
    source.close();
  }
}
