package dev.tern.cli.understand;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.files.Columns;
import dev.tern.files.SparseColumn;
import dev.tern.files.text.CsvOptions;
import dev.tern.files.text.CsvReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class RowSampleTest {
  private static final int ROWS = 10_000;

  @TempDir Path temp;
  private Path file = Path.of("");

  @BeforeEach
  void write() throws IOException {
    StringBuilder text = new StringBuilder("y,a,c\n");
    for (int i = 0; i < ROWS; i++) {
      text.append(i % 2).append(',').append(i).append(",c").append(i % 7).append('\n');
    }
    file = Files.writeString(temp.resolve("rows.csv"), text);
  }

  private RowSample.Rows sample(int most, long seed) {
    Columns columns =
        new Columns(
            List.of("y"), Set.of(), List.of("a"), List.of(SparseColumn.text("c")), Set.of());
    CsvOptions options = new CsvOptions(',', List.of(), false, false);
    try (DataReader reader = CsvReader.open(List.of(file), options, columns)) {
      Schema schema = reader.schema();
      return RowSample.of(reader, schema, most, seed, done -> {});
    }
  }

  private static List<Float> numbers(RowSample.Rows rows) {
    List<Float> numbers = new ArrayList<>();
    for (int i = 0; i < rows.batch().size(); i++) {
      numbers.add(rows.batch().dense()[i]);
    }
    return numbers;
  }

  @Test
  void fewRowsAreAllTaken() {
    RowSample.Rows all = sample(ROWS, 1);
    assertThat(all.seen()).isEqualTo(ROWS);
    assertThat(numbers(all)).hasSize(ROWS).isSorted();
  }

  @Test
  void manyRowsAreASampleInTheirOrderWithTheirOwnValues() {
    RowSample.Rows some = sample(1000, 1);
    assertThat(some.seen()).isEqualTo(ROWS);
    assertThat(numbers(some)).hasSize(1000).isSorted().doesNotHaveDuplicates();
    for (int i = 0; i < 1000; i++) {
      int row = (int) some.batch().dense()[i];
      assertThat(some.batch().labels()[i]).isEqualTo(row % 2);
      assertThat(some.batch().offsets(0)[i + 1]).isEqualTo(i + 1);
    }
    // Each tenth of the file has about a tenth of the sample.
    for (int tenth = 0; tenth < 10; tenth++) {
      int from = tenth * 1000;
      assertThat(numbers(some).stream().filter(a -> a >= from && a < from + 1000).count())
          .isBetween(60L, 140L);
    }
  }

  @Test
  void theSeedAloneDecidesWhichRowsAreTaken() {
    assertThat(numbers(sample(500, 3))).isEqualTo(numbers(sample(500, 3)));
    assertThat(numbers(sample(500, 3))).isNotEqualTo(numbers(sample(500, 4)));
  }
}
