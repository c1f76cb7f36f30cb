package dev.tern.files.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.tern.base.DataException;
import dev.tern.data.DataReader;
import dev.tern.data.encode.TextHash;
import dev.tern.files.Columns;
import dev.tern.files.ReadPolicy;
import dev.tern.files.SkippedRecords;
import dev.tern.files.SparseColumn;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.BiConsumer;
import java.util.function.UnaryOperator;
import org.apache.parquet.column.ParquetProperties;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.format.DateType;
import org.apache.parquet.format.FileMetaData;
import org.apache.parquet.format.JsonType;
import org.apache.parquet.format.LogicalType;
import org.apache.parquet.format.NullType;
import org.apache.parquet.format.SchemaElement;
import org.apache.parquet.format.StringType;
import org.apache.parquet.format.UUIDType;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.io.api.Binary;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What values of each type are as numbers, as ids and as text, in every encoding. */
class ParquetTypesTest {
  private static final double DAY = 86_400;

  @TempDir Path folder;

  /** What a column holds and what it must come to; a null value is missing. */
  private record Type(String declared, Object... values) {
    void append(Group group, int i) {
      switch (values[i]) {
        case null -> {}
        case Integer value -> group.append("c", value);
        case Long value -> group.append("c", value);
        case Float value -> group.append("c", value);
        case Double value -> group.append("c", value);
        case byte[] value -> group.append("c", Binary.fromConstantByteArray(value));
        default -> throw new AssertionError(values[i]);
      }
    }
  }

  private static final List<UnaryOperator<ExampleParquetWriter.Builder>> WRITERS =
      List.of(
          builder -> builder.withDictionaryEncoding(true),
          builder -> builder.withDictionaryEncoding(false),
          builder -> builder.withDictionaryEncoding(false).withByteStreamSplitEncoding("c", true),
          builder ->
              builder
                  .withDictionaryEncoding(true)
                  .withWriterVersion(ParquetProperties.WriterVersion.PARQUET_2_0),
          builder ->
              builder
                  .withDictionaryEncoding(false)
                  .withWriterVersion(ParquetProperties.WriterVersion.PARQUET_2_0));

  private void assertNumbers(Type type, float... expected) throws IOException {
    Columns columns = new Columns(List.of(), Set.of(), List.of("c"), List.of());
    assertReads(
        type,
        columns,
        Arrays.stream(box(expected)).map(number -> "[] | [" + number + "] |").toList());
  }

  private static Float[] box(float... values) {
    Float[] boxed = new Float[values.length];
    Arrays.setAll(boxed, i -> values[i]);
    return boxed;
  }

  private void assertIds(Type type, Long... expected) throws IOException {
    assertSlots(type, SparseColumn.id("c"), expected);
  }

  /** {@code expected} as hashes. */
  private void assertTexts(Type type, String... expected) throws IOException {
    Long[] hashes = Arrays.stream(expected).map(TextHash::of).toArray(Long[]::new);
    assertSlots(type, SparseColumn.text("c"), hashes);
  }

  private void assertSlots(Type type, SparseColumn column, Long... expected) throws IOException {
    Columns columns = new Columns(List.of(), Set.of(), List.of(), List.of(column));
    assertReads(
        type,
        columns,
        Arrays.stream(expected).map(id -> "[] | [] | [" + (id == null ? "" : id) + "]").toList());
  }

  private void assertReads(Type type, Columns columns, List<String> expected) throws IOException {
    for (UnaryOperator<ExampleParquetWriter.Builder> writer : WRITERS) {
      Path file = write(type, writer);
      assertThat(ParquetRows.allAndClose(open(file, columns))).isEqualTo(expected);
      Files.delete(file);
    }
  }

  private static DataReader open(Path file, Columns columns) {
    return ParquetReader.open(List.of(file), ParquetOptions.DEFAULT, columns);
  }

  private Path write(Type type, UnaryOperator<ExampleParquetWriter.Builder> writer)
      throws IOException {
    BiConsumer<Group, Integer> row = type::append;
    return ParquetForge.write(
        folder.resolve("c.parquet"),
        "optional " + type.declared() + ";",
        type.values().length,
        row,
        writer);
  }

