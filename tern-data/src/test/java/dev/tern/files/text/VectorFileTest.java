package dev.tern.files.text;

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
import dev.tern.model.ModelConfig;
import dev.tern.model.Network;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import java.io.ByteArrayOutputStream;
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
import java.util.Random;
import java.util.TreeMap;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Vectors of files that tables begin with. */
final class VectorFileTest {
  private static final List<String> CITIES = List.of("Oslo", "Bergen", "#", "New York", ",");

  @TempDir Path folder;

  /** An encoder of one column, whose vocabulary has cities, or of integers 1 to 5. */
  private static FeatureEncoder encoder(IdEncoding encoding) {
    Schema schema = new Schema(List.of("y"), List.of(), List.of(Slot.oneHot("city")));
    Batch rows = new Batch(schema, 10);
    for (int i = 0; i < CITIES.size(); i++) {
      rows.addId(0, encoding.text() ? TextHash.of(CITIES.get(i)) : i + 1);
      rows.setLabel(0, i % 2);
      rows.endRow();
    }
    return FeatureEncoder.fit(
        Readers.inMemory(rows),
        List.of(),
        List.of(encoding),
        Map.of(),
        TextDictionary.none(),
        read -> {});
  }

  private static final FeatureEncoder TEXTS = encoder(IdEncoding.vocabulary());

