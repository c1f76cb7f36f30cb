package dev.tern.data.readers;

import dev.tern.data.DataReader;
import dev.tern.data.PassOrder;
import java.util.List;
import java.util.OptionalLong;

/** What readers over several others have in common. */
final class SourceReaders {
  private SourceReaders() {}

  /** {@code sources}, at least one, all of the same schema. */
  static List<DataReader> sameRows(String op, List<DataReader> sources) {
    requireSome(op, sources);
    for (DataReader source : sources) {
      Readers.requireSchema(op, source.schema(), sources.get(0).schema());
    }
    return List.copyOf(sources);
  }

  static void requireSome(String op, List<DataReader> sources) {
    if (sources.isEmpty()) {
      throw new IllegalArgumentException(op + ": got no reader, expected one or more");
    }
  }

  /** The orders in which all of them came. */
  static PassOrder order(List<DataReader> sources) {
    return PassOrder.of(sources.stream().map(source -> source.state().order()).toList());
  }

  /** Rows of all of them. */
  static OptionalLong rowCount(List<DataReader> sources) {
    long rows = 0;
    for (DataReader source : sources) {
      OptionalLong count = source.rowCount();
      if (count.isEmpty()) {
        return count;
      }
      rows += count.getAsLong();
    }
    return OptionalLong.of(rows);
  }

  /** Closes every source, also where closing one fails. */
  static void close(List<DataReader> sources) {
    RuntimeException failure = null;
    for (DataReader source : sources) {
      try {
        source.close();
      } catch (RuntimeException e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}
