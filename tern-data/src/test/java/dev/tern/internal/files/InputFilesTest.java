package dev.tern.internal.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.tern.base.DataException;
import dev.tern.internal.files.InputFiles.Kind;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class InputFilesTest {
  @TempDir Path root;

  @BeforeEach
  void makeTree() throws IOException {
    for (String file :
        List.of(
            "a.csv",
            "b.csv",
            "name[1].csv",
            "_SUCCESS",
            "._SUCCESS.crc",
            "set/part-1.csv",
            "set/part-0.csv",
            "set/part-2",
            "set/.part-0.csv.crc",
            "set/part-0.csv.crc",
            "set/part-9.csv._COPYING_",
            "set/_temporary/0/part-0.csv",
            "set/.hidden/x.csv",
            "hive/day=1/hour=7/p.csv",
            "hive/day=1/hour=8/p.csv",
            "hive/day=2/hour=7/p.csv",
            "hive/_day=3/p.csv",
            "hive/_SUCCESS",
            "lake/x.parquet",
            "lake/y.PARQUET",
            "lake/z.parq",
            "lake/w.parquet.gz",
            "lake/README.md",
            "lake/schema.pbtxt")) {
      file(file, "x");
    }
    file("lake/000000_0", "PAR1\0\1\2\3PAR1");
  }

  private Path file(String name, String text) throws IOException {
    Path file = root.resolve(name);
    Files.createDirectories(file.getParent());
    return Files.writeString(file, text, StandardCharsets.ISO_8859_1);
  }

  private List<String> found(Kind kind, String... names) {
    List<Path> paths = Arrays.stream(names).map(root::resolve).toList();
    return InputFiles.of(paths, kind).stream().map(f -> root.relativize(f).toString()).toList();
  }

  private void assertFault(Kind kind, String name, String... parts) {
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> found(kind, name))
        .satisfies(e -> assertThat(e.getMessage()).contains(parts));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "a.csv | a.csv",
        "absent.csv | absent.csv",
        "*.csv | a.csv b.csv name[1].csv",
        "?.csv | a.csv b.csv",
        "[b-z].csv | b.csv",
        "{b,a}.csv | a.csv b.csv",
        "name[1].csv | name[1].csv",
        "set | set/part-0.csv set/part-1.csv set/part-2",
        "set/* | set/part-0.csv set/part-1.csv set/part-2",
        "set/part* | set/part-0.csv set/part-1.csv set/part-2",
        "set/*.crc | set/part-0.csv.crc",
        "s*t/part-[01].csv | set/part-0.csv set/part-1.csv",
        "_* | _SUCCESS",
        "hive | hive/_day=3/p.csv hive/day=1/hour=7/p.csv hive/day=1/hour=8/p.csv"
            + " hive/day=2/hour=7/p.csv",
        "hive/day=*/hour=7/*.csv | hive/day=1/hour=7/p.csv hive/day=2/hour=7/p.csv",
        "hive/day=1 | hive/day=1/hour=7/p.csv hive/day=1/hour=8/p.csv",
        "hive/day=* | hive/day=1/hour=7/p.csv hive/day=1/hour=8/p.csv hive/day=2/hour=7/p.csv",
        "hive/**/hour=8/* | hive/day=1/hour=8/p.csv",
        "hive/**/p.csv | hive/_day=3/p.csv hive/day=1/hour=7/p.csv hive/day=1/hour=8/p.csv"
            + " hive/day=2/hour=7/p.csv",
        "hive/** | hive/_day=3/p.csv hive/day=1/hour=7/p.csv hive/day=1/hour=8/p.csv"
            + " hive/day=2/hour=7/p.csv",
        "**/hour=*/**/p.csv | hive/day=1/hour=7/p.csv hive/day=1/hour=8/p.csv"
            + " hive/day=2/hour=7/p.csv",
        "set/_temporary/0 | set/_temporary/0/part-0.csv",
      })
  void pathsFoldersAndPatternsNameTheirFilesInOrder(String path, String files) {
    assertThat(found(Kind.TEXT, path)).containsExactly(files.split(" "));
  }

  @Test
  void filesStayInTheOrderOfThePathsThatNameThem() {
    assertThat(found(Kind.TEXT, "b.csv", "set", "a.csv"))
        .containsExactly("b.csv", "set/part-0.csv", "set/part-1.csv", "set/part-2", "a.csv");
  }

  @Test
  void filesOfAFolderAreParquetByNameInAnyCaseOrByTheirFirstBytes() {
    assertThat(found(Kind.PARQUET, "lake"))
        .containsExactly(
            "lake/000000_0",
            "lake/w.parquet.gz",
            "lake/x.parquet",
            "lake/y.PARQUET",
            "lake/z.parq");
    assertFault(Kind.PARQUET, "set", "set: got no Parquet file there");
  }

  @Test
  void starsThatFollowStarsAreOne() {
    String stars = "*".repeat(70);
    assertThat(found(Kind.TEXT, "set/part" + stars + "1" + stars))
        .containsExactly("set/part-1.csv");
    assertThat(found(Kind.TEXT, stars + "/part-1.csv")).containsExactly("set/part-1.csv");
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> found(Kind.TEXT, "set/" + stars + "..no"));
  }

  @Test
  void aPatternThatMatchesAFolderAndTheFilesInItNamesEachOnce() {
    List<String> files =
        List.of(
            "hive/_day=3/p.csv",
            "hive/day=1/hour=7/p.csv",
            "hive/day=1/hour=8/p.csv",
            "hive/day=2/hour=7/p.csv");
    assertThat(found(Kind.TEXT, "hive/**/*")).isEqualTo(files);
    assertThat(found(Kind.TEXT, "hive/**/**/*")).isEqualTo(files);
    assertThat(found(Kind.TEXT, "hive/**/day*")).isEqualTo(files.subList(1, 4));
    assertThat(found(Kind.TEXT, "set/**/*"))
        .containsExactly("set/part-0.csv", "set/part-1.csv", "set/part-2");
  }

  @Test
  void foldersOfRecordsAreLeftToTheirReader() {
    assertThat(found(Kind.RECORDS, "set", "a.csv")).containsExactly("set", "a.csv");
  }

  @ParameterizedTest
  @ValueSource(strings = {"[.csv", "{a,b.csv", "set/[a/x.csv"})
  void aPatternWhoseBracketsDoNotCloseIsRefused(String pattern) {
    assertFault(Kind.TEXT, pattern, pattern, "expected one whose brackets close");
  }

  @Test
  void whatMatchesNothingIsRefused() throws IOException {
    assertFault(Kind.TEXT, "*.tsv", "*.tsv: got no file that matches");
    assertFault(Kind.TEXT, "no/*.csv", "no/*.csv: got no file that matches");
    assertFault(Kind.TEXT, "a.csv/*", "a.csv/*: got no file that matches");
    Files.createDirectories(root.resolve("empty/_temporary"));
    assertFault(Kind.TEXT, "empty", "empty: got a folder without files there");
    file("only/_SUCCESS", "");
    assertFault(Kind.TEXT, "only", "only: got a folder without files there");
    assertFault(Kind.TEXT, "only/*", "got no file that matches");
  }

  @Test
  void partsOfTextWithoutAByteHaveNoRows() throws IOException {
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    new GZIPOutputStream(packed).close();
    file("parts/0.csv", "");
    Files.write(root.resolve("parts/1.csv.gz"), packed.toByteArray());
    file("parts/2.csv", "y\n1\n");
    assertThat(found(Kind.TEXT, "parts")).containsExactly("parts/2.csv");
    assertThat(found(Kind.TEXT, "parts/*")).containsExactly("parts/2.csv");
    assertThat(found(Kind.TEXT, "parts/0.csv")).containsExactly("parts/0.csv");
    assertThat(found(Kind.RECORDS, "parts/[01]*")).containsExactly("parts/0.csv", "parts/1.csv.gz");
    Files.delete(root.resolve("parts/2.csv"));
    assertFault(Kind.TEXT, "parts", "parts: got only files without a byte");
    file("parts/3.csv.gz", ""); // A whole gzip file has bytes; this one lost them.
    assertThat(found(Kind.TEXT, "parts")).containsExactly("parts/3.csv.gz");
  }

  @Test
  void aGzipPartWhoseMemberBehindAnEmptyOneIsDamagedIsNotTakenForEmpty() throws IOException {
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    new GZIPOutputStream(packed).close();
    int second = packed.size();
    try (GZIPOutputStream rows = new GZIPOutputStream(packed)) {
      rows.write("y\n1\n0\n".getBytes(StandardCharsets.UTF_8));
    }
    byte[] bytes = packed.toByteArray();
    bytes[second + 1] ^= 1;
    file("parts/1.csv", "y\n1\n");
    Files.write(root.resolve("parts/0.csv.gz"), bytes);
    assertThat(found(Kind.TEXT, "parts")).containsExactly("parts/0.csv.gz", "parts/1.csv");
  }

  @Test
  void aLinkToNothingIsNeverLeftOut() throws IOException {
    Files.createSymbolicLink(root.resolve("set/part-3.csv"), Path.of("gone.csv"));
    assertFault(Kind.TEXT, "set", "part-3.csv: got a link to a file that is not there");
    assertFault(Kind.TEXT, "set/*", "part-3.csv: got a link to a file that is not there");
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> InputFiles.named(List.of(root.resolve("set/part-3.csv"))))
        .withMessageContaining("got a link");
  }

  @Test
  void linksAreFollowedAndALoopIsRefused() throws IOException {
    Files.createDirectories(root.resolve("linked"));
    Files.createSymbolicLink(root.resolve("linked/more"), root.resolve("set"));
    assertThat(found(Kind.TEXT, "linked")).hasSize(3).contains("linked/more/part-2");
    Files.createSymbolicLink(root.resolve("linked/self"), root.resolve("linked"));
    assertFault(Kind.TEXT, "linked", "got the link", "self");
    assertFault(Kind.TEXT, "linked/**/part-2", "got the link", "self");
  }

  @ParameterizedTest
  @CsvSource({
    "_delta_log/00000000000000000000.json, a Delta Lake table",
    ".hoodie/hoodie.properties, a Hudi table",
    "metadata/v1.metadata.json, an Iceberg table",
    "_spark_metadata/0, the output of a stream of Spark"
  })
  void tablesWhoseLogSaysWhichFilesCountAreRefused(String log, String table) throws IOException {
    file("table/data/x.parquet", "PAR1");
    file("table/y.parquet", "PAR1");
    file("table/" + log, "{}");
    assertFault(Kind.PARQUET, "table", "got " + table, "name the files");
    assertFault(Kind.TEXT, "table", "got " + table);
    assertThat(found(Kind.PARQUET, "table/*.parquet")).containsExactly("table/y.parquet");
  }

  @Test
  void aFileNamedTwiceIsRefusedUnderAnyName() throws IOException {
    Path file = root.resolve("a.csv");
    Path link = Files.createSymbolicLink(root.resolve("c.csv"), file);
    Path round = root.resolve("set/../a.csv");
    for (Path other : List.of(file, link, round)) {
      assertThatExceptionOfType(DataException.class)
          .isThrownBy(() -> InputFiles.requireOnce(List.of(file, root.resolve("b.csv"), other)))
          .withMessageContaining("twice");
    }
    assertThatCode(() -> InputFiles.requireOnce(List.of(file, root.resolve("b.csv"))))
        .doesNotThrowAnyException();
  }

  @Test
  void relativePatternsGiveRelativePaths() {
    assertThat(InputFiles.of(List.of(Path.of("pom.xm?")), Kind.TEXT))
        .containsExactly(Path.of("pom.xml"));
    assertThat(InputFiles.of(List.of(Path.of("**/pom.xml")), Kind.TEXT)).hasSize(1);
  }
}
