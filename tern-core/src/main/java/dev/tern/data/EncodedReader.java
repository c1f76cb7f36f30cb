package dev.tern.data;

import java.util.Optional;
import java.util.OptionalLong;

/** See {@link Readers#encoded}. */
final class EncodedReader extends PositionedReader {
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
  protected Optional<Batch> read() {
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
  protected long pass(long rows) {
    return source.skip(rows);
  }

  @Override
  protected void begin(int epoch, PassOrder order) {
    source.restore(new ReaderState(epoch, 0, order));
  }

  @Override
  protected PassOrder order() {
    return source.state().order();
  }

  @Override
  public OptionalLong rowCount() {
    return source.rowCount();
  }

  @Override
  protected void release() {
    source.close();
  }
}
