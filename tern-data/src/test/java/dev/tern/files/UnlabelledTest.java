package dev.tern.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.tern.base.DataException;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.files.parquet.ParquetLayout;
import dev.tern.files.parquet.ParquetOptions;
import dev.tern.files.parquet.ParquetReader;
import dev.tern.files.parquet.ParquetWriter;
import dev.tern.files.records.NormCheck;
import dev.tern.files.records.NormOptions;
import dev.tern.files.records.NormReader;
import dev.tern.files.records.NormWriter;
import dev.tern.files.records.RawOptions;
import dev.tern.files.records.RawOptions.Dense;
import dev.tern.files.records.RawReader;
import dev.tern.files.records.RawWriter;
import dev.tern.files.text.CsvOptions;
import dev.tern.files.text.CsvReader;
import dev.tern.files.text.CsvWriter;
import dev.tern.files.text.LibsvmOptions;
import dev.tern.files.text.LibsvmReader;
import dev.tern.files.text.LibsvmWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where labels are not read, files may have any, placeholders or none. */
final class UnlabelledTest {
  private static final ReadPolicy UNLABELLED = ReadPolicy.STRICT.withoutLabels();

  @TempDir Path folder;

  /** The same rows with labels of 0 and 1, with one placeholder throughout, and without. */
  private static List<Rows> variants(Rows rows, float placeholder) {
    List<Rows> variants = new ArrayList<>(List.of(rows));
    variants.add(new Rows(rows.schema(), labelled(rows, List.of(placeholder))));
    variants.add(bare(rows));
    return variants;
  }

  private static List<Rows.Row> labelled(Rows rows, List<Float> labels) {
    return rows.list().stream().map(r -> new Rows.Row(labels, r.dense(), r.ids())).toList();
  }

  private static Rows bare(Rows rows) {
    Schema schema = rows.schema();
    return new Rows(
        new Schema(List.of(), schema.dense(), schema.slots()), labelled(rows, List.of()));
  }

  private static void assertReads(Rows rows, DataReader reader) {
    try (reader) {
      assertThat(reader.schema().labels()).isEmpty();
      assertThat(reader.rowCount().orElse(rows.list().size())).isEqualTo(rows.list().size());
      assertThat(Rows.read(reader)).isEqualTo(bare(rows).list());
    }
  }

  @Test
  void normIsReadWithAndWithoutNames() {
    for (NormCheck check : NormCheck.values()) {
      for (KeyType keys : new KeyType[] {KeyType.U32, KeyType.I64}) {
        Rows rows = Rows.random(3, 300, 1, 2, new int[] {1, 2}, 90);
        List<Path> all = new ArrayList<>();
        for (Rows variant : variants(rows, -1)) {
          Path file = folder.resolve(all.size() + ".norm");
          variant.write(NormWriter.create(file, variant.schema(), check, keys), 64);
          all.add(file);
          assertReads(rows, NormReader.open(List.of(file), NormOptions.DETECT, UNLABELLED));
          NormOptions named = NormOptions.DETECT.withSchema(rows.schema());
          assertReads(rows, NormReader.open(List.of(file), named, UNLABELLED));
        }
        try (DataReader reader = NormReader.open(all, NormOptions.DETECT, UNLABELLED)) {
          assertThat(Rows.read(reader)).hasSize(900);
        }
      }
    }
  }

  /** Samples of 12 bytes, or of 8 without label: 16 and 24 of them are as long. */
  @Test
  void rawIsReadWhateverItsSizeAllows() {
    for (int count : new int[] {1, 7, 16, 160}) {
      for (boolean ints : new boolean[] {false, true}) {
        Rows rows = Rows.random(count, count, 1, 1, new int[] {1}, 0xFFFFFFFFL);
        RawOptions options =
            new RawOptions(rows.schema(), ints, Dense.FLOAT, KeyType.U32, OptionalLong.empty());
        for (Rows variant : variants(rows, -1)) {
          Path file = folder.resolve("in.raw");
          boolean labels = variant.schema().labelDim() > 0;
          variant.write(RawWriter.create(file, labels ? options : options.withoutLabels()), 64);
          assertReads(rows, RawReader.open(List.of(file), options, UNLABELLED));
        }
      }
    }
  }