  private Path file(byte[] bytes) {
    try {
      return Files.write(folder.resolve("vectors.txt"), bytes);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private Path file(String text) {
    return file(text.getBytes(StandardCharsets.UTF_8));
  }

  /** The weights of the rows of a table by id, and what became of the vectors. */
  private record Begun(Map<Long, List<Float>> rows, VectorFile.Result result) {
    List<Float> of(FeatureEncoder encoder, String value) {
      return rows.get(ValueIds.of(encoder, "city").id(value).orElseThrow());
    }
  }

  private static Begun begun(Path file, FeatureEncoder encoder, ModelConfig model) {
    TableOptions options = TableOptions.of(Optimizer.adam(0.1f));
    try (Device device = Device.cpu(1, 1L << 27);
        Network network = Network.create(device, encoder.schema(), model, options, 1)) {
      VectorFile.Result result = VectorFile.begin(file, encoder, network, "city");
      return new Begun(rows(network.tables().tables().getFirst()), result);
    }
  }

  private static Begun begun(Path file) {
    return begun(file, TEXTS, ModelConfig.of(ModelConfig.Type.DCN, 3, 4));
  }

  private static Map<Long, List<Float>> rows(EmbeddingTable table) {
    Map<Long, List<Float>> rows = new TreeMap<>();
    int floats = table.config().rowFloats();
    table.exportTo((ids, values, count) -> {
      for (int i = 0; i < count; i++) {
        List<Float> row = new ArrayList<>();
        for (int j = 0; j < floats; j++) {
          row.add(values.getAtIndex(ValueLayout.JAVA_FLOAT, (long) i * floats + j));
        }
        assertThat(row.subList(table.config().width(), floats)).containsOnly(0f);
        rows.put(ids[i], row.subList(0, table.config().width()));
      }
    });
    return rows;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Oslo\t0.5\t-1.25\t2e-3\nNew York\t1\t2\t3\n#\t4\t5\t6\nParis\t7\t8\t9\n",
        "Oslo\t0.5 -1.25 2e-3\nNew York\t1 2 3\n#\t4 5 6\nParis\t7 8 9",
        "Oslo\t0.5,-1.25, 2e-3\r\nNew York\t1,2,3\r\n#\t4,5,6\r\nParis\t7,8,9\r\n\r\n",
        "4 3\nOslo\t0.5 -1.25 2e-3\nNew York\t1 2 3\n#\t4 5 6\nParis\t7 8 9\n\n\n",
        "Oslo,0.5,-1.25,2e-3\nNew York,1,2,3\n#,4,5,6\nParis,7,8,9\n",
        "Oslo, 0.5, -1.25, 2e-3\nNew York, 1, 2, 3\n#, 4, 5, 6\nParis, 7, 8, 9\n",
        "\uFEFFOslo\t 0.5\t-1.25 2e-3 \nNew York\t1\t2\t3\t\n#\t4\t5\t6\nParis\t7 8 9",
      })
  void everyNotationGivesTheSameRows(String text) {
    Begun begun = begun(file(text));
    assertThat(begun.rows).hasSize(3);
    assertThat(begun.of(TEXTS, "Oslo")).containsExactly(0.5f, -1.25f, 2e-3f);
    assertThat(begun.of(TEXTS, "New York")).containsExactly(1f, 2f, 3f);
    assertThat(begun.of(TEXTS, "#")).containsExactly(4f, 5f, 6f);
    assertThat(begun.result).isEqualTo(new VectorFile.Result(3, 1, 0, OptionalLong.of(2)));
  }

  @Test
  void filesOfWord2VecAndGloVeMayBeginWithAComma() throws IOException {
    String text = ", 1 2 3\nOslo 4 5 6 \n";
    for (String header : List.of("", "2 3\n", "2\t3\n")) {
      Begun begun = begun(file(header + text));
      assertThat(begun.of(TEXTS, ",")).containsExactly(1f, 2f, 3f);
      assertThat(begun.of(TEXTS, "Oslo")).containsExactly(4f, 5f, 6f);
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(bytes)) {
      gzip.write(text.getBytes(StandardCharsets.UTF_8));
    }
    assertThat(begun(file(bytes.toByteArray())).rows).hasSize(2);
  }

  @Test
  void vectorsAreTheLastPartOfRowsOrWholeRows() {
    ModelConfig.Type[] types = {ModelConfig.Type.DEEPFM, ModelConfig.Type.FM, ModelConfig.Type.WDL};
    for (ModelConfig.Type type : types) {
      ModelConfig model = ModelConfig.of(type, 3, 4);
      List<Float> narrow = begun(file("Oslo\t5 6 7\n"), TEXTS, model).of(TEXTS, "Oslo");
      assertThat(narrow.subList(1, 4)).containsExactly(5f, 6f, 7f);
      assertThat(narrow.getFirst()).isNotZero().isBetween(-0.0173f, 0.0173f);
      assertThat(begun(file("Oslo\t4 5 6 7\n"), TEXTS, model).of(TEXTS, "Oslo"))
          .containsExactly(4f, 5f, 6f, 7f);
    }
    ModelConfig linear = ModelConfig.of(ModelConfig.Type.LR, 3, 4);
    assertThat(begun(file("Oslo\t4\nBergen\t3"), TEXTS, linear).of(TEXTS, "Oslo"))
        .containsExactly(4f);
    FeatureEncoder numbers = encoder(new IdEncoding.Vocabulary(false, 1, 100));
    assertThat(begun(file("5 2\n1 3"), numbers, linear).rows).hasSize(2);
  }

  @Test
  void idsAreThoseOfTheColumnsEncoder() {
    ModelConfig model = ModelConfig.of(ModelConfig.Type.DCN, 1, 4);
    FeatureEncoder integers = encoder(IdEncoding.verbatim());
    assertThat(begun(file("7\t1\n-3\t2\n18446744073709551615\t3\n"), integers, model).rows)
        .isEqualTo(Map.of(7L, List.of(1f), -3L, List.of(2f), -1L, List.of(3f)));
    FeatureEncoder buckets = encoder(IdEncoding.hashed(2));
    Begun shared = begun(file("a\t1\nb\t2\nc\t3\nd\t4\ne\t5\nf\t6\ng\t7\n"), buckets, model);
    assertThat(shared.rows).hasSize(2);
    assertThat(shared.result).isEqualTo(new VectorFile.Result(2, 0, 5, OptionalLong.empty()));
    assertThat(shared.of(buckets, "a")).containsExactly(1f);
    FeatureEncoder hashes = encoder(new IdEncoding.Verbatim(true));
    assertThat(begun(file("Rome\t1\n"), hashes, model).rows)
        .isEqualTo(Map.of(TextHash.of("Rome"), List.of(1f)));
    assertThatThrownBy(() -> begun(file("1\t1\nRome\t1\n"), integers, model))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("line 2, byte 4: got \"Rome\" as a value, expected an integer");
    assertThatThrownBy(() -> begun(file("7\t1\n07\t1\n"), integers, model))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("line 2, byte 4: got \"07\" as the value, which another one has");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "``|got no line, expected a value and its vector",
        "`\\n\\n`|got no line, expected a value and its vector",
        "`Oslo\\t1 2\\n`|line 1, byte 0: got 2 numbers for \"Oslo\", expected 3 as rows of the"
            + " table have",
        "`Oslo\\t1 2 3 4\\n`|line 1, byte 0: got 4 numbers for \"Oslo\", expected 3 as rows",
        "`Oslo\\n`|line 1, byte 0: got 0 numbers for \"Oslo\", expected 3",
        "`Oslo\\t1 2 3\\nBergen\\t1 2\\n`|line 2, byte 11: got 2 numbers for \"Bergen\", expected 3"
            + " as in the first line",
        "`Oslo\\t1 2 3\\nBergen\\t1 2 3 4\\n`|line 2, byte 11: got 4 numbers for \"Bergen\"",
        "`Oslo\\t1 2 3\\nBergen\\t1 2 x\\n`|line 2, byte 22: got \"x\", expected a number",
        "`Oslo\\t1 NaN 3\\n`|line 1, byte 7: got \"NaN\", expected a finite number",
        "`Oslo\\t1 2 -inf\\n`|line 1, byte 9: got \"-inf\", expected a finite number",
        "`Oslo\\t1 2 1e39\\n`|line 1, byte 9: got \"1e39\", expected a finite number",
        "`Oslo\\t1 2 3\\nOslo\\t1 2 3\\n`|line 2, byte 11: got \"Oslo\" a second time",
        "`Paris\\t1 2 3\\nParis\\t1 2 3\\n`|line 2, byte 12: got \"Paris\" a second time",
        "`Paris\\t1 2 3\\n`|got 1 vectors and none of a value of column city",
        "`Oslo\\t1 2 3\\n\\nBergen\\t1 2 3\\n`|line 2, byte 11: got an empty line and another"
            + " behind it",
        "`Oslo\\t1 2 3\\n\\t1 2 3\\n`|line 2, byte 11: got no value",
        "`Oslo,1,,3\\n`|got \",\", expected a number",
        "`Oslo,1,2,3,\\n`|line 1, byte 10: got a comma and no number behind it",
        "`2 5\\nOslo 1 2 3\\n`|line 1, byte 2: got vectors of 5 numbers by the header, expected 3",
        "`2 3\\nOslo 1 2 3\\n`|got 1 vectors, expected 2 as its first line says",
        "`1 3\\nOslo 1 2 3\\nBergen 1 2 3\\n`|got 2 vectors, expected 1 as its first line says",
        "`2 3\\n`|got a header and no vector, expected 2",
      })
  void whatIsNoVectorIsRefusedByLineAndByte(String text, String message) {
    Path file = file(text.replace("\\n", "\n").replace("\\t", "\t"));
    assertThatThrownBy(() -> begun(file))
        .isInstanceOf(DataException.class)
        .hasMessageStartingWith(file.toString())
        .hasMessageContaining(message);
  }