  private void assertFault(Type type, SparseColumn column, String... parts) throws IOException {
    for (UnaryOperator<ExampleParquetWriter.Builder> writer : WRITERS) {
      Path file = write(type, writer);
      Columns columns = new Columns(List.of(), Set.of(), List.of(), List.of(column));
      assertThatExceptionOfType(DataException.class)
          .isThrownBy(() -> ParquetRows.allAndClose(open(file, columns)))
          .withMessageContainingAll(parts);
      Files.delete(file);
    }
  }

  private static byte[] bytes(int width, String value) {
    byte[] shortest = new BigInteger(value).toByteArray();
    byte[] bytes = new byte[width == 0 ? shortest.length : width];
    Arrays.fill(bytes, (byte) (shortest[0] >> 7));
    System.arraycopy(shortest, 0, bytes, bytes.length - shortest.length, shortest.length);
    return bytes;
  }

  private static Type decimal(String declared, int width, String... values) {
    return new Type(
        declared,
        Arrays.stream(values).map(value -> value == null ? null : bytes(width, value)).toArray());
  }

  @Test
  void decimalsInBytesOfAnyWidthAreTheNumbersThatTheyAre() throws IOException {
    for (Type type :
        List.of(
            decimal("fixed_len_byte_array(4) c (DECIMAL(9,2))", 4, "0", "-1", null, "12345"),
            decimal("fixed_len_byte_array(9) c (DECIMAL(20,2))", 9, "0", "-1", null, "12345"),
            decimal("fixed_len_byte_array(16) c (DECIMAL(38,2))", 16, "0", "-1", null, "12345"),
            decimal("fixed_len_byte_array(32) c (DECIMAL(76,2))", 32, "0", "-1", null, "12345"),
            decimal("binary c (DECIMAL(38,2))", 0, "0", "-1", null, "12345"),
            new Type("int32 c (DECIMAL(9,2))", 0, -1, null, 12345),
            new Type("int64 c (DECIMAL(18,2))", 0L, -1L, null, 12345L))) {
      assertNumbers(type, 0, -0.01f, Float.NaN, 123.45f);
      assertTexts(type, "0", "-0.01", "", "123.45");
    }
    String most = "9".repeat(38);
    assertNumbers(
        decimal("fixed_len_byte_array(16) c (DECIMAL(38,18))", 16, most, "-" + most, "1"),
        1e20f,
        -1e20f,
        1e-18f);
    assertNumbers(
        decimal("fixed_len_byte_array(32) c (DECIMAL(76,38))", 32, most + most, "-1"),
        1e38f,
        -1e-38f);
    assertTexts(
        decimal("fixed_len_byte_array(16) c (DECIMAL(38,10))", 16, most, "-15000000000"),
        "9999999999999999999999999999.9999999999",
        "-1.5");
  }

  @Test
  void wholeDecimalsAreIdsWhereTheyFitIntoSixtyFourBits() throws IOException {
    String least = Long.toString(Long.MIN_VALUE);
    assertIds(
        decimal("fixed_len_byte_array(9) c (DECIMAL(20,0))", 9, "0", null, least, "-7"),
        0L,
        null,
        Long.MIN_VALUE,
        -7L);
    assertIds(
        decimal("binary c (DECIMAL(38,2))", 0, "700", least + "00", null),
        7L,
        Long.MIN_VALUE,
        null);
    assertIds(new Type("int32 c (DECIMAL(9,0))", 5, null, -5), 5L, null, -5L);
    assertIds(new Type("int64 c (DECIMAL(18,3))", 5000L, 0L), 5L, 0L);
    assertFault(
        new Type("int64 c (DECIMAL(18,3))", 5000L, 5001L),
        SparseColumn.id("c"),
        "row 2, column c: got 5.001, expected a whole number");
    assertFault(
        decimal("fixed_len_byte_array(9) c (DECIMAL(20,0))", 9, "9223372036854775808"),
        SparseColumn.id("c"),
        "row 1, column c: got 9223372036854775808, expected a whole number");
  }

