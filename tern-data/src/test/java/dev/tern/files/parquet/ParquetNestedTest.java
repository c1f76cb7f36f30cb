package dev.tern.files.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.tern.base.DataException;
import dev.tern.data.DataReader;
import dev.tern.data.encode.TextHash;
import dev.tern.files.Columns;
import dev.tern.files.FileColumn;
import dev.tern.files.ReadPolicy;
import dev.tern.files.SkippedRecords;
import dev.tern.files.SparseColumn;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.BiConsumer;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.format.SchemaElement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Fields of structs, keys and values of maps, and fields of structs in lists, by dotted names. */
class ParquetNestedTest {
  private static final String STRUCT =
      """
      optional group a {
        optional int64 b;
        optional binary c (STRING);
        optional group d { optional double e; optional int32 f; }
        optional int64 t (TIMESTAMP(MILLIS,true));
      }
      """;
  private static final String MAP =
      """
      optional group m (MAP) {
        repeated group key_value { required binary key (STRING); optional int64 value; }
      }
      """;
  private static final String ITEMS =
      """
      optional group items (LIST) {
        repeated group list {
          optional group element {
            optional int64 id;
            optional group tags (LIST) { repeated group list { optional int64 element; } }
          }
        }
      }
      """;
  private static final long EMPTY = TextHash.of("");

  @TempDir Path folder;

  private Path write(String fields, int rows, BiConsumer<Group, Integer> row) throws IOException {
    return ParquetForge.write(folder.resolve("x.parquet"), fields, rows, row);
  }

  private static Columns columns(List<String> dense, SparseColumn... sparse) {
    return new Columns(List.of(), Set.of(), dense, List.of(sparse));
  }

  private DataReader open(ParquetOptions options, Columns columns, ReadPolicy policy) {
    return ParquetReader.open(List.of(folder), options, columns, policy);
  }

  private List<String> rows(Columns columns) {
    return ParquetRows.allAndClose(open(ParquetOptions.DEFAULT, columns, ReadPolicy.STRICT));
  }

  /** Row 0 has no struct, row 1 no field, row 2 no inner struct, row 3 all. */
  private void structs() throws IOException {
    write(
        STRUCT,
        4,
        (row, i) -> {
          if (i > 0) {
            Group a = row.addGroup("a");
            if (i > 1) {
              a.append("b", 7L * i).append("c", "c" + i).append("t", 3_600_000L * i);
            }
            if (i > 2) {
              a.addGroup("d").append("e", 0.5).append("f", 9);
            }
          }
        });
  }

  @Test
  void fieldsOfStructsAreColumnsAndANullAnywhereAboveIsAMissingValue() throws IOException {
    structs();
    Columns columns =
        columns(List.of("a.d.e", "a.b"), SparseColumn.id("a.b"), SparseColumn.text("a.c"));
    assertThat(rows(columns))
        .containsExactly(
            "[] | [NaN, NaN] | [] [" + EMPTY + "]",
            "[] | [NaN, NaN] | [] [" + EMPTY + "]",
            "[] | [NaN, 14.0] | [14] [" + TextHash.of("c2") + "]",
            "[] | [0.5, 21.0] | [21] [" + TextHash.of("c3") + "]");
  }

  @Test
  void timesInStructsHaveParts() throws IOException {
    structs();
    assertThat(rows(columns(List.of(), SparseColumn.id("a.t@hour"))))
        .containsExactly("[] | [] | []", "[] | [] | []", "[] | [] | [2]", "[] | [] | [3]");
  }

