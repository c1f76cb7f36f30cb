package dev.tern.data;

import java.util.Optional;
import java.util.OptionalLong;

/** See {@link Readers#repeat}. */
final class RepeatReader implements DataReader {
  private final DataReader source;
  private final int times;
  private int epoch;

  /** Passes of the source begun in this pass, less one. */
  private int time;

  RepeatReader(DataReader source, int times) {
    this.source = source;
    this.times = times;
  }

  @Override
  public Schema schema() {
    return source.schema();
  }

  @Override
  public Optional<Batch> next() {
    do {
      Optional<Batch> next = source.next();
      if (next.isPresent()) {
        return next;
      }
    } while (enterNextPass());
    return Optional.empty();
  }

  private boolean enterNextPass() {
    if (time + 1 == times) {
      return false;
    }
    time++;
    source.start(Math.addExact(Math.multiplyExact(epoch, times), time));
    return true;
  }

  @Override
  public void start(int epoch) {
    this.epoch = epoch;
    time = 0;
    source.start(Math.multiplyExact(epoch, times));
  }

  @Override
  public long skip(long rows) {
    long skipped = source.skip(rows);
    while (skipped < rows && enterNextPass()) {
      skipped += source.skip(rows - skipped);
    }
    return skipped;
  }

  @Override
  public OptionalLong rowCount() {
    OptionalLong rows = source.rowCount();
    return rows.isPresent() ? OptionalLong.of(Math.multiplyExact(rows.getAsLong(), times)) : rows;
  }

  @Override
  public void close() {
    source.close();
  }
}
