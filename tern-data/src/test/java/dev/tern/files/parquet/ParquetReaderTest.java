package dev.tern.files.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.tern.base.DataException;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.encode.TextHash;
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
import org.apache.parquet.example.data.Group;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Columns by name and by index, what is refused, and what the refusals say. */
class ParquetReaderTest {
  @TempDir Path folder;

  /** Writes {@code count} rows of a message with these {@code fields}. */
  private Path write(String name, String fields, int count, BiConsumer<Group, Integer> row)
      throws IOException {
    return ParquetForge.write(folder.resolve(name), fields, count, row);
  }

  private static Columns dense(String... names) {
    return new Columns(List.of(), Set.of(), List.of(names), List.of());
  }

  private static Columns labels(Set<String> positive, String name) {
    return new Columns(List.of(name), positive, List.of(), List.of());
  }

  private static Columns sparse(SparseColumn column) {
    return new Columns(List.of(), Set.of(), List.of(), List.of(column));
  }

  private static List<String> read(Path path, Columns columns) {
    return ParquetRows.allAndClose(
        ParquetReader.open(List.of(path), ParquetOptions.DEFAULT, columns));
  }

  private static void assertRefused(Runnable action, String... parts) {
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(action::run)
        .withMessageContainingAll(parts);
  }

  @Test
  void labelsMayBeTextIntegersOrBooleansThatMeanOne() throws IOException {
    Path file =
        write(
            "a.parquet",
            "required binary t (STRING); required int64 i; required boolean b; required float f;",
            4,
            (group, i) ->
                group
                    .append("t", i % 2 == 0 ? ">50K" : i == 1 ? ">50K." : "<=50K")
                    .append("i", i - 1L)
                    .append("b", i > 1)
                    .append("f", (float) (i % 2)));
    Set<String> rich = Set.of(">50K", ">50K.");
    assertThat(read(file, labels(rich, "t")))
        .containsExactly("[1.0] | [] |", "[1.0] | [] |", "[1.0] | [] |", "[0.0] | [] |");
    assertThat(read(file, labels(Set.of("-1", "2"), "i")))
        .containsExactly("[1.0] | [] |", "[0.0] | [] |", "[0.0] | [] |", "[1.0] | [] |");
    assertThat(read(file, labels(Set.of("false"), "b")))
        .containsExactly("[1.0] | [] |", "[1.0] | [] |", "[0.0] | [] |", "[0.0] | [] |");
    assertThat(read(file, labels(Set.of(), "b"))).contains("[0.0] | [] |").contains("[1.0] | [] |");
    assertRefused(
        () -> read(file, labels(Set.of(), "t")), "a.parquet", "column t", "texts that mean 1");
    assertThat(read(file, labels(Set.of("1"), "f"))).isEqualTo(read(file, labels(Set.of(), "f")));
    assertRefused(
        () -> read(file, labels(Set.of(), "i")), "a.parquet", "row 1, column i", "-1.0", "0 or 1");
    assertThat(
            ParquetRows.allAndClose(
                ParquetReader.open(
                    List.of(file),
                    ParquetOptions.DEFAULT,
                    labels(Set.of(), "i"),
                    ReadPolicy.STRICT.withAnyLabel())))
        .startsWith("[-1.0] | [] |");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "required fixed_len_byte_array(4) c;   | got FIXED_LEN_BYTE_ARRAY(4)",
        "required fixed_len_byte_array(16) c (UUID); | got FIXED_LEN_BYTE_ARRAY(16) (UUID)",
        "required binary c (STRING);           | got BYTE_ARRAY (STRING)",
        "required group c { required int32 a; required int32 b; } | got nested",
      })
  void typesThatAreNoNumbersAreRefused(String field, String got) throws IOException {
    Path file = write("a.parquet", field, 0, (group, i) -> {});
    assertRefused(() -> read(file, dense("c")), "a.parquet: column c", got, "expected a ");
  }

  @Test
  void idColumnsTakeNoTextAndNoFractions() throws IOException {
    Path file =
        write(
            "a.parquet",
            "required binary t (STRING); required float f;",
            2,
            (group, i) -> group.append("t", "x").append("f", i / 2f));
    assertRefused(
        () -> read(file, sparse(SparseColumn.id("t"))), "column t", "got BYTE_ARRAY", "as text");
    assertRefused(
        () -> read(file, sparse(SparseColumn.id("f"))),
        "a.parquet: row 2, column f: got 0.5, expected a whole number");
    assertRefused(
        () -> read(file, sparse(new SparseColumn("t", true, "|"))), "column t", "expected a LIST");
  }

  @Test
  void absentColumnsAndFilesAreNamed() throws IOException {
    Path file = write("a.parquet", "required float f;", 1, (g, i) -> g.append("f", 1f));
    assertRefused(() -> read(file, dense("g")), "a.parquet", "no column g", "[f]");
    assertRefused(() -> read(folder.resolve("b.parquet"), dense("f")), "b.parquet", "no such file");
    Path empty = Files.createDirectory(folder.resolve("empty"));
    assertRefused(() -> read(empty, dense("f")), "empty", "no Parquet file");
    assertRefused(
        () -> read(folder.resolve("x*.parquet"), dense("f")), "x*", "no file that matches");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> ParquetReader.open(List.of(), ParquetOptions.DEFAULT, dense("f")));
  }

  @Test
  void foldersAndGlobsAreReadInTheOrderOfTheirPaths() throws IOException {
    for (String name :
        List.of("d/b.parquet", "d/a.parquet", "d/day=2/c.parquet", "d/_tmp/x.parquet")) {
      float value = name.charAt(name.length() - 9);
      write(name, "required float f;", 2, (g, i) -> g.append("f", value));
    }
    Files.writeString(folder.resolve("d/.b.parquet"), "hidden");
    Files.writeString(folder.resolve("d/notes.txt"), "other");
    assertThat(read(folder.resolve("d"), dense("f")))
        .containsExactly(
            "[] | [97.0] |",
            "[] | [97.0] |",
            "[] | [98.0] |",
            "[] | [98.0] |",
            "[] | [99.0] |",
            "[] | [99.0] |");
    assertThat(read(folder.resolve("d/[ab].parquet"), dense("f"))).hasSize(4);
  }

  @Test
  void columnsInTheNamesOfFoldersAreReadForAllRows() throws IOException {
    for (String name : List.of("d/y=1/c=a%20b/i=7/a.parquet", "d/y=0/c=/i=8/a.parquet")) {
      float value = name.charAt(4);
      write(name, "required float f;", 3, (g, i) -> g.append("f", value + i));
    }
    Columns wanted =
        new Columns(List.of("y"), Set.of(), List.of("f", "i"), List.of(SparseColumn.text("c")));
    long ab = TextHash.of("a b");
    List<String> expected =
        List.of(
            "[0.0] | [48.0, 8.0] | [" + TextHash.EMPTY + "]",
            "[0.0] | [49.0, 8.0] | [" + TextHash.EMPTY + "]",
            "[0.0] | [50.0, 8.0] | [" + TextHash.EMPTY + "]",
            "[1.0] | [49.0, 7.0] | [" + ab + "]",
            "[1.0] | [50.0, 7.0] | [" + ab + "]",
            "[1.0] | [51.0, 7.0] | [" + ab + "]");
    assertThat(read(folder.resolve("d"), wanted)).isEqualTo(expected);
    assertThat(read(folder.resolve("d/y=1/c=*"), wanted)).isEqualTo(expected.subList(3, 6));
    try (DataReader reader =
        ParquetReader.open(
            List.of(folder.resolve("d")),
            ParquetOptions.DEFAULT,
            wanted,
            ReadPolicy.STRICT.withThreads(3))) {
      assertThat(reader.skip(4)).isEqualTo(4);
      assertThat(ParquetRows.all(reader)).isEqualTo(expected.subList(4, 6));
    }
  }

  @Test
  void theFilesOwnColumnWinsOverThatOfItsFolders() throws IOException {
    write("d/f=7/a.parquet", "required float f;", 1, (g, i) -> g.append("f", 2f));
    assertThat(read(folder.resolve("d"), dense("f"))).containsExactly("[] | [2.0] |");
  }

  @Test
  void aFolderWhoseValueDoesNotFitIsAFaultOfItsFile() throws IOException {
    write("d/c=x/a.parquet", "required float f;", 1, (g, i) -> g.append("f", 2f));
    assertRefused(
        () -> read(folder.resolve("d"), dense("f", "c")), "folder of column c: got \"x\"");
    assertRefused(() -> read(folder.resolve("d"), dense("f", "e")), "got no column e");
  }

  @Test
  void nullsAreMissingValuesOrFaults() throws IOException {
    Path file =
        write(
            "a.parquet",
            """
            optional float y; optional float f; optional int64 id; optional binary t (STRING);
            optional group bag (LIST) { repeated group list { optional int64 element; } }
            """,
            3,
            (group, i) -> {
              if (i != 2) {
                group.append("y", 1f).append("f", 2f).append("id", 3L).append("t", "x");
                group.addGroup("bag").addGroup("list").append("element", 4L);
              }
            });
    long x = TextHash.of("x");
    Columns columns =
        new Columns(
            List.of(),
            Set.of(),
            List.of("f"),
            List.of(SparseColumn.id("id"), SparseColumn.text("t"), SparseColumn.id("bag")));
    String full = "[] | [2.0] | [3] [" + x + "] [4]";
    assertThat(read(file, columns))
        .containsExactly(full, full, "[] | [NaN] | [] [" + TextHash.EMPTY + "] []");
    for (Columns one :
        List.of(
            dense("f"),
            sparse(SparseColumn.id("id")),
            sparse(SparseColumn.text("t")),
            sparse(SparseColumn.id("bag")))) {
      ParquetOptions strict = ParquetOptions.DEFAULT.withoutNulls();
      assertRefused(
          () -> ParquetRows.allAndClose(ParquetReader.open(List.of(file), strict, one)),
          "a.parquet: row 3, column ",
          "got null");
    }
    assertRefused(() -> read(file, labels(Set.of(), "y")), "row 3, column y", "got null");
    ReadPolicy lacking = ReadPolicy.STRICT.withLabel("y", ReadPolicy.Labels.BINARY.optionally());
    assertThat(
            ParquetRows.allAndClose(
                ParquetReader.open(
                    List.of(file), ParquetOptions.DEFAULT, labels(Set.of(), "y"), lacking)))
        .containsExactly("[1.0] | [] |", "[1.0] | [] |", "[NaN] | [] |");
  }

  @Test
  void badRowsAreDroppedAloneWhereThePolicySaysSo() throws IOException {
    Path file =
        write(
            "a.parquet",
            """
            required float y; required int64 id;
            optional group bag (LIST) { repeated group list { optional int64 element; } }
            """,
            10_000,
            (group, i) -> {
              group.append("y", i % 1000 == 7 ? 0.5f : 1f).append("id", i % 3000L);
              Group bag = group.addGroup("bag");
              for (int k = 0; k < i % 3; k++) {
                bag.addGroup("list").append("element", (long) i);
              }
            });
    Columns columns =
        new Columns(
            List.of("y"),
            Set.of(),
            List.of(),
            List.of(SparseColumn.id("id"), SparseColumn.id("bag")));
    ParquetOptions sizes = ParquetOptions.DEFAULT.withSlotSizes(List.of(2999L, 10_000L));
    List<String> faults = new ArrayList<>();
    ReadPolicy lenient = ReadPolicy.STRICT.withFaults(fault -> faults.add(fault.getMessage()));
    List<String> expected = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      if (i % 1000 != 7 && i % 3000 != 2999) {
        String bag = List.of("[]", "[%d]", "[%d, %d]").get(i % 3).replace("%d", "" + (i + 2999L));
        expected.add("[1.0] | [] | [" + i % 3000 + "] " + bag);
      }
    }
    try (DataReader reader = ParquetReader.open(List.of(file), sizes, columns, lenient)) {
      assertThat(ParquetRows.all(reader)).isEqualTo(expected);
      assertThat(faults)
          .hasSize(13)
          .anyMatch(fault -> fault.contains("row 2008, column y: got label 0.5"))
          .anyMatch(
              fault -> fault.contains("row 6000, column id: got id 2999, expected 0 to 2998"));
      reader.start(0);
      assertThat(reader.skip(5000)).isEqualTo(5000);
      assertThat(ParquetRows.all(reader)).isEqualTo(expected.subList(5000, expected.size()));
    }
  }

  @Test
  void slotSizesShiftIdsAndBoundThem() throws IOException {
    Path file =
        write(
            "a.parquet",
            "required int64 a; required int32 b;",
            3,
            (group, i) -> group.append("a", (long) i).append("b", i - (i == 2 ? 3 : 0)));
    Columns columns =
        new Columns(
            List.of(), Set.of(), List.of(), List.of(SparseColumn.id("a"), SparseColumn.id("b")));
    ParquetOptions sizes = ParquetOptions.DEFAULT.withSlotSizes(List.of(3L, 2L));
    assertRefused(
        () -> ParquetRows.allAndClose(ParquetReader.open(List.of(file), sizes, columns)),
        "row 3, column b: got id -1, expected 0 to 1");
    List<String> kept =
        ParquetRows.allAndClose(
            ParquetReader.open(
                List.of(file), sizes, columns, ReadPolicy.STRICT.withFaults(fault -> {})));
    assertThat(kept).containsExactly("[] | [] | [0] [3]", "[] | [] | [1] [4]");
    assertThatIllegalArgumentException()
        .isThrownBy(() ->
            ParquetReader.open(
                List.of(file), ParquetOptions.DEFAULT.withSlotSizes(List.of(3L)), columns))
        .withMessageContaining("got 1 slot sizes, expected one for each of 2");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> ParquetOptions.DEFAULT.withSlotSizes(List.of(Long.MAX_VALUE, 2L)));
  }

  @Test
  void vectorsMustHaveOneWidth() throws IOException {
    Path file =
        write(
            "a.parquet",
            "required group v (LIST) { repeated group list { required float element; } }",
            10,
            (group, i) -> {
              Group list = group.addGroup("v");
              for (int k = 0; k < (i == 6 ? 1 : 2); k++) {
                list.addGroup("list").append("element", (float) (10 * i + k));
              }
            });
    assertRefused(
        () -> read(file, dense("v")), "row 7, column v: got 1 numbers, expected 2", "one width");
  }

  @Test
  void textsAreToldToTheDictionary() throws IOException {
    Path file =
        write(
            "a.parquet",
            "optional binary t (STRING); required int64 i;",
            5,
            (group, i) -> {
              group.append("i", i - 2L);
              if (i != 3) {
                group.append("t", "w" + i % 2);
              }
            });
    TextDictionary dictionary = new TextDictionary();
    Columns columns =
        new Columns(
            List.of(),
            Set.of(),
            List.of(),
            List.of(SparseColumn.text("t"), SparseColumn.text("i")));
    try (DataReader reader =
        ParquetReader.open(
            List.of(file), ParquetOptions.DEFAULT, columns, ReadPolicy.STRICT, dictionary)) {
      assertThat(ParquetRows.all(reader)).hasSize(5);
      assertThat(reader.schema().slots()).containsExactly(Slot.oneHot("t"), Slot.oneHot("i"));
    }
    for (String text : List.of("w0", "w1", "", "-2", "-1", "0", "1", "2")) {
      assertThat(dictionary.text(TextHash.of(text))).contains(text);
    }
    assertThat(dictionary.size()).isEqualTo(8);
  }

  @Test
  void filesOfADataSetMustAgree() throws IOException {
    Path first = write("a.parquet", "required float f;", 1, (g, i) -> g.append("f", 1f));
    Path second =
        write("b.parquet", "required binary f (STRING);", 1, (g, i) -> g.append("f", "x"));
    Path third = write("c.parquet", "repeated float f;", 1, (g, i) -> g.append("f", 1f));
    Path fourth = write("d.parquet", "required double f;", 1, (g, i) -> g.append("f", 2d));
    for (Path other : List.of(second, third)) {
      assertRefused(
          () -> ParquetReader.open(List.of(first, other), ParquetOptions.DEFAULT, dense("f")),
          other.getFileName().toString(),
          "column f");
    }
    try (DataReader reader =
        ParquetReader.open(List.of(first, fourth), ParquetOptions.DEFAULT, dense("f"))) {
      assertThat(ParquetRows.all(reader)).containsExactly("[] | [1.0] |", "[] | [2.0] |");
    }
  }

  // HugeCTR's form.

  private static final String FIELDS =
      """
      required int64 c0; required float l0; required int32 c1;
      required group v (LIST) { repeated group list { required float element; } }
      required float d; required double other;
      optional group bag (LIST) { repeated group list { optional int64 element; } }
      """;

  private Path writeHugeCtr(String name, int rows) throws IOException {
    return write(
        name,
        FIELDS,
        rows,
        (group, i) -> {
          group.append("c0", (long) i).append("l0", (float) (i % 2)).append("c1", i + 1);
          Group v = group.addGroup("v");
          v.addGroup("list").append("element", (float) i);
          v.addGroup("list").append("element", -1f);
          group.append("d", 0.5f).append("other", 1d);
          Group bag = group.addGroup("bag");
          for (int k = 0; k < i % 3; k++) {
            bag.addGroup("list").append("element", 100L + k);
          }
        });
  }

  private void describe(String stats, String labels, String conts, String cats) throws IOException {
    Files.writeString(
        folder.resolve("_metadata.json"),
        "{\"file_stats\":[%s],\"labels\":[%s],\"conts\":[%s],\"cats\":[%s]}"
            .formatted(stats, labels, conts, cats));
  }

  private static String stat(String name, int rows) {
    return "{\"file_name\":\"" + name + "\",\"num_rows\":" + rows + "}";
  }

  private static String index(int... indices) {
    List<String> columns = new ArrayList<>();
    for (int index : indices) {
      columns.add("{\"col_name\":\"ignored\",\"index\":" + index + "}");
    }
    return String.join(",", columns);
  }

  @Test
  void columnsOfHugeCtrComeInAscendingOrderOfIndex() throws IOException {
    writeHugeCtr("0.parquet", 3);
    writeHugeCtr("1.parquet", 1);
    describe(
        stat("elsewhere/0.parquet", 3) + "," + stat("1.parquet", 1),
        index(1),
        index(4, 3),
        index(6, 2, 0));
    ParquetOptions sizes = ParquetOptions.DEFAULT.withSlotSizes(List.of(10L, 20L, 200L));
    try (DataReader reader = ParquetReader.openHugeCtr(folder, sizes)) {
      assertThat(reader.schema())
          .isEqualTo(
              new Schema(
                  List.of("l0"),
                  List.of("v[0]", "v[1]", "d"),
                  List.of(Slot.oneHot("c0"), Slot.oneHot("c1"), Slot.ragged("bag"))));
      assertThat(reader.rowCount()).hasValue(4);
      assertThat(ParquetRows.all(reader))
          .containsExactly(
              "[0.0] | [0.0, -1.0, 0.5] | [0] [11] []",
              "[1.0] | [1.0, -1.0, 0.5] | [1] [12] [130]",
              "[0.0] | [2.0, -1.0, 0.5] | [2] [13] [130, 131]",
              "[0.0] | [0.0, -1.0, 0.5] | [0] [11] []");
    }
    Path list = Files.writeString(folder.resolve("list.txt"), "1\n1.parquet\n1.parquet\n");
    assertThat(ParquetRows.allAndClose(ParquetReader.openHugeCtr(list, ParquetOptions.DEFAULT)))
        .containsExactly("[0.0] | [0.0, -1.0, 0.5] | [0] [1] []");
    Path one = folder.resolve("1.parquet");
    assertThat(ParquetRows.allAndClose(ParquetReader.openHugeCtr(one, ParquetOptions.DEFAULT)))
        .containsExactly("[0.0] | [0.0, -1.0, 0.5] | [0] [1] []");
  }

  @Test
  void metadataThatDoesNotFitIsRefused() throws IOException {
    writeHugeCtr("0.parquet", 3);
    Runnable open = () -> ParquetReader.openHugeCtr(folder, ParquetOptions.DEFAULT).close();
    assertRefused(open, "_metadata.json", "no such file");
    describe(stat("0.parquet", 4), index(1), index(4), index(0));
    assertRefused(open, "0.parquet", "got 3 rows, expected 4", "_metadata.json");
    describe(stat("0.parquet", 3), index(1), index(5), index(0));
    assertRefused(open, "column other", "got DOUBLE, expected FLOAT");
    describe(stat("0.parquet", 3), index(0), index(4), index(2));
    assertRefused(open, "column c0", "got INT64, expected FLOAT");
    describe(stat("0.parquet", 3), index(1), "", index(4));
    assertRefused(open, "column d", "got FLOAT, expected INT32");
    for (String twice : List.of("1 | 4 | 1", "1 | 1 | 0", "1 | 4 | 0 4")) {
      int[][] parts =
          Arrays.stream(twice.split(" \\| "))
              .map(part -> Arrays.stream(part.split(" ")).mapToInt(Integer::parseInt).toArray())
              .toArray(int[][]::new);
      describe(stat("0.parquet", 3), index(parts[0]), index(parts[1]), index(parts[2]));
      assertRefused(open, "_metadata.json: got index ", " in ", "expected it in one of them");
    }
    describe(stat("0.parquet", 3), "", "", "");
    assertRefused(open, "_metadata.json: got no labels, no conts and no cats, expected columns");
    describe(stat("0.parquet", 3), index(1), "", "");
    assertRefused(open, "_metadata.json: got no conts and no cats, expected columns");
    describe(stat("0.parquet", 3), index(1), index(4), index(7));
    assertRefused(open, "0.parquet", "got 7 columns, expected one of index 7");
    describe(stat("0.parquet", 3), index(1), index(4), index(0, 0));
    assertRefused(open, "_metadata.json", "cats", "each once");
    describe(stat("0.parquet", 3), index(1), index(4), "{\"col_name\":\"x\"}");
    assertRefused(open, "_metadata.json", "cats", "index");
    describe(stat("0.parquet", 3), "{\"index\":-1}", index(4), "");
    assertRefused(open, "_metadata.json", "labels");
    describe(stat("0.parquet", 3) + "," + stat("9.parquet", 3), index(1), index(4), index(0));
    assertRefused(open, "9.parquet", "no such file");
    describe("", index(1), index(4), index(0));
    assertRefused(open, "_metadata.json", "no file_stats");
    Files.writeString(folder.resolve("_metadata.json"), "{\"labels\":[]}");
    assertRefused(open, "_metadata.json", "no file_stats");
    Files.writeString(folder.resolve("_metadata.json"), "{\"labels\":[");
    assertRefused(open, "_metadata.json", "no JSON");
    describe(stat("1.parquet", 3), index(1), index(4), index(0));
    Path list = Files.writeString(folder.resolve("list.txt"), "1\n0.parquet\n");
    assertRefused(
        () -> ParquetReader.openHugeCtr(list, ParquetOptions.DEFAULT), "0.parquet", "an entry");
  }

  @Test
  void nullsInHugeCtrsFormAreFaults() throws IOException {
    write(
        "0.parquet",
        "required float y; optional int64 c;",
        2,
        (group, i) -> {
          group.append("y", 1f);
          if (i == 0) {
            group.append("c", 5L);
          }
        });
    describe(stat("0.parquet", 2), index(0), "", index(1));
    assertRefused(
        () -> ParquetRows.allAndClose(ParquetReader.openHugeCtr(folder, ParquetOptions.DEFAULT)),
        "0.parquet: row 2, column c: got null");
  }
}