  @Test
  void floatsThatAreWholeAreIdsAndCategories() throws IOException {
    double most = 0x1p53;
    Type doubles = new Type("double c", 16.0, -0.0, Double.NaN, null, -most, 1e15);
    assertIds(doubles, 16L, 0L, null, null, -(1L << 53), 1_000_000_000_000_000L);
    assertTexts(doubles, "16", "0", "", "", "-9007199254740992", "1000000000000000");
    Type floats = new Type("float c", 16f, -0f, Float.NaN, null, 16_777_216f);
    assertIds(floats, 16L, 0L, null, null, 16_777_216L);
    assertTexts(floats, "16", "0", "", "", "16777216");
    assertTexts(new Type("float c", 3.5f, 0.1f, 1e-7f), "3.5", "0.1", "0.0000001");
    assertTexts(new Type("double c", 3.5, 0.1, 1e22), "3.5", "0.1", "1" + "0".repeat(22));
    SparseColumn id = SparseColumn.id("c");
    assertFault(new Type("double c", 1.0, 0.5), id, "row 2, column c: got 0.5, expected a whole");
    assertFault(new Type("double c", 2 * most), id, "got 18014398509481984, expected a whole");
    assertFault(new Type("float c", 33_554_432f), id, "got 33554432, expected a whole");
    assertFault(new Type("float c", Float.POSITIVE_INFINITY), id, "got Infinity");
    assertFault(new Type("double c", -1 / 0.0), SparseColumn.text("c"), "got -Infinity");
  }

  private static byte[] half(int bits) {
    return new byte[] {(byte) bits, (byte) (bits >> 8)};
  }

  @Test
  void halvesAreNumbersIdsAndCategories() throws IOException {
    Type halves =
        new Type(
            "fixed_len_byte_array(2) c (FLOAT16)",
            half(0x3C00),
            half(0xC000),
            half(0x0001),
            half(0x7E00),
            null);
    assertNumbers(halves, 1, -2, 0x1p-24f, Float.NaN, Float.NaN);
    assertTexts(halves, "1", "-2", "0.000000059604645", "", "");
    assertIds(new Type("fixed_len_byte_array(2) c (FLOAT16)", half(0x7BFF)), 65504L);
    assertFault(
        new Type("fixed_len_byte_array(2) c (FLOAT16)", half(0x3800)),
        SparseColumn.id("c"),
        "got 0.5, expected a whole number");
  }

  @Test
  void datesAreDaysSince1970() throws IOException {
    Type dates = new Type("int32 c (DATE)", 0, 20_454, null, -1, 2_932_896, -719_162);
    assertNumbers(dates, 0, 20_454, Float.NaN, -1, 2_932_896, -719_162);
    assertIds(dates, 0L, 20_454L, null, -1L, 2_932_896L, -719_162L);
    assertTexts(dates, "1970-01-01", "2026-01-01", "", "1969-12-31", "9999-12-31", "0001-01-01");
    assertTexts(
        new Type("int32 c (DATE)", Integer.MAX_VALUE, Integer.MIN_VALUE),
        "+5881580-07-11",
        "-5877641-06-23");
  }

