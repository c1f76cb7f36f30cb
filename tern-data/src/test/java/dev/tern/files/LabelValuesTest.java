package dev.tern.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.readers.Readers;
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
import dev.tern.files.text.CsvWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What labels of each name may be, and labels that are weights of rows, in all formats. */
final class LabelValuesTest {
  @TempDir Path folder;

  private static final Schema SCHEMA =
      new Schema(List.of("y", "w"), List.of("x"), List.of(Slot.oneHot("id")));
  private static final ReadPolicy POLICY =
      ReadPolicy.STRICT.withLabel("w", ReadPolicy.Labels.WEIGHT);

  /** Formats of files, each with a reader and a writer. */
  enum Format {
    CSV,
    PARQUET,
    NORM,
    RAW;

    DataWriter writer(Path file) {
      return switch (this) {
        case CSV -> CsvWriter.create(file, SCHEMA, CsvOptions.csv());
        case PARQUET -> ParquetWriter.create(file, SCHEMA, ParquetLayout.DEFAULT);
        case NORM -> NormWriter.create(file, SCHEMA, NormCheck.SUM, KeyType.I64);
        case RAW -> RawWriter.create(file, RawOptions.floats(SCHEMA).withKeys(KeyType.I64));
      };
    }

    DataReader reader(Path file, ReadPolicy policy) {
      Columns columns = Columns.of(SCHEMA);
      return switch (this) {
        case CSV -> CsvReader.open(List.of(file), CsvOptions.csv(), columns, policy);
        case PARQUET -> ParquetReader.open(List.of(file), ParquetOptions.DEFAULT, columns, policy);
        case NORM -> NormReader.open(List.of(file), NormOptions.DETECT.withSchema(SCHEMA), policy);
        case RAW ->
            RawReader.open(List.of(file), RawOptions.floats(SCHEMA).withKeys(KeyType.I64), policy);
      };
    }
  }

  /** Rows 1 to {@code weights.length}, each with its weight. */
  private Path file(Format format, float... weights) {
    Path file = folder.resolve("rows." + format);
    Batch batch = new Batch(SCHEMA, 1);
    for (int n = 0; n < weights.length; n++) {
      batch.setLabel(0, n % 2);
      batch.setLabel(1, weights[n]);
      batch.setDense(0, n);
      batch.addId(0, n);
      batch.endRow();
    }
    try (DataWriter writer = format.writer(file)) {
      writer.write(batch);
      writer.finish();
    }
    return file;
  }

  private static List<Float> weights(DataReader reader) {
    List<Float> weights = new ArrayList<>();
    for (Optional<Batch> next = reader.next(); next.isPresent(); next = reader.next()) {
      try (Batch batch = next.get()) {
        for (int row = 0; row < batch.size(); row++) {
          weights.add(batch.rowWeight(row));
        }
      }
    }
    return weights;
  }

