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
import dev.tern.files.DataWriter;
import dev.tern.files.KeyType;
import dev.tern.files.ReadPolicy;
import dev.tern.files.Rows;
import dev.tern.files.parquet.ParquetLayout;
import dev.tern.files.parquet.ParquetWriter;
import dev.tern.files.records.NormCheck;
import dev.tern.files.records.NormWriter;
import dev.tern.files.records.RawOptions;
import dev.tern.files.records.RawWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class LibsvmWriterTest {
  @TempDir Path folder;

  private static List<Rows.Row> readBack(Path file, Schema schema, LibsvmOptions options) {
    ReadPolicy policy = ReadPolicy.STRICT.withAnyLabel();
    try (DataReader reader =
        LibsvmReader.open(List.of(file), options, Columns.of(schema), policy)) {
      return Rows.read(reader);
    }
  }

  private String written(Rows rows, LibsvmOptions options) throws IOException {
    Path file = folder.resolve("out.txt");
    rows.write(LibsvmWriter.create(file, rows.schema(), options), 2);
    return Files.readString(file);
  }

  private static Schema schema(List<String> dense, String... slots) {
    return new Schema(List.of("y"), dense, List.of(slots).stream().map(Slot::ragged).toList());
  }

  @Test
  void featuresAreWrittenInAscendingOrder() throws IOException {
    Schema schema = schema(List.of("30", "2"), "rest", "qid");
    Rows rows =
        new Rows(
            schema,
            List.of(
                row(1, List.of(0.1f, 0f), List.of(List.of(-1L, 31L, 7L, 1L), List.of(5L))),
                row(-1, List.of(-0f, Float.NaN), List.of(List.of(), List.of())),
                row(0, List.of(0f, 3e10f), List.of(List.of(Long.MIN_VALUE), List.of(-2L)))));
    assertThat(written(rows, LibsvmOptions.libsvm()))
        .isEqualTo(
            """
            1 qid:5 1:1 7:1 30:0.1 31:1 18446744073709551615:1
            -1 2:nan 30:-0.0
            0 qid:18446744073709551614 2:3.0E10 9223372036854775808:1
            """);
    List<Rows.Row> back = readBack(folder.resolve("out.txt"), schema, LibsvmOptions.libsvm());
    assertThat(back.subList(1, 3)).isEqualTo(rows.list().subList(1, 3));
    assertThat(back.getFirst())
        .isEqualTo(row(1, List.of(0.1f, 0f), List.of(List.of(1L, 7L, 31L, -1L), List.of(5L))));
  }

  @Test
  void fieldsAreWrittenColumnByColumn() throws IOException {
    Schema schema = schema(List.of("0", "5:17"), "3", "5");
    Rows rows =
        new Rows(
            schema,
            List.of(
                row(1, List.of(0.5f, 2f), List.of(List.of(9L, 4L, 9L), List.of(16L))),
                row(0, List.of(0f, Float.NaN), List.of(List.of(), List.of()))));
    assertThat(written(rows, LibsvmOptions.libffm()))
        .isEqualTo("1 0:0:0.5 5:17:2 3:9:1 3:4:1 3:9:1 5:16:1\n0 5:17:nan\n");
    assertThat(readBack(folder.resolve("out.txt"), schema, LibsvmOptions.libffm()))
        .isEqualTo(rows.list());
  }

  @Test
  void columnsWithoutNumbersGetThemInOrder() throws IOException {
    Schema schema = schema(List.of("age", "7"), "city");
    Rows rows = new Rows(schema, List.of(row(1, List.of(2f, 3f), List.of(List.of(8L)))));
    LibsvmOptions svm = LibsvmOptions.libsvm().withNamesOf(schema);
    assertThat(written(rows, svm)).isEqualTo("1 1:2 2:3 8:1\n");
    assertThat(readBack(folder.resolve("out.txt"), schema, svm)).isEqualTo(rows.list());
    LibsvmOptions ffm = LibsvmOptions.libffm().withNamesOf(schema);
    assertThat(written(rows, ffm)).isEqualTo("1 0:0:2 1:1:3 2:8:1\n");
    assertThat(readBack(folder.resolve("out.txt"), schema, ffm)).isEqualTo(rows.list());
    Schema numbers = schema(List.of("4", "7"), "5");
    assertThat(LibsvmOptions.libffm().withNamesOf(numbers).names()).isEmpty();
    assertThat(LibsvmOptions.libsvm().withNamesOf(numbers).names()).isEmpty();
  }

  @Test
  void randomRowsReadBackToTheSameBits() {
    for (String name : List.of("out.ffm", "out.ffm.gz")) {
      Rows rows = Rows.random(3, 20_000, 1, 5, new int[] {1, 0, 3}, -1);
      Schema schema = schema(rows.schema().dense(), "slot0", "slot1", "slot2");
      LibsvmOptions options = LibsvmOptions.libffm().withNamesOf(schema);
      Path file = folder.resolve(name);
      rows.write(LibsvmWriter.create(file, schema, options), 777);
      assertThat(readBack(file, schema, options)).isEqualTo(rows.list());
    }
  }

  @Test
  void randomRowsWithoutFieldsReadBackToTheSameBits() {
    SplittableRandom random = new SplittableRandom(9);
    Schema schema = schema(List.of("1", "2", "3"), "ids");
    List<Rows.Row> rows = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      List<Float> dense = new ArrayList<>();
      for (int k = 0; k < 3; k++) {
        float any = Float.intBitsToFloat(random.nextInt());
        dense.add(Float.isFinite(any) ? any : Float.NaN);
      }
      List<Long> ids =
          random
              .longs(random.nextInt(8))
              .filter(id -> id < 0 || id > 3)
              .boxed()
              .distinct()
              .sorted(Long::compareUnsigned)
              .toList();
      rows.add(row(random.nextInt(2), dense, List.of(ids)));
    }
    Path file = folder.resolve("out.svm");
    new Rows(schema, rows).write(LibsvmWriter.create(file, schema, LibsvmOptions.libsvm()), 777);
    assertThat(readBack(file, schema, LibsvmOptions.libsvm())).isEqualTo(rows);
  }

  @Test
  void rowsThatDoNotFitAreRefused() {
    Schema svm = schema(List.of("3"), "ids", "qid");
    assertRefused(
        svm,
        false,
        row(1, List.of(0f), List.of(List.of(1L, 3L), List.of())),
        "got the id 3, the number of the dense column 3");
    assertRefused(
        svm,
        false,
        row(1, List.of(0f), List.of(List.of(4L, 1L, 4L), List.of())),
        "got the id 4 twice");
    assertRefused(
        svm,
        false,
        row(1, List.of(0f), List.of(List.of(), List.of(1L, 2L))),
        "got 2 ids of the query");
    assertRefused(
        svm, false, row(Float.NaN, List.of(0f), List.of(List.of(), List.of())), "got label NaN");
    Schema ffm = schema(List.of("3:17"), "3");
    assertRefused(
        ffm,
        true,
        row(1, List.of(0f), List.of(List.of(17L))),
        "got the id 17, the number of the dense column 3:17");
    assertThat(folder).isEmptyDirectory();
  }

  private void assertRefused(Schema schema, boolean fields, Rows.Row row, String message) {
    LibsvmOptions options = fields ? LibsvmOptions.libffm() : LibsvmOptions.libsvm();
    Path file = folder.resolve("out.txt");
    Rows rows = new Rows(schema, List.of(row));
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> rows.write(LibsvmWriter.create(file, schema, options), 1))
        .withMessageContainingAll("out.txt: row 1: ", message);
  }

  @Test
  void columnsThatTheNotationCannotHoldAreRefused() {
    Path file = folder.resolve("out.svm");
    assertThatIllegalArgumentException()
        .isThrownBy(
            () -> LibsvmWriter.create(file, schema(List.of(), "a", "b"), LibsvmOptions.libsvm()))
        .withMessageContaining("got the slots [a, b], expected one for all ids; use libffm");
    Schema unlabelled = new Schema(List.of(), List.of(), List.of(Slot.ragged("a")));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> LibsvmWriter.create(file, unlabelled, LibsvmOptions.libsvm()))
        .withMessageContaining("got 0 labels, expected one a row");
    assertThat(folder).isEmptyDirectory();
  }

  private String weights(Path file, LibsvmOptions options, Columns columns) {
    StringBuilder found = new StringBuilder();
    try (DataReader reader = LibsvmReader.open(List.of(file), options.weighing(), columns);
        Batch batch = reader.next().orElseThrow()) {
      for (int i = 0; i < batch.idCount(0); i++) {
        found.append(batch.ids(0)[i]).append(':').append(batch.weights(0)[i]).append(' ');
      }
    }
    return found.toString();
  }

  @Test
  void weightsAreWrittenAndReadBack() {
    for (boolean fields : new boolean[] {false, true}) {
      LibsvmOptions options = fields ? LibsvmOptions.libffm() : LibsvmOptions.libsvm();
      String slot = fields ? "0" : "features";
      Schema schema = new Schema(List.of("y"), List.of(), List.of(Slot.weighted(slot)));
      Batch batch = new Batch(schema, 1);
      batch.setLabel(0, 1);
      batch.addId(0, -1, 0.1f);
      batch.addId(0, 5, 1);
      batch.addId(0, 3, -2.5e-7f);
      batch.addId(0, 4, 0);
      batch.endRow();
      Path file = folder.resolve("weights" + fields);
      try (LibsvmWriter writer = LibsvmWriter.create(file, schema, options)) {
        writer.write(batch);
        writer.finish();
      }
      assertThat(file)
          .content()
          .isEqualTo(
              fields
                  ? "1 0:18446744073709551615:0.1 0:5:1 0:3:-2.5E-7\n"
                  : "1 3:-2.5E-7 5:1 18446744073709551615:0.1\n");
      assertThat(weights(file, options, Columns.of(schema)))
          .isEqualTo(fields ? "-1:0.1 5:1.0 3:-2.5E-7 " : "3:-2.5E-7 5:1.0 -1:0.1 ");
    }
  }

  @Test
  void formatsWithoutWeightsRefuseThemByName() {
    Schema schema = new Schema(List.of("y"), List.of(), List.of(Slot.weighted("w")));
    Path file = folder.resolve("out");
    Schema fixed = new Schema(List.of("y"), List.of(), List.of(new Slot("w", 1, "w", true)));
    List<Supplier<DataWriter>> writers =
        List.of(
            () -> CsvWriter.create(file, schema, CsvOptions.csv()),
            () -> NormWriter.create(file, schema, NormCheck.SUM, KeyType.I64),
            () -> RawWriter.create(file, RawOptions.floats(fixed)),
            () -> ParquetWriter.create(file, schema, ParquetLayout.DEFAULT));
    for (Supplier<DataWriter> writer : writers) {
      assertThatIllegalArgumentException()
          .isThrownBy(writer::get)
          .withMessageContaining("out: got slot w, whose ids have weights, expected ids alone")
          .withMessageContaining("write libsvm or libffm");
    }
    assertThat(file).doesNotExist();
    Schema plain = new Schema(List.of("y"), List.of(), List.of(Slot.ragged("w")));
    try (LibsvmWriter writer = LibsvmWriter.create(file, plain, LibsvmOptions.libsvm())) {
      Batch batch = new Batch(schema, 1);
      assertThatIllegalArgumentException()
          .isThrownBy(() -> writer.write(batch))
          .withMessageContaining("got a batch whose slot w has weights, expected none");
    }
  }
}
