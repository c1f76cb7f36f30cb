package dev.tern.data;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** See {@link Readers#concat}. */
final class ConcatReader implements DataReader {
  private final List<DataReader> sources;
  private int epoch;
  private int current;

  ConcatReader(List<DataReader> sources) {
    this.sources = List.copyOf(sources);
    if (sources.isEmpty()) {
      throw new IllegalArgumentException("concat: got no reader, expected one or more");
    }
    for (DataReader source : sources) {
      Readers.requireSchema("concat", source.schema(), schema());
    }
  }

  @Override
  public Schema schema() {
    return sources.get(0).schema();
  }

  @Override
  public Optional<Batch> next() {
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
    sources.get(current).start(epoch);
    return true;
  }

  @Override
  public void start(int epoch) {
    this.epoch = epoch;
    current = 0;
    sources.get(0).start(epoch);
  }

  @Override
  public long skip(long rows) {
    long skipped = sources.get(current).skip(rows);
    while (skipped < rows && enterNextSource()) {
      skipped += sources.get(current).skip(rows - skipped);
    }
    return skipped;
  }

  @Override
  public OptionalLong rowCount() {
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
  @Override
  public void close() {
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
