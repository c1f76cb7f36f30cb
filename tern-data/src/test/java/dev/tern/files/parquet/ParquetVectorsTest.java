package dev.tern.files.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.encode.TextHash;
import dev.tern.data.encode.ValueIds;
import dev.tern.data.readers.Readers;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.config.TableOptions;
import dev.tern.files.text.VectorFile;
import dev.tern.model.ModelConfig;
import dev.tern.model.Network;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.apache.parquet.example.data.Group;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Parquet files of vectors that tables begin with. */
final class ParquetVectorsTest {
  private static final List<String> CITIES = List.of("Oslo", "Bergen", "New York");
  private static final String LIST =
      "optional group v (LIST) { repeated group list { optional float element; } }";

  @TempDir Path folder;

  private static FeatureEncoder encoder(IdEncoding encoding) {
    Schema schema = new Schema(List.of("y"), List.of(), List.of(Slot.oneHot("city")));
    Batch rows = new Batch(schema, 10);
    for (int i = 0; i < CITIES.size(); i++) {
      rows.addId(0, encoding.text() ? TextHash.of(CITIES.get(i)) : i + 1);
      rows.setLabel(0, i % 2);
      rows.endRow();
    }
    return FeatureEncoder.fit(
        Readers.inMemory(rows), List.of(), List.of(encoding), TextDictionary.none(), read -> {});
  }

  private static final FeatureEncoder TEXTS = encoder(IdEncoding.vocabulary());

  /** The weights of the rows of a table by id, and what became of the vectors. */
  private record Begun(Map<Long, List<Float>> rows, VectorFile.Result result) {
    List<Float> of(FeatureEncoder encoder, String value) {
      return rows.get(ValueIds.of(encoder, "city").id(value).orElseThrow());
    }
  }

  private static Begun begun(Path file, FeatureEncoder encoder, ModelConfig.Type type) {
    TableOptions options = TableOptions.of(Optimizer.sgd(0.1f));
    try (Device device = Device.cpu(1, 1L << 27);
        Network network =
            Network.create(device, encoder.schema(), ModelConfig.of(type, 2, 4), options, 1)) {
      VectorFile.Result result = VectorFile.begin(file, encoder, network, "city");
      return new Begun(rows(network.tables().tables().getFirst()), result);
    }
  }

  private static Map<Long, List<Float>> rows(EmbeddingTable table) {
    Map<Long, List<Float>> rows = new TreeMap<>();
    int floats = table.config().rowFloats();
    table.exportTo((ids, values, count) -> {
      for (int i = 0; i < count; i++) {
        List<Float> row = new ArrayList<>();
        for (int j = 0; j < table.config().width(); j++) {
          row.add(values.getAtIndex(ValueLayout.JAVA_FLOAT, (long) i * floats + j));
        }
        rows.put(ids[i], row);
      }
    });
    return rows;
  }

  private static Begun begun(Path file) {
    return begun(file, TEXTS, ModelConfig.Type.DCN);
  }

  private static void addVector(Group row, Number... numbers) {
    Group list = row.addGroup("v");
    for (Number number : numbers) {
      Group element = list.addGroup("list");
      switch (number) {
        case null -> {}
        case Double value -> element.append("element", value);
        default -> element.append("element", number.floatValue());
      }
    }
  }

  /** A file of these values, each with the vector 0.5, 1.5, 2.5 ... and the same below 0. */
  private Path lists(String fields, String column, String... values) throws IOException {
    Path file = folder.resolve("v.parquet");
    Files.deleteIfExists(file);
    return ParquetForge.write(
        file,
        fields,
        values.length,
        (row, i) -> {
          row.append(column, values[i]);
          addVector(row, i + 0.5f, -i - 0.5f);
        });
  }

  @Test
  void aListHasTheNumbersOfAVector() throws IOException {
    Path file =
        lists("required binary value (STRING); " + LIST, "value", "Oslo", "Paris", "Bergen");
    Begun begun = begun(file);
    assertThat(begun.result).isEqualTo(new VectorFile.Result(2, 1, 0, OptionalLong.of(1)));
    assertThat(begun.rows).hasSize(2);
    assertThat(begun.of(TEXTS, "Oslo")).containsExactly(0.5f, -0.5f);
    assertThat(begun.of(TEXTS, "Bergen")).containsExactly(2.5f, -2.5f);
    Path other = Files.copy(file, folder.resolve("vectors"));
    assertThat(begun(other).rows).as("found by its first bytes").isEqualTo(begun.rows);
  }

  @Test
  void valuesAreInTheColumnOfTheTablesNameWhereverItStands() throws IOException {
    Path file = lists(LIST + " required binary city (STRING);", "city", "New York", "Oslo");
    Begun begun = begun(file);
    assertThat(begun.of(TEXTS, "New York")).containsExactly(0.5f, -0.5f);
    assertThat(begun.of(TEXTS, "Oslo")).containsExactly(1.5f, -1.5f);
  }

