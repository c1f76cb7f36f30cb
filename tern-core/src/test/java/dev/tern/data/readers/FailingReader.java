package dev.tern.data.readers;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.ReaderState;
import dev.tern.data.Schema;
import java.util.Optional;
import java.util.OptionalLong;

/** A reader that throws in the place of batch {@code failAt}, counted from 0 in each pass. */
public class FailingReader implements DataReader {
  private final DataReader source;
  private final int failAt;
  private int batches;

  public FailingReader(DataReader source, int failAt) {
    this.source = source;
    this.failAt = failAt;
  }

  @Override
  public Schema schema() {
    return source.schema();
  }

  @Override
  public Optional<Batch> next() {
    if (batches++ == failAt) {
      throw new DataException("part-1.csv: row 17: got \"x\", expected a number");
    }
    return source.next();
  }

  @Override
  public long skip(long rows) {
    return source.skip(rows);
  }

  @Override
  public ReaderState state() {
    return source.state();
  }

  @Override
  public void restore(ReaderState state) {
    batches = 0;
    source.restore(state);
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
