package dev.tern.hugectr;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Damaged and hostile files end in an error that says what is wrong and where. */
final class HugeCtrHostileTest {
  @TempDir private Path folder;
  private MadeModel model;

  @BeforeEach
  void make() {
    model = MadeModel.of(folder.resolve("made"), "wdl");
  }

  private void requireRefused(String... parts) {
    assertThatThrownBy(() -> HugeCtrImportTest.imported(model, folder.resolve("run")))
        .isInstanceOf(DataException.class)
        .message()
        .contains(parts);
    assertThat(folder.resolve("run")).doesNotExist();
  }

  private void write(String graph) throws IOException {
    Files.writeString(model.folder.resolve("graph.json"), graph);
  }

  private void replace(String from, String to) throws IOException {
    String text = model.graph.toString();
    assertThat(text).contains(from);
    write(text.replace(from, to));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 100, 1664, 2000})
  void aFileOfDenseWeightsThatIsCutOffNamesItsLayer(int bytes) throws IOException {
    byte[] whole = Files.readAllBytes(model.dense());
    Files.write(model.dense(), Arrays.copyOf(whole, bytes));
    requireRefused(
        "m_dense_1.model: got %d bytes, expected %d".formatted(bytes, whole.length),
        bytes < 24 * 16 * 4 ? "layers[7] fc1" : "from byte");
  }

  @Test
  void aFileOfDenseWeightsThatIsTooLongIsRefused() throws IOException {
    byte[] whole = Files.readAllBytes(model.dense());
    Files.write(model.dense(), Arrays.copyOf(whole, whole.length + 4));
    requireRefused("the last ends at byte " + whole.length);
  }

  @ParameterizedTest
  @ValueSource(floats = {Float.NaN, Float.NEGATIVE_INFINITY})
  void aWeightThatIsNoNumberIsRefusedByItsOffset(float bad) throws IOException {
    byte[] whole = Files.readAllBytes(model.dense());
    ByteBuffer.wrap(whole).order(ByteOrder.LITTLE_ENDIAN).putFloat(404, bad);
    Files.write(model.dense(), whole);
    requireRefused("m_dense_1.model: byte offset 404: got the weight " + bad, "layers[7] fc1");
  }

  @Test
  void aVectorThatIsNoNumberIsRefusedByItsOffset() throws IOException {
    Path vectors = model.sparse(1).resolve("emb_vector");
    byte[] whole = Files.readAllBytes(vectors);
    ByteBuffer.wrap(whole).order(ByteOrder.LITTLE_ENDIAN).putFloat(4 * 4 * 7 + 8, Float.NaN);
    Files.write(vectors, whole);
    requireRefused("emb_vector: byte offset 120: got the weight NaN");
  }

  @ParameterizedTest
  @CsvSource({"key, 7", "key, 16", "emb_vector, 12", "emb_vector, 0"})
  void anEmbeddingThatIsCutOffIsRefused(String name, int bytes) throws IOException {
    Path file = model.sparse(1).resolve(name);
    Files.write(file, Arrays.copyOf(Files.readAllBytes(file), bytes));
    requireRefused(
        "m1_sparse_1.model", bytes == 16 ? "expected 32 for 2 vectors" : bytes + " bytes");
  }

  @Test
  void aKeyThatIsThereTwiceIsRefused() throws IOException {
    Path keys = model.sparse(0).resolve("key");
    byte[] whole = Files.readAllBytes(keys);
    System.arraycopy(whole, 0, whole, 80, 8);
    Files.write(keys, whole);
    requireRefused("m0_sparse_1.model", "twice");
  }

  @Test
  void embeddingsInAnotherOrderAreRefusedByTheirSizes() {
    HugeCtrImport.Sources swapped =
        new HugeCtrImport.Sources(
            model.sources().graph(),
            model.dense(),
            Optional.empty(),
            model.sources().sparse().reversed());
    assertThatThrownBy(() ->
            HugeCtrImportTest.imported(
                swapped, HugeCtrImport.Options.DEFAULT, folder.resolve("run")))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("embeddings in the order of the graph");
  }

  @Test
  void aMissingEmbeddingIsRefused() {
    HugeCtrImport.Sources one =
        new HugeCtrImport.Sources(
            model.sources().graph(), model.dense(), Optional.empty(), List.of(model.sparse(0)));
    assertThatThrownBy(() ->
            HugeCtrImportTest.imported(one, HugeCtrImport.Options.DEFAULT, folder.resolve("run")))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("got 1 folders of embeddings, expected 2");
  }

  @Test
  void aBottomThatNothingMakesIsRefusedByNameAndPlace() throws IOException {
    replace("\"bottom\":\"fc2\"", "\"bottom\":\"fc9\"");
    requireRefused("layers[11].bottom: got fc9, which no layer makes", "fc2");
  }

  @Test
  void aCircleIsRefused() throws IOException {
    replace("\"bottom\":\"concat1\"", "\"bottom\":\"relu2\"");
    requireRefused("layers[7].bottom: got relu2", "itself or behind it", "circle");
  }

  @Test
  void aNameThatIsThereTwiceIsRefused() throws IOException {
    replace("\"top\":\"relu2\"", "\"top\":\"relu1\"");
    requireRefused("layers[11].top: got relu1, which a layer before it makes");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0",
        "-3",
        "16777217",
        "9223372036854775808",
        "1e3",
        "1e999",
        "\"16\"",
        "null",
        "[16]",
        "{}",
        "2.5"
      })
  void aSizeThatIsNoneIsRefusedByItsPath(String size) throws IOException {
    replace("{\"num_output\":16}", "{\"num_output\":" + size + "}");
    requireRefused("graph.json");
  }

  @ParameterizedTest
  @ValueSource(strings = {"16777216", "400000"})
  void sizesFarBeyondTheFileAreRefusedBeforeTheyTakeMemory(String size) throws IOException {
    replace("{\"num_output\":16}", "{\"num_output\":" + size + "}");
    replace2("{\"num_output\":8}", "{\"num_output\":" + size + "}");
    requireRefused("graph.json", "fc1");
  }

  private void replace2(String from, String to) throws IOException {
    Path file = model.folder.resolve("graph.json");
    Files.writeString(file, Files.readString(file).replace(from, to));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "[]",
        "{}",
        "{\"layers\": []}",
        "{\"layers\": [1]}",
        "{\"layers\": [{\"type\": \"ReLU\"}]}",
        "{\"layers\": [{\"type\": \"Data\"}]}",
        "{\"layers\": [{\"type\": \"Data\", \"label\": {\"top\": [], \"label_dim\": []},"
            + " \"dense\": {\"top\": \"d\", \"dense_dim\": 1}, \"sparse\": []}]}",
        "\u0000"
      })
  void whatIsNoGraphIsRefused(String text) throws IOException {
    write(text);
    requireRefused("graph.json");
  }

  @Test
  void deepNestingIsRefused() throws IOException {
    write("[".repeat(100_000));
    requireRefused("graph.json");
  }

  @Test
  void randomDamageEndsInAnErrorOrInAModel() throws IOException {
    Random random = new Random(5);
    byte[] whole = model.graph.toString().getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i < 150; i++) {
      byte[] damaged = whole.clone();
      for (int k = 0; k < 1 + random.nextInt(3); k++) {
        damaged[random.nextInt(damaged.length)] = (byte) (32 + random.nextInt(96));
      }
      Files.write(model.folder.resolve("graph.json"), damaged);
      Path run = folder.resolve("run" + i);
      try {
        HugeCtrImportTest.imported(model, run);
        assertThat(run).exists();
      } catch (DataException e) {
        assertThat(e.getMessage()).contains("got");
        assertThat(run).doesNotExist();
      }
    }
  }
}