  @Test
  void timesAreDaysAsNumbersAndMicrosecondsAsIds() throws IOException {
    long moment = 1_767_256_200; // 2026-01-01T08:30:00Z
    float days = 20_454 + 8.5f / 24;
    Type millis =
        new Type(
            "int64 c (TIMESTAMP(MILLIS,true))", 1000 * moment, null, -1L, 253_402_300_799_999L);
    assertNumbers(millis, days, Float.NaN, (float) (-0.001 / DAY), 2_932_897f);
    assertIds(millis, 1_000_000 * moment, null, -1000L, 253_402_300_799_999_000L);
    assertTexts(
        millis, "2026-01-01T08:30:00Z", "", "1969-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z");
    Type micros = new Type("int64 c (TIMESTAMP(MICROS,false))", 1_000_000 * moment + 5, -1L);
    assertNumbers(micros, days, (float) (-1e-6 / DAY));
    assertIds(micros, 1_000_000 * moment + 5, -1L);
    assertTexts(micros, "2026-01-01T08:30:00.000005", "1969-12-31T23:59:59.999999");
    Type nanos =
        new Type("int64 c (TIMESTAMP(NANOS,true))", 1_000_000_000 * moment, -1L, Long.MIN_VALUE);
    assertNumbers(nanos, days, (float) (-1e-9 / DAY), (float) (Long.MIN_VALUE / 86_400e9));
    assertIds(nanos, 1_000_000 * moment, -1L, Math.floorDiv(Long.MIN_VALUE, 1000L));
    assertTexts(
        nanos,
        "2026-01-01T08:30:00Z",
        "1969-12-31T23:59:59.999999999Z",
        "1677-09-21T00:12:43.145224192Z");
    assertFault(
        new Type("int64 c (TIMESTAMP(MILLIS,true))", 0L, Long.MAX_VALUE),
        SparseColumn.id("c"),
        "row 2, column c: got 9223372036854775807, expected a time within");
  }

  private static byte[] int96(int julianDay, long nanos) {
    return ByteBuffer.allocate(12)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putLong(nanos)
        .putInt(julianDay)
        .array();
  }

  @Test
  void int96AreInstants() throws IOException {
    int epoch = 2_440_588;
    long morning = 30_600_000_000_000L;
    Type times =
        new Type(
            "int96 c",
            int96(epoch + 20_454, morning),
            null,
            int96(epoch - 1, 43_200_000_000_001L),
            int96(epoch - 719_162, 0),
            int96(epoch + 2_932_896, 0));
    assertNumbers(times, 20_454 + 8.5f / 24, Float.NaN, -0.5f, -719_162, 2_932_896);
    assertIds(
        times,
        1_767_256_200_000_000L,
        null,
        -43_200_000_000L,
        -719_162L * 86_400_000_000L,
        2_932_896L * 86_400_000_000L);
    assertTexts(
        times,
        "2026-01-01T08:30:00Z",
        "",
        "1969-12-31T12:00:00.000000001Z",
        "0001-01-01T00:00:00Z",
        "9999-12-31T00:00:00Z");
    assertFault(
        new Type("int96 c", int96(Integer.MAX_VALUE, 0)),
        SparseColumn.id("c"),
        "row 1, column c: got Julian day 2147483647, expected a time within");
  }

  @Test
  void timesOfTheDayAreFractionsOfIt() throws IOException {
    Type millis = new Type("int32 c (TIME(MILLIS,true))", 30_600_000, null, 86_399_999);
    assertNumbers(millis, 8.5f / 24, Float.NaN, (float) (86_399.999 / 86_400));
    assertIds(millis, 30_600_000_000L, null, 86_399_999_000L);
    assertTexts(millis, "08:30:00", "", "23:59:59.999");
    assertTexts(
        new Type("int64 c (TIME(MICROS,false))", 1L, 60_000_000L), "00:00:00.000001", "00:01:00");
    Type nanos = new Type("int64 c (TIME(NANOS,true))", 1_999L, -1_500_000_000L);
    assertIds(nanos, 1L, -1_500_000L);
    assertTexts(nanos, "00:00:00.000001999", "-00:00:01.5");
  }

  @Test
  void uuidsAreTheirTextAndOtherBytesAreHashed() throws IOException {
    UUID uuid = UUID.fromString("01234567-89ab-cdef-fedc-ba9876543210");
    byte[] bytes =
        ByteBuffer.allocate(16)
            .putLong(uuid.getMostSignificantBits())
            .putLong(uuid.getLeastSignificantBits())
            .array();
    Type uuids = new Type("fixed_len_byte_array(16) c (UUID)", bytes, null, bytes);
    long hash = TextHash.of(uuid.toString());
    assertIds(uuids, hash, null, hash);
    assertTexts(uuids, uuid.toString(), "", uuid.toString());
    for (int width : new int[] {1, 3, 12, 40}) {
      byte[] raw = new byte[width];
      Arrays.fill(raw, (byte) 0xC3);
      raw[0] = 7;
      Type fixed = new Type("fixed_len_byte_array(" + width + ") c", raw, null, new byte[width]);
      long zero = TextHash.of(new byte[width], 0, width);
      assertIds(fixed, TextHash.of(raw, 0, width), null, zero);
      assertSlots(fixed, SparseColumn.text("c"), TextHash.of(raw, 0, width), TextHash.EMPTY, zero);
    }
    assertIds(
        new Type("fixed_len_byte_array(12) c (INTERVAL)", new byte[12]),
        TextHash.of(new byte[12], 0, 12));
    assertTexts(new Type("binary c (BSON)", HexFormat.of().parseHex("4142")), "AB");
  }

