package dev.tern.files.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.tern.base.DataException;
import dev.tern.data.encode.TextHash;
import dev.tern.files.Columns;
import dev.tern.files.SparseColumn;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.io.api.Binary;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Columns of times that are named by a part of them, or read in their order. */
final class ParquetTimePartsTest {
  private static final long SECOND = 1_769_848_200; // 2026-01-31T08:30:00Z, a Saturday

  @TempDir Path folder;

  private Path write(String type, Object... values) throws IOException {
    BiConsumer<Group, Integer> row =
        (group, i) -> {
          switch (values[i]) {
            case null -> {}
            case Integer value -> group.append("t", value);
            case Long value -> group.append("t", value);
            case Double value -> group.append("t", value);
            case String value -> group.append("t", value);
            case byte[] value -> group.append("t", Binary.fromConstantByteArray(value));
            default -> throw new AssertionError(values[i]);
          }
        };
    Path file = folder.resolve("t.parquet");
    Files.deleteIfExists(file);
    return ParquetForge.write(
        file, "optional " + type + ";", values.length, row, builder -> builder);
  }

  private static List<String> rows(Path file, List<String> dense, SparseColumn... sparse) {
    Columns columns = new Columns(List.of(), Set.of(), dense, List.of(sparse));
    return ParquetRows.allAndClose(
        ParquetReader.open(List.of(file), ParquetOptions.DEFAULT, columns));
  }

  private void assertSaturday(String type, Object time) throws IOException {
    Path file = write(type, time, null, time);
    String row = "[] | [%s] | [8] [%d]".formatted((float) (SECOND / 86_400.0), TextHash.of("6"));
    assertThat(
            rows(
                file, List.of("t@days"), SparseColumn.id("t@hour"), SparseColumn.text("t@weekday")))
        .containsExactly(row, "[] | [NaN] | [] [%d]".formatted(TextHash.EMPTY), row);
  }

  private static byte[] int96(long day, long nanos) {
    return ByteBuffer.allocate(12)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putLong(nanos)
        .putInt((int) (day + 2_440_588))
        .array();
  }

  @Test
  void everyTypeOfTimeHasItsParts() throws IOException {
    assertSaturday("int64 t (TIMESTAMP(MILLIS,true))", 1_000 * SECOND);
    assertSaturday("int64 t (TIMESTAMP(MICROS,false))", 1_000_000 * SECOND);
    assertSaturday("int64 t (TIMESTAMP(NANOS,true))", 1_000_000_000 * SECOND);
    assertSaturday("int64 t", SECOND);
    assertSaturday("int64 t", 1_000 * SECOND);
    assertSaturday("double t", (double) SECOND);
    assertSaturday("binary t (STRING)", "2026-01-31T09:30:00+01:00");
    assertSaturday("int96 t", int96(LocalDate.of(2026, 1, 31).toEpochDay(), 30_600_000_000_000L));
    assertSaturday("int64 t (DECIMAL(12,0))", SECOND);
  }

  @Test
  void partsOfDaysNeedNoTime() throws IOException {
    Path file = write("int32 t (DATE)", (int) LocalDate.of(2024, 2, 29).toEpochDay());
    assertThat(rows(file, List.of("t@day", "t@month", "t@year"), SparseColumn.id("t@hour")))
        .containsExactly("[] | [29.0, 2.0, 2024.0] | [0]");
  }

