package dev.tern.files.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.data.DataReader;
import dev.tern.files.FileColumn;
import dev.tern.files.ReadPolicy;
import dev.tern.files.Rows;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What may stand where a HugeCTR data set is expected. */
final class ParquetHugeCtrFileTest {
  @TempDir private Path folder;

  private static void assertRefused(Path source, String... parts) {
    assertThatThrownBy(() -> ParquetReader.openHugeCtr(source, ParquetOptions.DEFAULT).close())
        .isInstanceOf(DataException.class)
        .hasMessageStartingWith(source.toString())
        .hasMessageContainingAll(parts);
  }

  @Test
  void aParquetFileWithoutMetadataAsksForItsColumns() throws IOException {
    Rows rows = Rows.random(1, 3, 1, 1, new int[] {1, 0}, 9);
    Path file = folder.resolve("rows.parquet");
    rows.write(ParquetWriter.create(file, rows.schema(), ParquetLayout.DEFAULT), 4);
    assertRefused(
        file,
        "got Parquet with columns [label0 (FLOAT), dense0 (FLOAT), slot0 (INT64), slot1 (LIST of"
            + " INT64)], none of them named, and no _metadata.json beside it",
        "name label, dense and sparse columns");
    assertThat(ParquetReader.columns(file)).contains(new FileColumn("slot0", "INT64"));
    assertThat(ParquetReader.columns(folder)).isEqualTo(ParquetReader.columns(file));
    assertThat(ParquetReader.isHugeCtr(file)).isFalse();
    assertThat(ParquetReader.isHugeCtr(folder)).isFalse();
    Files.writeString(folder.resolve("_metadata.json"), "{}");
    assertThat(ParquetReader.isHugeCtr(file)).isTrue();
    assertThat(ParquetReader.isHugeCtr(folder)).isTrue();
  }

  @Test
  void bytesThatAreNoTextAreNoFileList() throws IOException {
    Path file = Files.write(folder.resolve("list.txt"), new byte[] {'1', (byte) 0xFF, '\n'});
    assertRefused(file, "got bytes that are no UTF-8 text", "expected a file list");
  }

  /** Rows in HugeCTR's form, in a folder of their own. */
  private Rows write(String name, int seed, int... hotness) {
    Rows rows = Rows.random(seed, 5 + seed, 1, 2, hotness, 9);
    Path file = folder.resolve(name);
    rows.write(ParquetWriter.create(file, rows.schema(), ParquetLayout.DEFAULT.asHugeCtr()), 4);
    return rows;
  }

  @Test
  void allOfSeveralSourcesAreReadInOrder() {
    Rows a = write("a/rows.parquet", 1, 1, 2);
    Rows b = write("b/rows.parquet", 2, 1, 2);
    Rows c = write("c/more.parquet", 3, 1, 2);
    List<Path> sources =
        List.of(
            folder.resolve("b"),
            folder.resolve("a/rows.parquet"),
            folder.resolve("c/_file_list.txt"),
            folder.resolve("a"));
    List<Rows.Row> expected = new ArrayList<>();
    List.of(b, a, c, a).forEach(rows -> expected.addAll(rows.list()));
    try (DataReader reader =
        ParquetReader.openHugeCtr(sources, ParquetOptions.DEFAULT, ReadPolicy.STRICT)) {
      assertThat(reader.rowCount()).hasValue(expected.size());
      assertThat(Rows.read(reader)).isEqualTo(expected);
      reader.start(1);
      assertThat(reader.skip(9)).isEqualTo(9);
      assertThat(Rows.read(reader)).isEqualTo(expected.subList(9, expected.size()));
    }
  }

  /** Files of a list lie where they will; the description beside the first serves those without. */
  @Test
  void eachListedFileIsReadByTheDescriptionBesideItElseByTheFirst() throws IOException {
    Rows a = write("a/rows.parquet", 1, 1, 2);
    Rows b = write("b/rows.parquet", 2, 1, 2);
    Files.createDirectory(folder.resolve("c"));
    Files.copy(folder.resolve("a/rows.parquet"), folder.resolve("c/rows.parquet"));
    Path list =
        Files.writeString(
            folder.resolve("list.txt"), "3\na/rows.parquet\nb/rows.parquet\nc/rows.parquet\n");
    List<Rows.Row> expected = new ArrayList<>();
    List.of(a, b, a).forEach(rows -> expected.addAll(rows.list()));
    try (DataReader reader = ParquetReader.openHugeCtr(list, ParquetOptions.DEFAULT)) {
      assertThat(Rows.read(reader)).isEqualTo(expected);
    }
  }

  @Test
  void aSourceThatIsAbsentOrOfOtherColumnsIsAFault() throws IOException {
    Rows a = write("a/rows.parquet", 1, 1, 2);
    write("b/rows.parquet", 2, 1);
    Files.createDirectory(folder.resolve("empty"));
    Path first = folder.resolve("a");
    List<String> faults = new ArrayList<>();
    ReadPolicy lenient = ReadPolicy.STRICT.withFaults(f -> faults.add(f.getMessage()));
    for (String name : List.of("b", "empty", "absent", "absent.parquet", "absent.txt")) {
      List<Path> sources = List.of(first, folder.resolve(name));
      assertThatThrownBy(
              () -> ParquetReader.openHugeCtr(sources, ParquetOptions.DEFAULT, ReadPolicy.STRICT))
          .isInstanceOf(DataException.class)
          .hasMessageStartingWith(folder.resolve(name).toString());
      try (DataReader reader =
          ParquetReader.openHugeCtr(sources, ParquetOptions.DEFAULT, lenient)) {
        assertThat(Rows.read(reader)).isEqualTo(a.list());
      }
      assertThat(faults).hasSize(1);
      faults.clear();
    }
  }
}
