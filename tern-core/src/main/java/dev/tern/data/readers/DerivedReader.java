package dev.tern.data.readers;

import dev.tern.data.DataReader;
import dev.tern.data.PassOrder;
import dev.tern.data.PositionedReader;
import dev.tern.data.ReaderState;
import dev.tern.data.Schema;
import java.util.OptionalLong;

/**
 * A reader whose rows are made of those of one other, read by the consumer's thread. As it stands,
 * schema, order and number of rows are the other's.
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

  @Override
  protected void begin(int epoch, PassOrder order) {
    source.restore(new ReaderState(epoch, 0, order));
  }

  @Override
  protected final PassOrder order() {
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
