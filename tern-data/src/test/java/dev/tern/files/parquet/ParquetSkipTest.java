package dev.tern.files.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.tern.base.DataException;
import dev.tern.data.DataReader;
import dev.tern.files.Columns;
import dev.tern.files.ReadPolicy;
import dev.tern.files.SparseColumn;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.format.ColumnMetaData;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows delivered and rows reported as lost are those of the files, whatever is damaged. */
class ParquetSkipTest {
  private static final int GROUP = 5000;
  private static final int ROWS = 3 * GROUP;
  private static final String FIELDS = "required int64 c; optional double d;";
  private static final Columns COLUMNS =
      new Columns(List.of(), Set.of(), List.of("d"), List.of(SparseColumn.id("c")));

  @TempDir Path folder;

  /** Three groups; the id of a row is its number in all files, and one in 1,000 is bad. */
  private Path part(int index) throws IOException {
    BiConsumer<Group, Integer> row =
        (group, i) -> {
          long id = (long) index * ROWS + i;
          group.append("c", id).append("d", id % 1000 == 17 ? Double.POSITIVE_INFINITY : id);
        };
    return ParquetForge.write(
        folder.resolve("part-" + index + ".parquet"),
        FIELDS,
        ROWS,
        row,
        builder ->
            builder
                .withRowGroupRowCountLimit(GROUP)
                .withPageRowCountLimit(1000)
                .withDictionaryEncoding(false)
                .withPageWriteChecksumEnabled(true));
  }

  private static long[] sound(long from, long to) {
    return IntStream.range((int) from, (int) to)
        .filter(id -> id % 1000 != 17)
        .asLongStream()
        .toArray();
  }

  /** The bytes of a column's pages in a group. */
  private static int[] pages(Path path, int group, int column) {
    try (ParquetFile file = ParquetFile.open(path)) {
      ColumnMetaData data = file.rowGroups().get(group).getColumns().get(column).getMeta_data();
      int start = (int) data.getData_page_offset();
      return new int[] {start, start + (int) data.getTotal_compressed_size()};
    }
  }

  /** What was delivered, and what was reported. */
  private static final class Outcome {
    private final List<Long> ids = new ArrayList<>();
    private final List<DataException> faults = new ArrayList<>();

    long lost() {
      return faults.stream().mapToLong(DataException::rows).sum();
    }
  }

  private static Outcome read(List<Path> files, Columns columns, int threads) {
    Outcome outcome = new Outcome();
    ReadPolicy policy =
        ReadPolicy.STRICT.withThreads(threads).withFaults(fault -> outcome.faults.add(fault));
    try (DataReader reader = ParquetReader.open(files, ParquetOptions.DEFAULT, columns, policy)) {
      for (var next = reader.next(); next.isPresent(); next = reader.next()) {
        try (var batch = next.get()) {
          int[] offsets = batch.offsets(0);
          for (int row = 0; row < batch.size(); row++) {
            assertThat(offsets[row + 1] - offsets[row]).isEqualTo(1);
            outcome.ids.add(batch.ids(0)[offsets[row]]);
          }
        }
      }
    }
    return outcome;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void aDamagedPageCostsWhatIsLeftOfItsGroupAndNoMore(int threads) throws IOException {
    List<Path> files = List.of(part(0), part(1), part(2));
    for (int column = 0; column < 2; column++) {
      int[] pages = pages(files.get(1), 1, column);
      byte[] sound = Files.readAllBytes(files.get(1));
      for (int place = 0; place < 5; place++) {
        byte[] damaged = sound.clone();
        damaged[pages[0] + (pages[1] - pages[0]) * place / 5 + 60] ^= 0x10;
        Files.write(files.get(1), damaged);
        Outcome outcome = read(files, COLUMNS, threads);
        assertThat(outcome.ids.size() + outcome.lost()).isEqualTo(3 * ROWS);
        assertThat(outcome.ids)
            .startsWith(Arrays.stream(sound(0, ROWS + GROUP)).boxed().toArray(Long[]::new))
            .endsWith(
                Arrays.stream(sound(ROWS + 2 * GROUP, 3 * ROWS)).boxed().toArray(Long[]::new));
        assertThat(outcome.faults)
            .filteredOn(fault -> fault.rows() != 1)
            .singleElement()
            .satisfies(fault -> {
              assertThat(fault).hasMessageContaining("part-1.parquet: column ");
              assertThat(fault.rows()).isBetween(1L, (long) GROUP);
            });
      }
      Files.write(files.get(1), sound);
    }
  }

  @Test
  void aColumnOfAnotherTypeCostsTheRowsOfItsFile() throws IOException {
    Path other =
        ParquetForge.write(
            folder.resolve("other.parquet"),
            "required binary c (STRING); optional double d;",
            77,
            (group, i) -> group.append("c", "x").append("d", 1.0));
    Outcome outcome = read(List.of(part(0), other), COLUMNS, 1);
    assertThat(outcome.ids).hasSize(ROWS - 15);
    assertThat(outcome.lost()).isEqualTo(15 + 77);
  }

  @Test
  void aFooterThatCannotBeReadCostsNobodyKnowsHowManyRows() throws IOException {
    Path cut = part(1);
    Files.write(cut, Arrays.copyOf(Files.readAllBytes(cut), 20_000));
    for (Path bad : List.of(cut, folder.resolve("absent.parquet"))) {
      Outcome outcome = read(List.of(part(0), bad), COLUMNS, 1);
      assertThat(outcome.ids).hasSize(ROWS - 15);
      assertThat(outcome.faults)
          .filteredOn(fault -> fault.rows() == DataException.UNKNOWN_ROWS)
          .singleElement()
          .satisfies(fault -> assertThat(fault).hasMessageContaining(bad.toString()));
      Files.deleteIfExists(folder.resolve("part-0.parquet"));
    }
  }

  @Test
  void rowsThatTheFooterDoesNotCountAreNoRowsThatAreLostInSilence() throws IOException {
    Path file =
        ParquetForge.write(
            folder.resolve("a.parquet"),
            "optional group c (LIST) { repeated group list { optional int64 element; } }",
            10,
            (group, i) -> group.addGroup("c").addGroup("list").append("element", (long) i));
    byte[] bytes =
        ParquetForge.withFooter(
            Files.readAllBytes(file),
            footer -> {
              footer.setNum_rows(9);
              footer.getRow_groups().getFirst().setNum_rows(9);
            });
    Files.write(file, bytes);
    Columns columns = new Columns(List.of(), Set.of(), List.of(), List.of(SparseColumn.id("c")));
    Outcome outcome = read(List.of(file), columns, 1);
    assertThat(outcome.faults)
        .singleElement()
        .satisfies(fault -> {
          assertThat(fault).hasMessageContaining("got more rows than its group has");
          assertThat(fault.rows()).isEqualTo(DataException.UNKNOWN_ROWS);
        });
  }

  @Test
  void theFirstDamagedPageEndsAStrictRun() throws IOException {
    Path file = part(0);
    byte[] bytes = Files.readAllBytes(file);
    bytes[pages(file, 1, 0)[0] + 60] ^= 1;
    Files.write(file, bytes);
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> ParquetRows.allAndClose(open(file)))
        .withMessageContaining("got a page with checksum");
  }

  private static DataReader open(Path file) {
    Columns ids = new Columns(List.of(), Set.of(), List.of(), List.of(SparseColumn.id("c")));
    return ParquetReader.open(List.of(file), ParquetOptions.DEFAULT, ids);
  }
}