  @Test
  void bytesThatAreNoTextAreRefused() {
    byte[] text = "Oslo\t1 2 3\nB?\t1 2 3\n".getBytes(StandardCharsets.UTF_8);
    text[12] = (byte) 0xE9;
    assertThatThrownBy(() -> begun(file(text)))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("line 2, byte 11: got \"B\\xE9\", expected text in UTF-8");
    byte[] binary = Arrays.copyOf("2 3\nOslo ".getBytes(StandardCharsets.UTF_8), 60);
    assertThatThrownBy(() -> begun(file(binary)))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("vectors.txt");
    byte[] parquet = Arrays.copyOf("PAR1".getBytes(StandardCharsets.UTF_8), 60);
    assertThatThrownBy(() -> begun(file(parquet)))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("got a Parquet file without its end");
    byte[] avro = Arrays.copyOf("Obj\u0001".getBytes(StandardCharsets.UTF_8), 60);
    assertThatThrownBy(() -> begun(file(avro)))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("vectors.txt");
    assertThatThrownBy(() -> begun(folder.resolve("none.txt"))).hasMessageContaining("none.txt");
  }

  /** Any damage is an error that names the file, or leaves finite rows. */
  @Test
  void damagedFilesAreErrorsOrFiniteVectors() {
    byte[] whole =
        "5 3\nOslo 1 2 3\nBergen 4 5 6\n# 7 8 9\n, 1 1 1\nRome -1e2 0.5 3\n"
            .getBytes(StandardCharsets.UTF_8);
    Random random = new Random(1);
    int refused = 0;
    for (int i = 0; i < 400; i++) {
      byte[] damaged = whole.clone();
      for (int k = random.nextInt(3); k >= 0; k--) {
        damaged[random.nextInt(damaged.length)] = (byte) random.nextInt(256);
      }
      damaged = Arrays.copyOf(damaged, random.nextInt(4) == 0 ? random.nextInt(60) : whole.length);
      try {
        Begun begun = begun(file(damaged));
        assertThat(begun.rows.values()).allSatisfy(row -> assertThat(row).hasSize(3));
      } catch (DataException e) {
        assertThat(e).hasMessageContaining("vectors.txt");
        refused++;
      }
    }
    assertThat(refused).isGreaterThan(100);
  }

  @Test
  void aTableThatHasRowsIsRefused() {
    Path file = file("Oslo\t1 2 3\n");
    TableOptions options = TableOptions.of(Optimizer.sgd(1));
    ModelConfig model = ModelConfig.of(ModelConfig.Type.DCN, 3, 4);
    try (Device device = Device.cpu(1, 1L << 24);
        Network network = Network.create(device, TEXTS.schema(), model, options, 1)) {
      VectorFile.begin(file, TEXTS, network, "city");
      assertThatThrownBy(() -> VectorFile.begin(file, TEXTS, network, "city"))
          .isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> VectorFile.begin(file, TEXTS, network, "town"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got the column town");
    }
  }

  @Test
  void linesLongerThanTheBufferAndManyVectorsAreRead() {
    int width = 4000;
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 300; i++) {
      text.append(i);
      for (int j = 0; j < width; j++) {
        text.append('\t').append(i + j / 8f);
      }
      text.append('\n');
    }
    FeatureEncoder integers = encoder(IdEncoding.verbatim());
    ModelConfig model = ModelConfig.of(ModelConfig.Type.DCN, width, 4).withCrossLayers(1);
    Begun begun = begun(file(text.toString()), integers, model);
    assertThat(begun.rows).hasSize(300);
    assertThat(begun.rows.get(299L).get(width - 1)).isEqualTo(299 + (width - 1) / 8f);
  }
}
