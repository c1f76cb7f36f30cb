package dev.tern.checkpoint.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.NumberEncoding;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.encode.TextHash;
import dev.tern.data.readers.Readers;
import dev.tern.model.ModelConfig;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows of tables as text that says which value each belongs to. */
final class RowValuesTest {
  private static final List<String> CITIES = List.of("Oslo", "a\tb\\n", "line\r\n\\", "München");

  @TempDir private static Path shared;
  private static Checkpoint checkpoint;

  @TempDir Path folder;

  /** Tables: city (texts), user (integers), tag (verbatim texts), bin (hashed), age (buckets). */
  @BeforeAll
  static void train() {
    Schema schema =
        new Schema(
            List.of("y"),
            List.of("age"),
            List.of(
                Slot.oneHot("city"), Slot.oneHot("user"), Slot.oneHot("tag"), Slot.oneHot("bin")));
    Batch rows = new Batch(schema, 400);
    TextDictionary texts = new TextDictionary();
    for (int i = 0; i < 400; i++) {
      byte[] city = CITIES.get(i % 4).getBytes(StandardCharsets.UTF_8);
      long hash = TextHash.of(city, 0, city.length);
      texts.saw(hash, city, 0, city.length);
      rows.addId(0, i % 9 == 0 ? TextHash.EMPTY : hash);
      rows.addId(1, -7L * (i % 5));
      rows.addId(2, hash);
      rows.addId(3, i % 6);
      rows.setDense(0, i % 20);
      rows.setLabel(0, i % 2);
      rows.endRow();
    }
    FeatureEncoder encoder =
        FeatureEncoder.fit(
            Readers.inMemory(rows),
            List.of(NumberEncoding.quantiles(4)),
            List.of(
                new IdEncoding.Vocabulary(true, 1, 100),
                new IdEncoding.Vocabulary(false, 1, 100),
                new IdEncoding.Verbatim(true),
                new IdEncoding.Hashed(false, 5)),
            texts,
            read -> {});
    TrainOptions options = TrainOptions.of(Optimizer.adam(0.01f)).batch(50);
    ModelConfig model = ModelConfig.of(ModelConfig.Type.FM, 2, 1);
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer trainer = Trainer.create(device, encoder, model, options)) {
      trainer.fit(Readers.inMemory(rows));
      trainer.save(shared.resolve("saved"));
    }
    checkpoint = Checkpoint.open(shared.resolve("saved"));
  }

  private List<String> exported(int table) throws IOException {
    Path file = folder.resolve("export-" + table);
    Files.deleteIfExists(file);
    TableExport.writeValues(checkpoint, table, file);
    return Files.readAllLines(file);
  }

  @Test
  void eachRowHasTheValueOfTheData() throws IOException {
    List<String> cities = exported(0);
    assertThat(cities).hasSize(6).startsWith("id\tvalue\tweight\tv0\tv1");
    assertThat(cities.get(1)).startsWith("0\t\t"); // missing
    List<String> values = cities.stream().skip(2).map(line -> line.split("\t", -1)[1]).toList();
    assertThat(values).containsExactlyInAnyOrder("Oslo", "a\\tb\\\\n", "line\\r\\n\\\\", "München");
    assertThat(exported(1).stream().skip(1).map(line -> line.split("\t", -1)[1]))
        .containsExactlyInAnyOrder("0", "-7", "-14", "-21", "-28");
    for (int table = 2; table < 5; table++) {
      assertThat(exported(table)).hasSizeGreaterThan(2);
      assertThat(exported(table).stream().skip(1))
          .allMatch(line -> line.split("\t", -1)[1].isEmpty());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 4})
  void whatIsExportedIsImportedToTheSameRows(int table) throws IOException {
    Path file = folder.resolve("rows.tsv");
    long rows = TableExport.writeValues(checkpoint, table, file);
    Path target = folder.resolve("imported");
    assertThat(TableImport.write(checkpoint, table, TableFormat.TEXT, file, target))
        .isEqualTo(rows);
    Path again = folder.resolve("again.tsv");
    TableExport.writeValues(Checkpoint.open(target), table, again);
    assertThat(again).hasSameTextualContentAs(file);
  }

  private List<String> imported(int table, String text) throws IOException {
    Path file = Files.writeString(folder.resolve("in.tsv"), text);
    Path target = folder.resolve("imported");
    TableImport.write(checkpoint, table, TableFormat.TEXT, file, target);
    Path out = folder.resolve("out.tsv");
    TableExport.writeValues(Checkpoint.open(target), table, out);
    return Files.readAllLines(out);
  }

  @Test
  void columnsMayStandInAnyOrderAndTheValueAlone() throws IOException {
    List<String> lines =
        imported(0, "v1\tvalue\tv0\tweight\n3\ta\\tb\\\\n\t2\t-1\n0.5\tOslo\t4\t5\n");
    assertThat(lines).hasSize(3);
    assertThat(lines)
        .anyMatch(line -> line.endsWith("\ta\\tb\\\\n\t-1.0\t2.0\t3.0"))
        .anyMatch(line -> line.endsWith("\tOslo\t5.0\t4.0\t0.5"));
  }

  @Test
  void aTextThatOnlyItsHashIsKnownOfIsNamedByIt() throws IOException {
    byte[] oslo = "Oslo".getBytes(StandardCharsets.UTF_8);
    assertThat(imported(2, "value\tweight\tv0\tv1\nOslo\t1\t2\t3\n"))
        .contains(TextHash.of(oslo, 0, 4) + "\t\t1.0\t2.0\t3.0");
  }

  @Test
  void idsAreSignedOrUnsigned() throws IOException {
    assertThat(imported(2, "18446744073709551615\t1\t2\t3\n-2\t1\t2\t3\n"))
        .contains("-1\t\t1.0\t2.0\t3.0", "-2\t\t1.0\t2.0\t3.0");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "id;value;weight;v0           | | line 1: got no columns [v1]",
        "id;weight;v0;v1;v2           | | line 1: got the columns [v2] too",
        "value;weight;v0;v1           | Rom;1;2;3 | line 2: got the value Rom, which is not in the",
        "id;value;weight;v0;v1        | 0;Oslo;1;2;3 | line 2: got the id 0 of the value Oslo,"
            + " which has",
        "id;value;weight;v0;v1        | ;;1;2;3 | line 2: got",
        "value;weight;v0;v1           | ;1;2;3 | line 2: got neither an id nor a value",
        "value;weight;v0;v1           | a\\;1;2;3 | line 2: got a backslash before",
        "value;weight;v0;v1           | Oslo;1;2 | line 2: got 3 fields, expected 4",
        "value;weight;v0;v1           | Oslo;1;x;3 | line 2: got For input string: \"x\" among",
        "id;weight;v0;v1              | 1;NaN;2;3 | line 2: got NaN among the weights",
        "1;1;2;1e39                   | | line 1: got Infinity among the weights, expected numbers",
        "1;1;-Infinity;3              | | line 1: got -Infinity among the weights",
        "99999999999999999999;1;2;3   | | line 1: got",
        "id;id;weight;v0;v1           | | line 1: got the columns [id] too"
      })
  void linesThatAreWrongAreNamed(String first, String second, String message) {
    String text =
        first.replace(';', '\t') + "\n" + (second == null ? "" : second.replace(';', '\t') + "\n");
    assertThatThrownBy(() -> imported(0, text))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("in.tsv: " + message);
    assertThat(folder.resolve("imported")).doesNotExist();
  }

  @Test
  void escapedTextsComeBack() {
    List<String> texts = new ArrayList<>(CITIES);
    texts.addAll(List.of("", "\\", "\\\\t", "\t\t\n\r\\r"));
    for (String text : texts) {
      String escaped = RowValues.escaped(text);
      assertThat(escaped).doesNotContain("\t", "\n", "\r");
      assertThat(RowValues.unescaped(escaped)).isEqualTo(text);
    }
  }
}
