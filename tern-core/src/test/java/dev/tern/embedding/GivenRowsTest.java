package dev.tern.embedding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DType;
import dev.tern.embedding.config.Eviction;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.embedding.config.VectorSource;
import dev.tern.internal.memory.Memory;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Tables that begin with vectors of their user's. */
final class GivenRowsTest {
  private static final int WIDTH = 7;
  private static final int ROWS = 5000;

  private static List<TableOptions> options() {
    TableOptions adam = TableOptions.of(Optimizer.lazyAdam(0.1f));
    return List.of(
        adam,
        TableOptions.of(new Optimizer.Adagrad(0.1f, 0.5f, 1e-7f)).storage(DType.F16),
        adam.storage(DType.BF16),
        adam.rows(RowPolicy.ALL.withRoomMadeBy(new Eviction.LeastFrequent(), ROWS)));
  }

  private static VectorSource vectors(int columns, int rows) {
    int[] next = {0};
    return (ids, floats) -> {
      int count = 0;
      for (; count < ids.length && next[0] < rows; count++) {
        ids[count] = id(next[0]);
        for (int j = 0; j < columns; j++) {
          floats[count * columns + j] = next[0] + j;
        }
        next[0]++;
      }
      return count;
    };
  }

  private static long id(int row) {
    return 31L * row - 700;
  }

  /** The bits of rows by id, as a sink takes them. */
  private static Map<Long, List<Integer>> rows(EmbeddingTable table) {
    Map<Long, List<Integer>> rows = new TreeMap<>();
    int floats = table.config().rowFloats();
    table.exportTo((ids, values, count) -> {
      for (int i = 0; i < count; i++) {
        List<Integer> row = new ArrayList<>();
        for (int j = 0; j < floats; j++) {
          row.add(Memory.getInt(values.address() + 4L * (i * floats + j)));
        }
        rows.put(ids[i], row);
      }
    });
    return rows;
  }

  @Test
  void whatIsNotGivenIsAsInRowsThatTrainingAdds() {
    for (TableOptions options : options()) {
      TableConfig config = new TableConfig("t", 3, WIDTH, 11, options);
      long[] all = new long[ROWS];
      for (int i = 0; i < ROWS; i++) {
        all[i] = id(i);
      }
      try (Device device = Device.cpu(1, 1L << 26);
          EmbeddingTable given = EmbeddingTable.create(config, device);
          EmbeddingTable usual = EmbeddingTable.create(config, device)) {
        given.begin(2, 3, vectors(3, ROWS));
        usual.find(all, ROWS, new Lookup(), true);
        Map<Long, List<Integer>> expected = rows(usual);
        Map<Long, List<Integer>> got = rows(given);
        assertThat(got.keySet()).isEqualTo(expected.keySet());
        for (int i = 0; i < ROWS; i++) {
          List<Integer> row = got.get(id(i));
          List<Integer> other = expected.get(id(i));
          for (int j = 0; j < row.size(); j++) {
            if (j < 2 || j >= 5) {
              assertThat(row.get(j)).as("%s of row %s", j, i).isEqualTo(other.get(j));
            } else if (config.storage() == DType.F32) {
              assertThat(Float.intBitsToFloat(row.get(j))).isEqualTo(i + j - 2);
            }
          }
        }
      }
    }
  }

  @Test
  void whatIsNoRowOfTheTableIsRefused() {
    TableConfig config = new TableConfig("t", 0, WIDTH, 1, options().getFirst());
    TableConfig few =
        config.with(o -> o.rows(RowPolicy.ALL.withRoomMadeBy(new Eviction.LeastRecent(), 10)));
    requireRefused(config, 5, 3, vectors(3, 1), "got vectors of 3 numbers for rows from column 5");
    requireRefused(config, -1, 3, vectors(3, 1), "from column -1");
    requireRefused(few, 0, 3, vectors(3, 11), "got 11 vectors, expected 10 at most");
    VectorSource infinite =
        (ids, floats) -> {
          ids[0] = 8;
          floats[1] = Float.NaN;
          return 1;
        };
    requireRefused(config, 0, 2, infinite, "got NaN in the vector of id 8");
    requireRefused(config, 0, 2, (ids, floats) -> 2, "got id 0 twice");
  }

  private static void requireRefused(
      TableConfig config, int first, int columns, VectorSource vectors, String message) {
    try (Device device = Device.cpu(1, 1L << 24);
        EmbeddingTable table = EmbeddingTable.create(config, device)) {
      assertThatThrownBy(() -> table.begin(first, columns, vectors))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(message);
    }
  }
}