  @Test
  void misfitsCostTheirRowAloneWhereBadOnesAreLeftOut() throws IOException {
    Object[] values = new Object[5000];
    Arrays.setAll(values, i -> i % 1000 == 999 ? 0.5 : i % 1000 == 7 ? null : (Object) (double) i);
    for (UnaryOperator<ExampleParquetWriter.Builder> writer : WRITERS) {
      Path file = write(new Type("double c", values), writer);
      SkippedRecords skipped = new SkippedRecords(5);
      List<String> rows =
          ParquetRows.allAndClose(
              ParquetReader.open(
                  List.of(file),
                  ParquetOptions.DEFAULT,
                  new Columns(List.of(), Set.of(), List.of(), List.of(SparseColumn.id("c"))),
                  ReadPolicy.STRICT.withFaults(skipped)));
      assertThat(rows).hasSize(4995).contains("[] | [] | [998]").doesNotContain("[] | [] | [7]");
      assertThat(rows.get(7)).isEqualTo("[] | [] | []");
      assertThat(skipped.count()).isEqualTo(5);
      Files.delete(file);
    }
  }

  @Test
  void listsHoldSuchValuesToo() throws IOException {
    Path file =
        ParquetForge.write(
            folder.resolve("c.parquet"),
            "optional group c (LIST) { repeated group list { optional double element; } }",
            3,
            (group, i) -> {
              Group list = group.addGroup("c");
              list.addGroup("list").append("element", i + 1.0);
              list.addGroup("list");
              list.addGroup("list").append("element", i == 2 ? 0.5 : Double.NaN);
            });
    Columns columns = new Columns(List.of(), Set.of(), List.of(), List.of(SparseColumn.id("c")));
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> ParquetRows.allAndClose(open(file, columns)))
        .withMessageContaining("row 3, column c: got 0.5");
    SkippedRecords skipped = new SkippedRecords(1);
    assertThat(
            ParquetRows.allAndClose(
                ParquetReader.open(
                    List.of(file),
                    ParquetOptions.DEFAULT,
                    columns,
                    ReadPolicy.STRICT.withFaults(skipped))))
        .containsExactly("[] | [] | [1]", "[] | [] | [2]");
  }

  @Test
  void labelsAreComparedAsTheTextsOfTheirNumbers() throws IOException {
    for (Type type :
        List.of(
            new Type("double c", 1.0, 0.0, 2.5),
            new Type("float c", 1f, 0f, 2.5f),
            decimal("fixed_len_byte_array(16) c (DECIMAL(38,2))", 16, "100", "0", "250"),
            new Type("int32 c (DECIMAL(9,1))", 10, 0, 25))) {
      Columns columns = new Columns(List.of("c"), Set.of("1", "2.5"), List.of(), List.of());
      assertReads(type, columns, List.of("[1.0] | [] |", "[0.0] | [] |", "[1.0] | [] |"));
    }
  }

  /** Changes the only column's annotation in the footer. */
  private Path annotated(Type type, LogicalType logical) throws IOException {
    Path file = write(type, WRITERS.getFirst());
    byte[] bytes = Files.readAllBytes(file);
    byte[] changed =
        ParquetForge.withFooter(
            bytes, (FileMetaData footer) -> last(footer).setLogicalType(logical));
    return Files.write(file, changed);
  }

  private static SchemaElement last(FileMetaData footer) {
    return footer.getSchema().getLast();
  }

  @Test
  void aColumnOfTheNullTypeIsMissingInEveryRow() throws IOException {
    for (String declared : List.of("int32 c", "boolean c", "binary c", "double c")) {
      Path file = annotated(new Type(declared, null, null), LogicalType.UNKNOWN(new NullType()));
      Columns columns =
          new Columns(List.of(), Set.of(), List.of("c"), List.of(SparseColumn.id("c")));
      assertThat(ParquetRows.allAndClose(open(file, columns)))
          .containsExactly("[] | [NaN] | []", "[] | [NaN] | []");
      Columns text = new Columns(List.of(), Set.of(), List.of(), List.of(SparseColumn.text("c")));
      assertThat(ParquetRows.allAndClose(open(file, text)))
          .contains("[] | [] | [" + TextHash.EMPTY + "]");
      assertThatExceptionOfType(DataException.class)
          .isThrownBy(() ->
              ParquetRows.allAndClose(
                  open(file, new Columns(List.of("c"), Set.of(), List.of(), List.of()))))
          .withMessageContaining("row 1, column c: got null");
      Files.delete(file);
    }
    Path file = annotated(new Type("int32 c", 1), LogicalType.UNKNOWN(new NullType()));
    Columns columns = new Columns(List.of(), Set.of(), List.of("c"), List.of());
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> ParquetRows.allAndClose(open(file, columns)))
        .withMessageContainingAll("column c", "got a value in a column of nulls");
  }

  @Test
  void anAnnotationThatIsUnknownOrDoesNotFitLeavesThePhysicalType() throws IOException {
    Columns columns = new Columns(List.of(), Set.of(), List.of("c"), List.of());
    for (LogicalType logical :
        List.of(
            LogicalType.DATE(new DateType()),
            LogicalType.UUID(new UUIDType()),
            LogicalType.STRING(new StringType()))) {
      Path file = annotated(new Type("int64 c", 1L << 40, 3L), logical);
      assertThat(ParquetRows.allAndClose(open(file, columns)))
          .containsExactly("[] | [1.0995116E12] |", "[] | [3.0] |");
      Files.delete(file);
    }
  }

  @Test
  void aLogicalTypeNewerThanTheReaderLeavesThePhysicalType() throws IOException {
    Path file = annotated(new Type("int64 c", 5L), LogicalType.JSON(new JsonType()));
    String hex = HexFormat.of().formatHex(Files.readAllBytes(file));
    int at = hex.indexOf("cc0000"); // field 12, a struct without fields, of the union
    assertThat(at).isPositive();
    byte[] bytes =
        HexFormat.of().parseHex(hex.substring(0, at) + "0cc6010000" + hex.substring(at + 6));
    bytes[bytes.length - 8] += 2; // the length of the footer: field 99 takes two bytes more
    Files.write(file, bytes);
    assertThat(ParquetReader.columns(file).toString()).contains("INT64");
    Columns columns = new Columns(List.of(), Set.of(), List.of(), List.of(SparseColumn.id("c")));
    assertThat(ParquetRows.allAndClose(open(file, columns))).containsExactly("[] | [] | [5]");
  }

  @Test
  void aDecimalWithoutAPossibleScaleIsRefusedWhereItIsReadAlone() throws IOException {
    for (int scale : new int[] {-1, 77, Integer.MAX_VALUE}) {
      Path file =
          write(new Type("int32 c (DECIMAL(9,2)); optional int32 d", 1), WRITERS.getFirst());
      byte[] changed =
          ParquetForge.withFooter(
              Files.readAllBytes(file),
              footer -> footer.getSchema().get(1).getLogicalType().getDECIMAL().setScale(scale));
      Files.write(file, changed);
      Columns other = new Columns(List.of(), Set.of(), List.of("d"), List.of());
      assertThat(ParquetRows.allAndClose(open(file, other))).hasSize(1);
      Columns columns = new Columns(List.of(), Set.of(), List.of("c"), List.of());
      assertThatExceptionOfType(DataException.class)
          .isThrownBy(() -> open(file, columns))
          .withMessageContaining("column c: got INT32 (DECIMAL) of scale " + scale);
      Files.delete(file);
    }
  }
}