  @Test
  void columnsOfNumbersStandSideBySide() throws IOException {
    FeatureEncoder integers = encoder(IdEncoding.verbatim());
    Path file =
        ParquetForge.write(
            folder.resolve("v.parquet"),
            "required int64 id; required float a; required double b; required int32 c;",
            3000,
            (row, i) ->
                row.append("id", i - 7L).append("a", 0.5f * i).append("b", 2.0).append("c", i));
    Begun begun = begun(file, integers, ModelConfig.Type.FM);
    assertThat(begun.rows).hasSize(3000);
    assertThat(begun.rows.get(-7L)).as("a whole row").containsExactly(0f, 2f, 0f);
    assertThat(begun.rows.get(2992L)).containsExactly(1499.5f, 2f, 2999f);
    Path two =
        ParquetForge.write(
            folder.resolve("two.parquet"),
            "required int64 id; required float a; required double b;",
            2,
            (row, i) -> row.append("id", (long) i).append("a", 0.5f).append("b", 2.0));
    assertThat(begun(two, integers, ModelConfig.Type.FM).rows.get(1L).subList(1, 3))
        .as("behind the linear weight")
        .containsExactly(0.5f, 2f);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "required binary value (STRING);|got the columns [value], expected one of values",
        "required binary value (STRING); required float a;|got 1 numbers of the columns",
        "required binary value (STRING); required binary a (STRING);|column a: got",
      })
  void filesWithoutSuchVectorsAreRefused(String fields, String message) throws IOException {
    Path file =
        ParquetForge.write(
            folder.resolve("v.parquet"),
            fields,
            1,
            (row, i) -> {
              row.append("value", "Oslo");
              if (fields.contains("float a")) {
                row.append("a", 1f);
              } else if (fields.contains(" a ")) {
                row.append("a", "x");
              }
            });
    requireRefused(file, message);
  }

  private static void requireRefused(Path file, String... messages) {
    assertThatThrownBy(() -> begun(file))
        .isInstanceOf(DataException.class)
        .hasMessageContainingAll(messages)
        .hasMessageContaining(file.toString());
  }

  @Test
  void rowsWithoutAVectorOrAValueAreRefusedByTheirNumber() throws IOException {
    String fields = "optional binary value (STRING); " + LIST;
    Path file = folder.resolve("v.parquet");
    Number[][] vectors = {
      {1f, 2f}, {1f, null}, {1f, Float.NaN}, {1f}, {}, {1f, Float.NEGATIVE_INFINITY}
    };
    for (int bad = 1; bad < vectors.length; bad++) {
      Number[] vector = vectors[bad];
      Files.deleteIfExists(file);
      ParquetForge.write(
          file,
          fields,
          2,
          (row, i) -> {
            row.append("value", CITIES.get(i));
            addVector(row, i == 0 ? vectors[0] : vector);
          });
      requireRefused(file, "row 2");
    }
    Files.deleteIfExists(file);
    ParquetForge.write(
        file,
        fields,
        2,
        (row, i) -> {
          if (i == 0) {
            row.append("value", "Oslo");
          }
          addVector(row, 1f, 2f);
        });
    requireRefused(file, "row 2: got no value, expected one in column value");
  }

  @Test
  void valuesThatComeTwiceOrAreNoIdsAreRefused() throws IOException {
    requireRefused(
        lists("required binary value (STRING); " + LIST, "value", "Oslo", "Bergen", "Oslo"),
        "row 3: got \"Oslo\" a second time");
    Path words = lists("required binary value (STRING); " + LIST, "value", "7", "x");
    assertThatThrownBy(() -> begun(words, encoder(IdEncoding.verbatim()), ModelConfig.Type.DCN))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("row 2: got \"x\" as a value, expected an integer of 64 bits");
    requireRefused(
        lists("required binary value (STRING); " + LIST, "value", "Rome", "Lima"),
        "got 2 vectors and none of a value of column city");
    requireRefused(lists("required binary value (STRING); " + LIST, "value"), "v.parquet");
  }

  @Test
  void truncatedAndDamagedFilesAreRefused() throws IOException {
    byte[] whole =
        Files.readAllBytes(
            lists("required binary value (STRING); " + LIST, "value", "Oslo", "Bergen"));
    Path file = folder.resolve("cut.parquet");
    for (int length = 0; length < whole.length; length += 11) {
      Files.write(file, Arrays.copyOf(whole, length));
      assertThatThrownBy(() -> begun(file))
          .as("%d of %d bytes", length, whole.length)
          .isInstanceOf(DataException.class)
          .hasMessageContaining("cut.parquet");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"Oslo 1 2\n", "PAR1", ""})
  void textUnderTheNameOfParquetIsRefused(String text) throws IOException {
    Path file = folder.resolve("text.parquet");
    Files.write(file, text.getBytes(StandardCharsets.UTF_8));
    requireRefused(file, "text.parquet");
  }
}
