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

/** See {@link Readers#repeat}. */
final class RepeatReader extends PositionedReader {
  private final DataReader source;
  private final int times;
  private int epoch;

  /** Passes of the source begun in this pass, less one. */
  private int time;

  private PassOrder recalled = PassOrder.FIXED;

  /** Orders of earlier passes of the source in this pass, up to the last that is not fixed. */
  private final List<PassOrder> earlier = new ArrayList<>();

  RepeatReader(DataReader source, int times) {
    this.source = source;
    this.times = times;
  }

  @Override
  public Schema schema() {
    return source.schema();
  }

  @Override
  protected Optional<Batch> read() {
    return read(false);
  }

  @Override
  protected Optional<Batch> readView() {
    return read(true);
  }

  private Optional<Batch> read(boolean view) {
    do {
      Optional<Batch> next = view ? source.nextView() : source.next();
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
    keepOrder(earlier);
    time++;
    int next = Math.addExact(Math.multiplyExact(epoch, times), time);
    source.restore(new ReaderState(next, 0, recalled.part(time)));
    return true;
  }

  /** Adds the order of the source's pass to those before, unless it is fixed. */
  private void keepOrder(List<PassOrder> orders) {
    PassOrder order = source.state().order();
    if (!order.isFixed()) {
      while (orders.size() < time) {
        orders.add(PassOrder.FIXED);
      }
      orders.add(order);
    }
  }

  @Override
  protected long pass(long rows) {
    long passed = source.skip(rows);
    while (passed < rows && enterNextPass()) {
      passed += source.skip(rows - passed);
    }
    return passed;
  }

  @Override
  protected void begin(int epoch, PassOrder order) {
    this.epoch = epoch;
    time = 0;
    recalled = order;
    earlier.clear();
    source.restore(new ReaderState(Math.multiplyExact(epoch, times), 0, order.part(0)));
  }

  @Override
  protected PassOrder order() {
    List<PassOrder> orders = new ArrayList<>(earlier);
    keepOrder(orders);
    return PassOrder.of(orders);
  }

  @Override
  public OptionalLong rowCount() {
    OptionalLong rows = source.rowCount();
    return rows.isPresent() ? OptionalLong.of(Math.multiplyExact(rows.getAsLong(), times)) : rows;
  }

  @Override
  protected void release() {
    source.close();
  }
}
