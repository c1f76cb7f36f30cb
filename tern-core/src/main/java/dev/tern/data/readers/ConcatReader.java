package dev.tern.data.readers;

import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.PassOrder;
import dev.tern.data.ReaderState;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Passes of readers, one after the other: a pass of each source ({@link Readers#concat}), or
 * several passes of one ({@link Readers#repeat}).
 */
final class ConcatReader extends JoinedReader {
  /** Passes of each source in a pass of this reader. */
  private final int times;

  /** Number of the current pass of a source in this pass, from 0. */
  private int part;

  private PassOrder recalled = PassOrder.FIXED;

  /** Orders of the parts before the current one, up to the last that is not fixed. */
  private final List<PassOrder> earlier = new ArrayList<>();

  ConcatReader(List<DataReader> sources, int times) {
    super("concat", requireSameRows("concat", sources));
    this.times = times;
  }

  /** The source of the current part. */
  private DataReader source() {
    return sources.get(part % sources.size());
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
      Optional<Batch> next = view ? source().nextView() : source().next();
      if (next.isPresent()) {
        return next;
      }
    } while (enterNextPart());
    return Optional.empty();
  }

  private boolean enterNextPart() {
    if (part + 1 == times * sources.size()) {
      return false;
    }
    keepOrder(earlier);
    part++;
    startPart();
    return true;
  }

  private void startPart() {
    int pass = Math.addExact(Math.multiplyExact(epoch(), times), part / sources.size());
    source().restore(new ReaderState(pass, 0, recalled.part(part)));
  }

  /** Appends the order of the current part, unless it is fixed. */
  private void keepOrder(List<PassOrder> orders) {
    PassOrder order = source().state().order();
    if (!order.isFixed()) {
      while (orders.size() < part) {
        orders.add(PassOrder.FIXED);
      }
      orders.add(order);
    }
  }

  @Override
  protected long pass(long rows) {
    long passed = source().skip(rows);
    while (passed < rows && enterNextPart()) {
      passed += source().skip(rows - passed);
    }
    return passed;
  }

  @Override
  protected void begin(int epoch, PassOrder order) {
    part = 0;
    recalled = order;
    earlier.clear();
    startPart();
  }

  @Override
  protected PassOrder order() {
    List<PassOrder> orders = new ArrayList<>(earlier);
    keepOrder(orders);
    return PassOrder.of(orders);
  }

  @Override
  public OptionalLong rowCount() {
    OptionalLong rows = super.rowCount();
    return rows.isPresent() ? OptionalLong.of(Math.multiplyExact(rows.getAsLong(), times)) : rows;
  }
}
