package dev.tern.files;

import static dev.tern.files.Rows.row;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.tern.base.DataException;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.files.parquet.ParquetLayout;
import dev.tern.files.parquet.ParquetOptions;
import dev.tern.files.parquet.ParquetReader;
import dev.tern.files.parquet.ParquetWriter;
import dev.tern.files.records.NormCheck;
import dev.tern.files.records.NormOptions;
import dev.tern.files.records.NormReader;
import dev.tern.files.records.NormWriter;
import dev.tern.files.records.RawOptions;
import dev.tern.files.records.RawReader;
import dev.tern.files.records.RawWriter;
import dev.tern.files.text.CsvOptions;
import dev.tern.files.text.CsvReader;
import dev.tern.files.text.LibsvmOptions;
import dev.tern.files.text.LibsvmReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A number that is infinite, or beyond float's range, is a fault of its row in every format. */
final class InfiniteNumbersTest {
  private static final Schema SCHEMA =
      new Schema(List.of("y"), List.of("a", "b"), List.of(Slot.oneHot("c")));
  private static final float INF = Float.POSITIVE_INFINITY;

  @TempDir Path folder;

  /** Rows 2 and 4 are bad; NaN is a missing number. */
  private static Rows rows() {
    List<Rows.Row> rows = new ArrayList<>();
    for (float number : new float[] {1, INF, Float.NaN, -INF, Float.MAX_VALUE}) {
      rows.add(row(1, List.of(2f, number), List.of(List.of(7L))));
    }
    return new Rows(SCHEMA, rows);
  }

  private static void assertFaults(Function<ReadPolicy, DataReader> format, String... messages) {
    List<String> faults = new ArrayList<>();
    ReadPolicy lenient = ReadPolicy.STRICT.withFaults(f -> faults.add(f.getMessage()));
    List<Rows.Row> good = new ArrayList<>(rows().list());
    good.remove(3);
    good.remove(1);
    try (DataReader reader = format.apply(lenient)) {
      assertThat(Rows.read(reader)).isEqualTo(good);
    }
    assertThat(faults).hasSize(2);
    for (int i = 0; i < 2; i++) {
      assertThat(faults.get(i)).contains(messages[i], ", expected a finite number");
    }
    try (DataReader reader = format.apply(ReadPolicy.STRICT)) {
      assertThatExceptionOfType(DataException.class)
          .isThrownBy(() -> Rows.read(reader))
          .withMessageContaining(messages[0]);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inf", "-Infinity", "1e39", "-3.5e38"})
  void inCsv(String text) throws IOException {
    Path file =
        Files.writeString(
            folder.resolve("in.csv"),
            "y,a,b,c\n1,2,1,7\n1,2,%s,7\n1,2,nan,7\n1,2,%s,7\n1,2,3.4028235e38,7\n"
                .formatted(text, text));
    int width = text.length();
    assertFaults(
        policy -> CsvReader.open(List.of(file), CsvOptions.csv(), Columns.of(SCHEMA), policy),
        "in.csv: line 3, byte 20, column b: got \"" + text + '"',
        "in.csv: line 5, byte " + (37 + width) + ", column b: got \"" + text + '"');
  }

  @ParameterizedTest
  @ValueSource(strings = {"inf", "-Infinity", "1e39", "-3.5e38"})
  void inLibffm(String text) throws IOException {
    Path file =
        Files.writeString(
            folder.resolve("in.ffm"),
            "1 0:0:2 1:1:1 2:7:1\n1 0:0:2 1:1:%s 2:7:1\n1 0:0:2 1:1:nan 2:7:1\n1 0:0:2 1:1:%s 2:7:1\n1 0:0:2 1:1:3.4028235e38 2:7:1\n"
                .formatted(text, text));
    int width = text.length();
    LibsvmOptions options = LibsvmOptions.libffm().withNamesOf(SCHEMA);
    assertFaults(
        policy -> LibsvmReader.open(List.of(file), options, Columns.of(SCHEMA), policy),
        "in.ffm: line 2, byte 28: got \"1:1:" + text + '"',
        "in.ffm: line 4, byte " + (69 + width) + ": got \"1:1:" + text + '"');
  }

  @Test
  void inNorm() {
    for (NormCheck check : NormCheck.values()) {
      Path file = folder.resolve("in.norm");
      rows().write(NormWriter.create(file, SCHEMA, check, KeyType.I64), 2);
      int second = check == NormCheck.SUM ? 69 + 29 + 12 : 64 + 24 + 8;
      int fourth = check == NormCheck.SUM ? second + 2 * 29 : second + 2 * 24;
      assertFaults(
          policy -> NormReader.open(List.of(file), NormOptions.DETECT.withSchema(SCHEMA), policy),
          "in.norm: record 2, byte " + second + ", column b: got Infinity",
          "in.norm: record 4, byte " + fourth + ", column b: got -Infinity");
    }
  }

  @Test
  void inRaw() {
    RawOptions options = RawOptions.floats(SCHEMA);
    Path file = folder.resolve("in.raw");
    rows().write(RawWriter.create(file, options), 2);
    assertFaults(
        policy -> RawReader.open(List.of(file), options, policy),
        "in.raw: row 2, byte 24, column b: got Infinity",
        "in.raw: row 4, byte 56, column b: got -Infinity");
  }

  @Test
  void inParquet() {
    for (boolean hugeCtr : new boolean[] {false, true}) {
      ParquetLayout layout = ParquetLayout.DEFAULT;
      Path file = folder.resolve("in.parquet");
      rows().write(ParquetWriter.create(file, SCHEMA, hugeCtr ? layout.asHugeCtr() : layout), 2);
      assertFaults(
          policy ->
              hugeCtr
                  ? ParquetReader.openHugeCtr(List.of(file), ParquetOptions.DEFAULT, policy)
                  : ParquetReader.open(
                      List.of(file), ParquetOptions.DEFAULT, Columns.of(SCHEMA), policy),
          "in.parquet: row 2, column b: got Infinity",
          "in.parquet: row 4, column b: got -Infinity");
    }
  }
}
