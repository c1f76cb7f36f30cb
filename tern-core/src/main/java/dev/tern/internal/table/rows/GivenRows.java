package dev.tern.internal.table.rows;

import dev.tern.embedding.config.RowSource;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.VectorSource;
import dev.tern.internal.memory.Memory;
import java.lang.foreign.MemorySegment;

/**
 * Rows of which some columns are given and the others begin as in any new row. They have the
 * optimizer state of new rows, and count as seen once, in step 1.
 */
public final class GivenRows implements RowSource {
  private final TableConfig config;
  private final VectorSource vectors;
  private final int first;
  private final int columns;
  private final InitialRows initial;
  private final float[] state;
  private final int[] metadata = {1, 1, Float.floatToIntBits(1)};
  private float[] given = {};

  /**
   * Rows whose columns {@code [first, first + columns)} are {@code vectors}.
   *
   * @throws IllegalArgumentException if rows do not have these columns
   */
  public GivenRows(TableConfig config, int first, int columns, VectorSource vectors) {
    if (first < 0 || columns < 1 || first + columns > config.width()) {
      throw new IllegalArgumentException(
          "table %s: got vectors of %d numbers for rows from column %d on, expected such as fit into the %d of a row"
              .formatted(config.name(), columns, first, config.width()));
    }
    this.config = config;
    this.first = first;
    this.columns = columns;
    this.vectors = vectors;
    initial = new InitialRows(config);
    state = config.rule().initialState(config.width());
  }

  @Override
  public int next(long[] ids, MemorySegment values) {
    if (given.length < ids.length * columns) {
      given = new float[ids.length * columns];
    }
    int count = vectors.next(ids, given);
    for (int i = 0; i < count; i++) {
      write(ids[i], i * columns, values.address() + 4L * i * config.rowFloats());
    }
    return count;
  }

  private void write(long id, int from, long to) {
    for (int j = 0; j < config.width(); j++) {
      boolean own = j >= first && j < first + columns;
      float weight = own ? given[from + j - first] : initial.value(id, j);
      if (!Float.isFinite(weight)) {
        throw new IllegalArgumentException(
            "table %s: got %s in the vector of id %d, expected finite numbers"
                .formatted(config.name(), weight, id));
      }
      Memory.setFloat(to + 4L * j, weight);
    }
    long numbers = to + 4L * config.width();
    Memory.copyIn(state, 0, numbers, state.length);
    for (int m = 0; m < config.metadata(); m++) {
      Memory.setInt(numbers + 4L * (state.length + m), metadata[m]);
    }
  }
}
