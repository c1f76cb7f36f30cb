package dev.tern.data.readers;

import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.PassOrder;
import dev.tern.data.PositionedReader;
import dev.tern.data.ReaderState;
import dev.tern.data.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** See {@link Readers#concat}. */
final class ConcatReader extends PositionedReader {
  private final List<DataReader> sources;
  private int epoch;
  private PassOrder recalled = PassOrder.FIXED;
  private int current;

  ConcatReader(List<DataReader> sources) {
    this.sources = SourceReaders.sameRows("concat", sources);
  }

  @Override
  public Schema schema() {
    return sources.get(0).schema();
  }

  @Override
  protected Optional<Batch> read() {
    do {
      Optional<Batch> next = sources.get(current).next();
      if (next.isPresent()) {
        return next;
      }
    } while (enterNextSource());
    return Optional.empty();
  }

  private boolean enterNextSource() {
    if (current + 1 == sources.size()) {
      return false;
    }
    current++;
    sources.get(current).restore(new ReaderState(epoch, 0, recalled.part(current)));
    return true;
  }

  @Override
  protected long pass(long rows) {
    long passed = sources.get(current).skip(rows);
    while (passed < rows && enterNextSource()) {
      passed += sources.get(current).skip(rows - passed);
    }
    return passed;
  }

  @Override
  protected void begin(int epoch, PassOrder order) {
    this.epoch = epoch;
    recalled = order;
    current = 0;
    sources.get(0).restore(new ReaderState(epoch, 0, order.part(0)));
  }

  @Override
  protected PassOrder order() {
    List<PassOrder> orders = new ArrayList<>();
    for (DataReader source : sources.subList(0, current + 1)) {
      orders.add(source.state().order());
    }
    return PassOrder.of(orders);
  }

  @Override
  public OptionalLong rowCount() {
    return SourceReaders.rowCount(sources);
  }

  @Override
  protected void release() {
    SourceReaders.close(sources);
  }
}
