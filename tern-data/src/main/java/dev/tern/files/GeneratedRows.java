package dev.tern.files;

import dev.tern.data.Batch;
import dev.tern.data.BatchPool;
import dev.tern.data.PassOrder;
import dev.tern.data.PositionedReader;
import dev.tern.data.Schema;
import java.util.Optional;
import java.util.OptionalLong;

/** Reads rows that are made when they are read. */
final class GeneratedRows extends PositionedReader {
  /** Appends a row by its number. */
  @FunctionalInterface
  interface Maker {
    void put(long row, Batch batch);
  }

  private final Schema schema;
  private final Maker maker;
  private final long first;
  private final long rows;
  private final BatchPool pool;
  private long done;

  /** Rows {@code first} to {@code first + rows - 1}. */
  GeneratedRows(Schema schema, Maker maker, long first, long rows) {
    this.schema = schema;
    this.maker = maker;
    this.first = first;
    this.rows = rows;
    pool = BatchPool.forFiles(schema, rows);
  }

  @Override
  public Schema schema() {
    return schema;
  }

  @Override
  protected Optional<Batch> read() {
    if (done == rows) {
      return Optional.empty();
    }
    Batch batch = pool.take();
    while (batch.size() < pool.rows() && done < rows) {
      maker.put(first + done, batch);
      batch.endRow();
      done++;
    }
    return Optional.of(batch);
  }

  @Override
  protected void begin(int epoch, PassOrder order) {
    done = 0;
  }

  @Override
  protected long pass(long count) {
    long passed = Math.min(count, rows - done);
    done += passed;
    return passed;
  }

  @Override
  public OptionalLong rowCount() {
    return OptionalLong.of(rows);
  }

  @Override
  protected void release() {}
}
