package dev.tern.files.text;

import static dev.tern.files.Rows.row;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.files.Columns;
import dev.tern.files.ReadPolicy;
import dev.tern.files.Rows;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class CsvWriterTest {
  @TempDir Path folder;

  private List<Rows.Row> readBack(Path file, CsvOptions options, Schema schema) {
    ReadPolicy policy = ReadPolicy.STRICT.withAnyLabel();
    try (DataReader reader = CsvReader.open(List.of(file), options, Columns.of(schema), policy)) {
      return Rows.read(reader);
    }
  }

  @Test
  void rowsAreWrittenAsText() throws IOException {
    Schema schema =
        new Schema(
            List.of("y"), List.of("a,b", "say \"x\""), List.of(Slot.oneHot("c"), Slot.ragged("d")));
    Rows rows =
        new Rows(
            schema,
            List.of(
                row(1, List.of(0.1f, Float.NaN), List.of(List.of(-1L), List.of())),
                row(0, List.of(-0f, 3e10f), List.of(List.of(7L), List.of(Long.MIN_VALUE, 0L)))));
    Path file = folder.resolve("out.csv");
    rows.write(CsvWriter.create(file, schema, CsvOptions.csv()), 1);
    assertThat(Files.readString(file))
        .isEqualTo(
            """
            y,"a,b","say ""x""\",c,d
            1,0.1,,-1,
            0,-0.0,3.0E10,7,-9223372036854775808|0
            """);
    assertThat(readBack(file, CsvOptions.csv(), schema)).isEqualTo(rows.list());
  }

  @Test
  void aNameThatEndsInGzIsCompressed() throws IOException {
    Rows rows = Rows.random(3, 60_000, 2, 5, new int[] {1, 0, 3}, -1);
    Path plain = folder.resolve("out.csv");
    Path file = folder.resolve("out.csv.gz");
    rows.write(CsvWriter.create(plain, rows.schema(), CsvOptions.csv()), 777);
    rows.write(CsvWriter.create(file, rows.schema(), CsvOptions.csv()), 777);
    assertThat(Files.size(plain)).isGreaterThan(2 << 20); // several pieces are compressed
    try (InputStream in = new GZIPInputStream(Files.newInputStream(file))) {
      assertThat(in.readAllBytes()).isEqualTo(Files.readAllBytes(plain));
    }
    assertThat(readBack(file, CsvOptions.csv(), rows.schema())).isEqualTo(rows.list());
  }

  @Test
  void randomRowsReadBackToTheSameBits() {
    Rows rows = Rows.random(3, 5000, 2, 5, new int[] {1, 0, 3}, -1);
    for (CsvOptions options : List.of(CsvOptions.csv(), CsvOptions.tsv())) {
      Path file = folder.resolve("out.csv");
      rows.write(CsvWriter.create(file, rows.schema(), options), 777);
      assertThat(readBack(file, options, rows.schema())).isEqualTo(rows.list());
    }
  }

  @Test
  void anyFloatReadsBackToTheSameBits() {
    SplittableRandom random = new SplittableRandom(5);
    Schema schema = new Schema(List.of(), List.of("x"), List.of());
    Batch batch = new Batch(schema, 1);
    for (int i = 0; i < 100_000; i++) {
      float value = Float.intBitsToFloat(random.nextInt());
      batch.setDense(0, i % 3 == 0 ? (float) Math.rint(value % (1 << 25)) : value);
      batch.endRow();
    }
    Path file = folder.resolve("out.csv");
    try (CsvWriter writer = CsvWriter.create(file, schema, CsvOptions.csv())) {
      writer.write(batch);
      writer.finish();
    }
    List<Rows.Row> rows = readBack(file, CsvOptions.csv(), schema);
    assertThat(rows).hasSize(batch.size());
    for (int i = 0; i < batch.size(); i++) {
      assertThat(Float.floatToIntBits(rows.get(i).dense().getFirst()))
          .isEqualTo(Float.floatToIntBits(batch.dense()[i]));
    }
  }

  @Test
  void aRowWithNothingInItIsNoEmptyLine() throws IOException {
    Schema schema = new Schema(List.of(), List.of("x"), List.of());
    Rows rows = new Rows(schema, List.of(new Rows.Row(List.of(), List.of(Float.NaN), List.of())));
    Path file = folder.resolve("out.csv");
    rows.write(CsvWriter.create(file, schema, CsvOptions.csv()), 1);
    assertThat(Files.readString(file)).isEqualTo("x\n\"\"\n");
    assertThat(readBack(file, CsvOptions.csv(), schema)).isEqualTo(rows.list());
  }

  @Test
  void nothingAppearsBeforeFinishAndNothingStaysWithout() throws IOException {
    Rows rows = Rows.random(3, 10, 1, 1, new int[] {1}, 10);
    Path file = folder.resolve("deep/er/out.csv");
    try (CsvWriter writer = CsvWriter.create(file, rows.schema(), CsvOptions.csv())) {
      writer.write(rows.batch());
      assertThat(file).doesNotExist();
    }
    assertThat(folder).isEmptyDirectory();
    Files.createDirectories(file.getParent());
    Files.writeString(file, "old");
    try (CsvWriter writer = CsvWriter.create(file, rows.schema(), CsvOptions.csv())) {
      writer.write(rows.batch());
    }
    assertThat(file).hasContent("old");
    rows.write(CsvWriter.create(file, rows.schema(), CsvOptions.csv()), 3);
    assertThat(readBack(file, CsvOptions.csv(), rows.schema())).isEqualTo(rows.list());
    try (var files = Files.list(file.getParent())) {
      assertThat(files).containsExactly(file);
    }
  }

  @Test
  void placesThatCannotBeWrittenAreNamed() throws IOException {
    Schema schema = new Schema(List.of("y"), List.of(), List.of());
    Path plain = Files.writeString(folder.resolve("plain"), "x");
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> CsvWriter.create(plain.resolve("out.csv"), schema, CsvOptions.csv()))
        .withMessageContaining("out.csv");
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> CsvWriter.create(folder, schema, CsvOptions.csv()))
        .withMessageContaining(folder.toString());
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> CsvWriter.create(Path.of("/dev/null"), schema, CsvOptions.csv()))
        .withMessageContaining("/dev/null");
  }

  @Test
  void rowsThatDoNotFitAreRefused() {
    Schema schema = new Schema(List.of("y"), List.of(), List.of(Slot.oneHot("c")));
    Rows two = new Rows(schema, List.of(row(1, List.of(), List.of(List.of(1L, 2L)))));
    Path file = folder.resolve("out.csv");
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> two.write(CsvWriter.create(file, schema, CsvOptions.csv()), 1))
        .withMessageContainingAll("out.csv", "row 1", "2 ids", "slot c");
    assertThat(folder).isEmptyDirectory();
    Schema other = new Schema(List.of(), List.of(), List.of());
    assertThatIllegalArgumentException()
        .isThrownBy(() -> two.write(CsvWriter.create(file, other, CsvOptions.csv()), 1))
        .withMessageContaining("1 slots");
  }
}