  @Test
  void rawThatMayHaveLabelsOrNotIsAFaultUntilThatIsSaid() {
    Rows random = Rows.random(5, 24, 1, 1, new int[] {1}, 9);
    List<Rows.Row> rated = new ArrayList<>();
    for (int i = 0; i < 24; i++) {
      List<Float> label = List.of(1f + i % 5);
      rated.add(new Rows.Row(label, random.list().get(i).dense(), random.list().get(i).ids()));
    }
    Rows rows = new Rows(random.schema(), rated);
    RawOptions options = RawOptions.floats(rows.schema());
    Path file = folder.resolve("in.raw");
    rows.write(RawWriter.create(file, options), 64);
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> RawReader.open(List.of(file), options, UNLABELLED))
        .withMessageContaining("24 samples with labels or 36 without")
        .withMessageContaining("data.has_labels");
    assertReads(rows, RawReader.openAs(List.of(file), options, UNLABELLED));
    assertReads(rows, RawReader.open(List.of(file), options.withRows(24), UNLABELLED));
    try (DataReader reader = RawReader.openAs(List.of(file), options.withoutLabels(), UNLABELLED)) {
      assertThat(reader.rowCount()).hasValue(36);
    }
  }

  @Test
  void rawWithoutLabelsIsReadWhereWhatWouldBeLabelsCannotBe() {
    Rows rows = Rows.random(5, 24, 1, 1, new int[] {1}, 0xFFFFFFFFL);
    RawOptions options = RawOptions.floats(rows.schema());
    Path file = folder.resolve("in.raw");
    bare(rows).write(RawWriter.create(file, options.withoutLabels()), 64);
    assertReads(rows, RawReader.open(List.of(file), options, UNLABELLED));
    assertReads(rows, RawReader.open(List.of(file), options.withRows(24), UNLABELLED));
  }

  @Test
  void libffmIsReadWithAndWithoutLabels() throws IOException {
    Rows rows = Rows.random(3, 300, 1, 2, new int[] {1, 2}, 90);
    LibsvmOptions options = LibsvmOptions.libffm().withNamesOf(rows.schema());
    Columns columns = Columns.of(rows.schema());
    for (Rows variant : variants(rows, -1).subList(0, 2)) {
      Path file = folder.resolve("in.ffm");
      variant.write(LibsvmWriter.create(file, variant.schema(), options), 64);
      assertReads(rows, LibsvmReader.open(List.of(file), options, columns, UNLABELLED));
      Files.writeString(file, Files.readString(file).replaceAll("(?m)^\\S+ ", ""));
      assertReads(rows, LibsvmReader.open(List.of(file), options, columns, UNLABELLED));
    }
  }

  @Test
  void csvAndParquetAreReadWithoutTheColumn() {
    Rows rows = Rows.random(3, 30, 1, 2, new int[] {1, 2}, 90);
    Columns columns = Columns.of(rows.schema());
    for (Rows variant : variants(rows, -1)) {
      Path csv = folder.resolve("in.csv");
      variant.write(CsvWriter.create(csv, variant.schema(), CsvOptions.csv()), 64);
      assertReads(rows, CsvReader.open(List.of(csv), CsvOptions.csv(), columns, UNLABELLED));
      Path parquet = folder.resolve("in.parquet");
      ParquetLayout layout = ParquetLayout.DEFAULT.asHugeCtr();
      variant.write(ParquetWriter.create(parquet, variant.schema(), layout), 64);
      List<Path> files = List.of(parquet);
      assertReads(rows, ParquetReader.open(files, ParquetOptions.DEFAULT, columns, UNLABELLED));
      assertReads(rows, ParquetReader.openHugeCtr(files, ParquetOptions.DEFAULT, UNLABELLED));
    }
  }
}