  @ParameterizedTest
  @CsvSource({"a.b, 2", "a.d.f, 3"})
  void aNullAnywhereAboveAFieldIsAFaultWhereNullsAreFaults(String column, int nulls)
      throws IOException {
    structs();
    Columns columns = columns(List.of(), SparseColumn.id(column));
    SkippedRecords skipped = new SkippedRecords(10);
    ParquetOptions strict = ParquetOptions.DEFAULT.withoutNulls();
    ReadPolicy skipping = ReadPolicy.STRICT.withFaults(skipped);
    assertThat(ParquetRows.allAndClose(open(strict, columns, skipping))).hasSize(4 - nulls);
    assertThat(skipped.count()).isEqualTo(nulls);
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> ParquetRows.allAndClose(open(strict, columns, ReadPolicy.STRICT)))
        .withMessageContaining("x.parquet: row 1, column " + column + ": got null");
  }

  /** Row 0 has no map, row 1 an empty one, row 2 two entries of which one has no value. */
  private void maps(String fields) throws IOException {
    write(
        fields,
        3,
        (row, i) -> {
          if (i > 0) {
            Group map = row.addGroup("m");
            if (i > 1) {
              map.addGroup(0).append("key", "k");
              map.addGroup(0).append("key", "l").append("value", 5L);
            }
          }
        });
  }

  @ParameterizedTest
  @CsvSource({
    "key_value, (MAP), ''",
    "map, (MAP), (MAP_KEY_VALUE)",
    "entries, (MAP_KEY_VALUE), ''",
  })
  void keysAndValuesOfAMapAreLists(String entries, String map, String repeated) throws IOException {
    maps(MAP.replace("key_value", entries + " " + repeated).replace("(MAP)", map));
    assertThat(rows(columns(List.of(), SparseColumn.text("m.key"), SparseColumn.id("m.value"))))
        .containsExactly(
            "[] | [] | [] []",
            "[] | [] | [] []",
            "[] | [] | [" + TextHash.of("k") + ", " + TextHash.of("l") + "] [5]");
  }

  @Test
  void aMapThatIsNullIsAFaultWhereNullsAreFaultsAndAnEmptyOneIsNone() throws IOException {
    maps(MAP);
    SkippedRecords skipped = new SkippedRecords(10);
    List<String> keys =
        ParquetRows.allAndClose(
            open(
                ParquetOptions.DEFAULT.withoutNulls(),
                columns(List.of(), SparseColumn.text("m.key")),
                ReadPolicy.STRICT.withFaults(skipped)));
    assertThat(keys).hasSize(2);
    assertThat(skipped.count()).isEqualTo(1);
  }

  private static void item(Group items, int id, int... tags) {
    Group element = items.addGroup(0).addGroup(0).append("id", (long) id);
    Group list = element.addGroup("tags");
    for (int tag : tags) {
      list.addGroup(0).append("element", (long) tag);
    }
  }

  /** Row 1 has an item that is null, row 2 one whose tags are null. */
  private void items() throws IOException {
    write(
        ITEMS,
        4,
        (row, i) -> {
          Group items = row.addGroup("items");
          switch (i) {
            case 0 -> {
              item(items, 1, 10, 11);
              item(items, 2);
            }
            case 1 -> {
              items.addGroup(0);
              item(items, 3, 12);
            }
            case 2 -> items.addGroup(0).addGroup(0).append("id", 4L);
            default -> {}
          }
        });
  }

  @ParameterizedTest
  @CsvSource({"1", "3"})
  void fieldsOfStructsInListsAreListsAndListsInThemAreOneList(int threads) throws IOException {
    items();
    Columns columns =
        columns(List.of(), SparseColumn.id("items.id"), SparseColumn.id("items.tags"));
    List<String> expected =
        List.of(
            "[] | [] | [1, 2] [10, 11]",
            "[] | [] | [3] [12]",
            "[] | [] | [4] []",
            "[] | [] | [] []");
    ReadPolicy policy = ReadPolicy.STRICT.withThreads(threads);
    assertThat(ParquetRows.allAndClose(open(ParquetOptions.DEFAULT, columns, policy)))
        .isEqualTo(expected);
    try (DataReader reader = open(ParquetOptions.DEFAULT, columns, policy)) {
      reader.skip(1);
      assertThat(ParquetRows.all(reader)).isEqualTo(expected.subList(1, 4));
    }
  }

  @Test
  void aNullItemIsAFaultWhereNullsAreFaultsAndANullListWithinAnItemIsNone() throws IOException {
    items();
    SkippedRecords skipped = new SkippedRecords(10);
    ParquetOptions strict = ParquetOptions.DEFAULT.withoutNulls();
    ReadPolicy skipping = ReadPolicy.STRICT.withFaults(skipped);
    Columns ids = columns(List.of(), SparseColumn.id("items.id"));
    assertThat(ParquetRows.allAndClose(open(strict, ids, skipping)))
        .containsExactly("[] | [] | [1, 2]", "[] | [] | [4]", "[] | [] | []");
    assertThat(skipped.count()).isEqualTo(1);
    Columns tags = columns(List.of(), SparseColumn.id("items.tags"));
    assertThat(ParquetRows.allAndClose(open(strict, tags, ReadPolicy.STRICT))).hasSize(4);
  }

  @ParameterizedTest
  @CsvSource({
    "x (LIST) { repeated group list { optional group element { int64 id; int64 n; } } }, x.id",
    "x (LIST) { repeated group bag { optional group array { int64 id; int64 n; } } }, x.id",
    "x (LIST) { repeated group element { int64 id; int64 n; } }, x.id",
    "x (LIST) { repeated group array { int64 id; } }, x.id",
    "x (LIST) { repeated group x_tuple { int64 id; } }, x.id",
    "x (LIST) { repeated group list { optional group element { group o { int64 id; int64 n; } } }"
        + " }, x.o.id",
    "x { repeated group y { int64 id; int64 n; } }, x.y.id",
    "x (MAP) { repeated group map { binary k; group v { int64 id; int64 n; } } }, x.value.id",
  })
  void namesLeaveOutTheGroupsThatListsAndMapsAreMadeOf(String column, String name)
      throws IOException {
    String fields =
        "optional group "
            + column
                .replace("int64", "required int64")
                .replace("binary", "required binary")
                .replaceAll("(?<!(optional|repeated) )group", "required group");
    Path file = write(fields, 2, (row, i) -> put(row.addGroup("x"), 40 + i));
    assertThat(ParquetReader.columns(file).stream().map(FileColumn::name))
        .contains(named(file, name));
    assertThat(rows(columns(List.of(), SparseColumn.id(name))))
        .containsExactly("[] | [] | [40]", "[] | [] | [41]");
  }

  /** A column of one leaf goes by its own name in lists of columns. */
  private static String named(Path file, String name) {
    return ParquetReader.columns(file).size() == 1 ? "x" : name;
  }

  /** Puts {@code id} wherever a group or number is wanted. */
  private static void put(Group group, long id) {
    var type = group.getType();
    for (int i = 0; i < type.getFieldCount(); i++) {
      if (!type.getType(i).isPrimitive()) {
        put(group.addGroup(i), id);
      } else if (type.getType(i).asPrimitiveType().getPrimitiveTypeName().name().equals("BINARY")) {
        group.add(i, "k");
      } else {
        group.add(i, type.getFieldName(i).equals("id") ? id : -1L);
      }
    }
  }

  @Test
  void aColumnWhoseOwnNameHasADotComesBeforeAFieldOfThatName() throws IOException {
    write(
        "required group a { required int64 b; required int64 c; } required int64 a.b;",
        1,
        (row, i) -> {
          row.addGroup("a").append("b", 1L).append("c", 2L);
          row.append("a.b", 3L);
        });
    assertThat(rows(columns(List.of(), SparseColumn.id("a.b"), SparseColumn.id("a.c"))))
        .containsExactly("[] | [] | [3] [2]");
  }

  @Test
  void inspectionsAndErrorsListTheLeavesByTheirNames() throws IOException {
    Path file = write(STRUCT + MAP + "optional int32 n;", 0, (row, i) -> {});
    assertThat(
            ParquetReader.columns(file).stream()
                .map(column -> column.name() + " " + column.content()))
        .containsExactly(
            "a.b INT64",
            "a.c BYTE_ARRAY (STRING)",
            "a.d.e DOUBLE",
            "a.d.f INT32",
            "a.t INT64 (TIMESTAMP)",
            "m.key LIST of BYTE_ARRAY (STRING)",
            "m.value LIST of INT64",
            "n INT32");
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> rows(columns(List.of("a.x"))))
        .withMessageEndingWith(
            "x.parquet: got no column a.x, expected one among [a.b, a.c, a.d.e, a.d.f, a.t, m.key,"
                + " m.value, n]; check its name");
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> rows(columns(List.of("a"))))
        .withMessageEndingWith(
            "column a: got nested, expected a column of one value or LIST a row; name a part of it,"
                + " as in a.b");
  }

  @Test
  void vectorsInStructsHaveOneWidth() throws IOException {
    write(
        """
        optional group features {
          required int32 size;
          optional group values (LIST) { repeated group list { required double element; } }
        }
        """,
        3,
        (row, i) -> {
          Group features = row.addGroup("features").append("size", 2);
          Group values = features.addGroup("values");
          values.addGroup(0).append("element", i + 0.5);
          values.addGroup(0).append("element", -1.0 * i);
        });
    assertThat(rows(columns(List.of("features.values", "features.size"))))
        .containsExactly(
            "[] | [0.5, -0.0, 2.0] |", "[] | [1.5, -1.0, 2.0] |", "[] | [2.5, -2.0, 2.0] |");
  }

  @Test
  void damagedTreesOfColumnsEndInErrorsOrRows() throws IOException {
    items();
    Path file = folder.resolve("x.parquet");
    byte[] sound = Files.readAllBytes(file);
    SplittableRandom random = new SplittableRandom(3);
    Columns columns = columns(List.of(), SparseColumn.id("items.id"));
    for (int i = 0; i < 500; i++) {
      Files.write(
          file, ParquetForge.withFooter(sound, footer -> damage(footer.getSchema(), random)));
      try {
        assertThat(rows(columns)).hasSizeLessThanOrEqualTo(4);
      } catch (DataException e) {
        assertThat(e).hasMessageContaining("x.parquet");
      }
    }
  }

  private static void damage(List<SchemaElement> schema, SplittableRandom random) {
    SchemaElement element = schema.get(random.nextInt(schema.size()));
    switch (random.nextInt(5)) {
      case 0 -> element.setNum_children(random.nextInt(-2, 5));
      case 1 -> schema.remove(element);
      case 2 -> schema.add(random.nextInt(schema.size()), element);
      case 3 -> element.setRepetition_type(schema.get(2).getRepetition_type());
      default -> element.unsetConverted_type();
    }
  }

  @Test
  void namesThatTogetherTakeTooMuchRoomAreRefusedByTheirLimit() throws IOException {
    String name = "n".repeat(1 << 20);
    StringBuilder fields = new StringBuilder("required group " + name + " {");
    for (int i = 0; i < 100; i++) {
      fields.append("required int32 f").append(i).append("; ");
    }
    write(fields + "}", 0, (row, i) -> {});
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> rows(columns(List.of("x"))))
        .withMessageContaining(
            "got a schema whose nested columns have names of more than 67108864");
  }
}