  @ParameterizedTest
  @EnumSource
  void weightsOfRowsAreReadFromEveryFormat(Format format) {
    Path file = file(format, 1, 0, 2.5f, 1e20f, 10);
    try (DataReader reader = Readers.weighted(format.reader(file, POLICY), "w")) {
      assertThat(reader.schema().labels()).containsExactly("y");
      assertThat(weights(reader)).containsExactly(1f, 0f, 2.5f, 1e20f, 10f);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aNegativeWeightIsRefusedByFileAndRow(Format format) {
    Path file = file(format, 1, 2, -3, 4);
    try (DataReader reader = Readers.weighted(format.reader(file, POLICY), "w")) {
      String row = format == Format.CSV ? "line 4" : "3";
      assertThatThrownBy(() -> weights(reader))
          .isInstanceOf(DataException.class)
          .hasMessageContaining(file.toString())
          .hasMessageContaining(row)
          .hasMessageContaining("got weight ")
          .hasMessageContaining("-3")
          .hasMessageContaining("expected a finite number of 0 or more");
    }
  }

  @ParameterizedTest
  @EnumSource
  void aNumberThatIsNoClassIsRefusedByFileAndRow(Format format) {
    ReadPolicy classes = ReadPolicy.STRICT.withLabel("w", ReadPolicy.Labels.classes(4));
    Path good = file(format, 0, 3, 1, 2);
    try (DataReader reader = format.reader(good, classes)) {
      assertThat(weights(reader)).hasSize(4);
    }
    for (float wrong : new float[] {4, -1, 1.5f}) {
      Path file = file(format, 0, 3, wrong, 1);
      try (DataReader reader = format.reader(file, classes)) {
        assertThatThrownBy(() -> weights(reader))
            .isInstanceOf(DataException.class)
            .hasMessageContaining(file.toString())
            .hasMessageContaining(format == Format.CSV ? "line 4" : "3")
            .hasMessageContaining("got label ")
            .hasMessageContaining("expected a whole number from 0 to 3");
      }
    }
  }

  @Test
  void numbersOfClassesGoWithClassesAlone() {
    assertThatThrownBy(() -> ReadPolicy.Labels.classes(0)).hasMessageContaining("got 0 classes");
    assertThatThrownBy(() -> new ReadPolicy.Labels(ReadPolicy.Labels.Kind.BINARY, 2))
        .hasMessageContaining("got 2 classes of the kind BINARY");
  }

  @ParameterizedTest
  @EnumSource
  void aRowWhoseWeightIsNoneMayBeLeftOut(Format format) {
    Path file = file(format, 1, 2, -3, 4);
    SkippedRecords skipped = new SkippedRecords(5);
    try (DataReader reader =
        Readers.weighted(format.reader(file, POLICY.withFaults(skipped)), "w")) {
      assertThat(weights(reader)).containsExactly(1f, 2f, 4f);
      assertThat(skipped.count()).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @EnumSource
  void rowsToBeScoredNeedNoWeight(Format format) {
    Path file = file(format, 1, -2, 1);
    try (DataReader reader = format.reader(file, POLICY.withoutLabels())) {
      assertThat(reader.schema().labels()).isEmpty();
      assertThat(weights(reader)).containsExactly(1f, 1f, 1f);
    }
  }

  private DataReader csv(String text, ReadPolicy policy, Set<String> positive) throws IOException {
    Path file = Files.writeString(folder.resolve("in.csv"), text);
    Columns columns =
        new Columns(List.of("y", "w"), positive, List.of("x"), List.of(), Set.of("NA"));
    return CsvReader.open(List.of(file), CsvOptions.csv(), columns, policy);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "''|got no weight, expected one",
        "NA|got \"NA\", which says that the weight is missing, expected a weight",
        "nan|got weight \"nan\", expected a finite number of 0 or more",
        "inf|got weight \"inf\", expected a finite number of 0 or more",
        "-0.5|got weight \"-0.5\", expected a finite number of 0 or more",
        "1e39|got weight \"1e39\", expected a finite number of 0 or more",
        "heavy|got weight \"heavy\", expected a finite number of 0 or more",
      })
  void aWeightThatIsNoNumberIsRefusedByFileAndRow(String weight, String message)
      throws IOException {
    try (DataReader reader = csv("y,w,x\n1,1,2\n0," + weight + ",2\n", POLICY, Set.of())) {
      assertThatThrownBy(() -> weights(reader))
          .isInstanceOf(DataException.class)
          .hasMessageContaining("in.csv")
          .hasMessageContaining("line 3")
          .hasMessageContaining("column w")
          .hasMessageContaining(message);
    }
  }

  private static List<Float> labels(DataReader reader) {
    List<Float> labels = new ArrayList<>();
    for (Optional<Batch> next = reader.next(); next.isPresent(); next = reader.next()) {
      try (Batch batch = next.get()) {
        for (int row = 0; row < batch.size(); row++) {
          labels.add(batch.labels()[2 * row + 1]);
        }
      }
    }
    return labels;
  }

  private static ReadPolicy with(ReadPolicy.Labels labels) {
    return ReadPolicy.STRICT.withLabel("w", labels);
  }

  @ParameterizedTest
  @EnumSource
  void aLabelThatRowsMayLackIsNoNumberWhereItIsMissing(Format format) {
    Path file = file(format, 1, -1, 0, Float.NaN, 1);
    ReadPolicy policy = with(ReadPolicy.Labels.BINARY.optionally(-1));
    for (ReadPolicy each :
        List.of(policy, policy.withThreads(2), policy.withFaults(new SkippedRecords(5)))) {
      try (DataReader reader = format.reader(file, each)) {
        assertThat(labels(reader)).containsExactly(1f, Float.NaN, 0f, Float.NaN, 1f);
      }
    }
    SkippedRecords skipped = new SkippedRecords(5);
    Path damaged = file(format, 1, -1, 7, -1, 0);
    try (DataReader reader = format.reader(damaged, policy.withFaults(skipped))) {
      assertThat(labels(reader)).containsExactly(1f, Float.NaN, Float.NaN, 0f);
      assertThat(skipped.count()).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @EnumSource
  void whatIsNeitherALabelNorMissingIsRefusedByFileAndRow(Format format) {
    Path file = file(format, 1, Float.NaN, -1);
    try (DataReader reader = format.reader(file, with(ReadPolicy.Labels.BINARY.optionally()))) {
      assertThatThrownBy(() -> labels(reader))
          .isInstanceOf(DataException.class)
          .hasMessageContaining(file.toString())
          .hasMessageContaining(format == Format.CSV ? "line 4" : "3")
          .hasMessageContaining("got label ")
          .hasMessageContaining("-1");
    }
    Path none = file(format, 1, Float.NaN, 0);
    try (DataReader reader = format.reader(none, ReadPolicy.STRICT)) {
      assertThatThrownBy(() -> labels(reader))
          .isInstanceOf(DataException.class)
          .hasMessageContaining(format == Format.CSV ? "line 3" : "2");
    }
    Path finite = file(format, 1, Float.NaN, -1);
    try (DataReader reader = format.reader(finite, with(ReadPolicy.Labels.FINITE.optionally()))) {
      assertThat(labels(reader)).containsExactly(1f, Float.NaN, -1f);
    }
    try (DataReader reader =
        format.reader(finite, with(ReadPolicy.Labels.classes(3).optionally(-1)))) {
      assertThat(labels(reader)).containsExactly(1f, Float.NaN, Float.NaN);
    }
  }

  @Test
  void anEmptyFieldOfCsvAndTextsThatSaySoAreMissingLabels() throws IOException {
    String rows = "y,w,x\n1,1,2\n0,,2\n0,\"\",2\n1,NA,2\n1,-1,2\n1,-1.0,2\n0,0,2\n";
    ReadPolicy policy = with(ReadPolicy.Labels.BINARY.optionally(-1));
    Float[] expected = {1f, Float.NaN, Float.NaN, Float.NaN, Float.NaN, Float.NaN, 0f};
    for (Set<String> positive : List.of(Set.<String>of(), Set.of("1"))) {
      try (DataReader reader = csv(rows, policy, positive)) {
        assertThat(labels(reader)).containsExactly(expected);
      }
    }
    try (DataReader reader = csv(rows, ReadPolicy.STRICT, Set.of())) {
      assertThatThrownBy(() -> labels(reader)).hasMessageContaining("got no label, expected one");
    }
    try (DataReader reader = csv("y,w,x\n1,yes,2\n0,no,2\n0,,2\n", policy, Set.of("yes"))) {
      assertThat(labels(reader)).containsExactly(1f, 0f, Float.NaN);
    }
  }

  @ParameterizedTest
  @CsvSource({"w=-1", "w=NA", "w=__HIVE_DEFAULT_PARTITION__"})
  void aFolderMaySayThatItsRowsLackALabel(String name) throws IOException {
    Path day = Files.createDirectories(folder.resolve(name));
    Path file = Files.writeString(day.resolve("in.csv"), "y,x\n1,2\n0,3\n");
    Columns columns =
        new Columns(List.of("y", "w"), Set.of(), List.of("x"), List.of(), Set.of("NA"));
    ReadPolicy policy = with(ReadPolicy.Labels.BINARY.optionally(-1));
    try (DataReader reader = CsvReader.open(List.of(file), CsvOptions.csv(), columns, policy)) {
      assertThat(labels(reader)).containsExactly(Float.NaN, Float.NaN);
    }
  }

  @Test
  void onlyLabelsMayBeMissing() {
    assertThatThrownBy(ReadPolicy.Labels.WEIGHT::optionally)
        .hasMessageContaining("got weight of the kind WEIGHT that rows may lack");
    assertThatThrownBy(ReadPolicy.Labels.NONE::optionally).hasMessageContaining("NONE");
    assertThatThrownBy(() -> new ReadPolicy.Labels(ReadPolicy.Labels.Kind.BINARY, 0, false, -1))
        .hasMessageContaining("or -1.0 for those");
  }

  @Test
  void textsOfPositiveLabelsAreNoneOfWeights() throws IOException {
    try (DataReader reader =
        Readers.weighted(csv("y,w,x\nyes,2,1\n3,3,1\n", POLICY, Set.of("yes", "3")), "w")) {
      assertThat(weights(reader)).containsExactly(2f, 3f);
    }
  }

  @Test
  void aColumnOfWeightsInTheFolderNamesHoldsForTheFile() throws IOException {
    Path day = Files.createDirectories(folder.resolve("w=4"));
    Path file = Files.writeString(day.resolve("in.csv"), "y,x\n1,2\n0,3\n");
    Columns columns = new Columns(List.of("y", "w"), Set.of(), List.of("x"), List.of());
    try (DataReader reader =
        Readers.weighted(CsvReader.open(List.of(file), CsvOptions.csv(), columns, POLICY), "w")) {
      assertThat(weights(reader)).containsExactly(4f, 4f);
    }
  }

  @ParameterizedTest
  @CsvSource({"SHARE,0.25,1.5,0 to 1", "COUNT,17,-1,0 or more", "FINITE,-3.5,nan,a finite number"})
  void aLabelMayBeMoreThanZeroOrOne(
      ReadPolicy.Labels.Kind kind, float good, String bad, String expected) throws IOException {
    ReadPolicy policy = ReadPolicy.STRICT.withLabel("w", new ReadPolicy.Labels(kind, 0));
    String head = "y,w,x\n1," + good + ",2\n";
    try (DataReader reader = csv(head, policy, Set.of("1"));
        Batch batch = reader.next().orElseThrow()) {
      assertThat(batch.labels()[1]).isEqualTo(good);
    }
    try (DataReader reader = csv(head + "1," + bad + ",2\n", policy, Set.of("1"))) {
      assertThatThrownBy(() -> weights(reader))
          .hasMessageContaining("line 3")
          .hasMessageContaining("got label \"" + bad)
          .hasMessageContaining(expected);
    }
  }
}
