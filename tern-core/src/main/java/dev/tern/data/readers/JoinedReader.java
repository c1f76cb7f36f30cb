package dev.tern.data.readers;

import dev.tern.data.DataReader;
import dev.tern.data.PassOrder;
import dev.tern.data.PositionedReader;
import dev.tern.data.Reading;
import dev.tern.data.Schema;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.LongBinaryOperator;

/**
 * A reader over several others, which the consumer's thread reads. By default it has all rows of
 * each, and their common schema.
 */
abstract class JoinedReader extends PositionedReader {
  final List<DataReader> sources;

  /** The rows of each source, one after the other. */
  final RowCursor[] cursors;

  /**
   * @param op name of the operation, for messages
   * @param sources one at least
   */
  JoinedReader(String op, List<DataReader> sources) {
    if (sources.isEmpty()) {
      throw new IllegalArgumentException(op + ": got no reader, expected one or more");
    }
    this.sources = List.copyOf(sources);
    cursors = sources.stream().map(RowCursor::new).toArray(RowCursor[]::new);
  }

  /** Refuses sources whose schemas differ. */
  static List<DataReader> requireSameRows(String op, List<DataReader> sources) {
    for (DataReader source : sources) {
      Readers.requireSchema(op, source.schema(), sources.get(0).schema());
    }
    return sources;
  }

  @Override
  public Schema schema() {
    return sources.get(0).schema();
  }

  /** That of all sources, where they agree and the rows have their columns. */
  @Override
  public Optional<Reading> reading() {
    Optional<Reading> first = sources.getFirst().reading();
    boolean same =
        sources.stream().allMatch(s -> s.schema().equals(schema()) && s.reading().equals(first));
    return same ? first : Optional.empty();
  }

  @Override
  protected void begin(int epoch, PassOrder order) {
    for (int i = 0; i < cursors.length; i++) {
      cursors[i].start(epoch, order.part(i));
    }
  }

  @Override
  protected PassOrder order() {
    return PassOrder.of(sources.stream().map(source -> source.state().order()).toList());
  }

  @Override
  public OptionalLong rowCount() {
    return rowCount(Long::sum);
  }

  /** The rows of all sources, joined by {@code join}; empty if a source does not know its own. */
  final OptionalLong rowCount(LongBinaryOperator join) {
    List<OptionalLong> counts = sources.stream().map(DataReader::rowCount).toList();
    return counts.stream().allMatch(OptionalLong::isPresent)
        ? counts.stream().mapToLong(OptionalLong::getAsLong).reduce(join)
        : OptionalLong.empty();
  }

  @Override
  protected void release() {
    Throwable failure = null;
    for (RowCursor cursor : cursors) {
      try {
        cursor.close();
      } catch (RuntimeException | Error e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    PrefetchedReader.rethrow(failure);
  }
}
