package dev.tern.data.readers;

import dev.tern.data.DataReader;
import dev.tern.data.PassOrder;
import dev.tern.data.PositionedReader;
import dev.tern.data.ReaderState;
import dev.tern.data.Reading;
import dev.tern.data.Schema;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A reader that makes its rows of the rows of one other reader. By default it has the schema, the
 * order and the number of rows of that reader.
 */
abstract class DerivedReader extends PositionedReader {
  final DataReader source;

  DerivedReader(DataReader source) {
    this.source = source;
  }

  @Override
  public Schema schema() {
    return source.schema();
  }

  /** The source's, where the rows have its numbers and slots. */
  @Override
  public Optional<Reading> reading() {
    Schema all = source.schema();
    boolean same = schema().dense().equals(all.dense()) && schema().slots().equals(all.slots());
    return same ? source.reading() : Optional.empty();
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