  @Test
  void anHourIsAllThatATimeOfTheDayHas() throws IOException {
    Path file = write("int32 t (TIME(MILLIS,true))", 30_600_000);
    assertThat(rows(file, List.of("t@hour"))).containsExactly("[] | [8.0] |");
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> rows(file, List.of("t@weekday")))
        .withMessageContaining("column t@weekday: got INT32 (TIME")
        .withMessageContaining("expected days or times");
  }

  @ParameterizedTest
  @ValueSource(strings = {"soon", "2026-02-30", "2026-01-31T24:00"})
  void textThatIsNoTimeIsAFaultOfItsRow(String text) throws IOException {
    Path file = write("binary t (STRING)", "2026-01-31", text);
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> rows(file, List.of("t@days")))
        .withMessageContaining("row 2, column t@days: got \"" + text + "\", expected a time such");
  }

  @Test
  void typesThatAreNoTimesAreRefused() throws IOException {
    Path file = write("boolean t");
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> rows(file, List.of("t@days")))
        .withMessageContaining("column t@days: got BOOLEAN, expected days or times");
  }

  @Test
  void textsStandInTheOrderOfTheirTimes() throws IOException {
    Object[] texts = {"2026-01-31T01:00:00+02:00", "2026-01-30T23:00:00.5Z", "2026-01-31"};
    long[] places =
        rows(write("binary t (STRING)", texts), List.of(), SparseColumn.time("t")).stream()
            .mapToLong(row -> Long.parseLong(row.replaceAll(".*\\[|\\]", "")))
            .toArray();
    assertThat(places).isSorted().doesNotHaveDuplicates();
    Object[] numbers = {"-1.5", "7", "1769848200123", "1769848200124"};
    places =
        rows(write("binary t (STRING)", numbers), List.of(), SparseColumn.time("t")).stream()
            .mapToLong(row -> Long.parseLong(row.replaceAll(".*\\[|\\]", "")))
            .toArray();
    assertThat(places).isSorted().doesNotHaveDuplicates();
  }

  private void assertInstant(String type, Object time) throws IOException {
    Path file = write(type, time);
    assertThat(rows(file, List.of(), SparseColumn.instant("t")))
        .containsExactly("[] | [] | [%d]".formatted(1_000_000 * SECOND));
    Path gap = write(type, time, null);
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> rows(gap, List.of(), SparseColumn.instant("t")))
        .withMessageContaining("t.parquet")
        .withMessageContaining("row 2")
        .withMessageContaining("got null, expected a value");
  }

  @Test
  void everyTypeOfTimeIsAnInstantWhichEachRowMustHave() throws IOException {
    assertInstant("int64 t (TIMESTAMP(MILLIS,true))", 1_000 * SECOND);
    assertInstant("int64 t (TIMESTAMP(MICROS,false))", 1_000_000 * SECOND);
    assertInstant("int64 t (TIMESTAMP(NANOS,true))", 1_000_000_000 * SECOND);
    assertInstant("int64 t", SECOND);
    assertInstant("int64 t", 1_000 * SECOND);
    assertInstant("double t", (double) SECOND);
    assertInstant("binary t (STRING)", "2026-01-31T09:30:00+01:00");
    assertInstant("int96 t", int96(LocalDate.of(2026, 1, 31).toEpochDay(), 30_600_000_000_000L));
    assertInstant("int64 t (DECIMAL(12,0))", SECOND);
    assertThat(
            rows(
                write("int32 t (DATE)", (int) LocalDate.of(2024, 2, 29).toEpochDay()),
                List.of(),
                SparseColumn.instant("t")))
        .containsExactly("[] | [] | [1709164800000000]");
  }

  @ParameterizedTest
  @ValueSource(strings = {"soon", "2026-02-30", ""})
  void textThatIsNoInstantIsAFaultOfItsRow(String text) throws IOException {
    Path file = write("binary t (STRING)", "2026-01-31", text);
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> rows(file, List.of(), SparseColumn.instant("t")))
        .withMessageContaining("t.parquet")
        .withMessageContaining("row 2, column t@microseconds: got");
  }

  @Test
  void aTimeOfTheDayIsNoInstant() throws IOException {
    Path file = write("int32 t (TIME(MILLIS,true))", 30_600_000);
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> rows(file, List.of(), SparseColumn.instant("t")))
        .withMessageContaining("expected days or times");
  }
}
