package dev.tern.hugectr;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.convert.ImportReport;
import dev.tern.data.readers.Readers;
import dev.tern.internal.json.Json;
import dev.tern.model.Task;
import dev.tern.model.graph.GraphLayer;
import dev.tern.model.graph.GraphOp;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What HugeCTR's graphs and files do otherwise than one might think. */
final class HugeCtrTrapsTest {
  @TempDir private Path folder;

  private Path run(MadeModel model) {
    Path run = folder.resolve("run");
    HugeCtrImportTest.imported(model, run);
    return run;
  }

  /** A sample with a part of its text replaced. */
  private MadeModel changed(String name, String from, String to) {
    String text = MadeModel.graph(name).toString();
    assertThat(text).contains(from);
    Json.Obj graph = Json.parseObject(text.replace(from, to), name);
    return MadeModel.of(folder.resolve("made"), graph, 0);
  }

  /** Writes the graph anew over the files of an unchanged sample, and gives the import's error. */
  private void requireRefused(String name, String from, String to, String... parts)
      throws IOException {
    MadeModel model = MadeModel.of(folder.resolve("made"), name);
    String text = model.graph.toString();
    assertThat(text).contains(from);
    Files.writeString(model.folder.resolve("graph.json"), text.replace(from, to));
    assertThatThrownBy(() -> run(model))
        .isInstanceOf(DataException.class)
        .message()
        .contains("graph.json")
        .contains(parts);
    assertThat(folder.resolve("run")).doesNotExist();
  }

  private static GraphLayer layer(Path run, String name) {
    return Checkpoint.open(run).requireModel().variant().graph().orElseThrow().layers().stream()
        .filter(layer -> layer.name().equals(name))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void severalLabelsAreReadInTheOrderOfTheirNames() {
    Path run = run(MadeModel.of(folder.resolve("made"), "mmoe"));
    Checkpoint checkpoint = Checkpoint.open(run);
    assertThat(checkpoint.encoder().schema().labels()).containsExactly("label0", "label1");
    // The loss of a_first, declared second, reads the first column.
    assertThat(checkpoint.requireModel().variant().graph().orElseThrow().logits())
        .containsExactly("logit1", "logit0");
    assertThat(checkpoint.requireModel().tasks(checkpoint.encoder().schema()))
        .containsExactly(Task.of("label0"), Task.of("label1"));
  }

  @Test
  void rangesOfSlicesEndBeforeTheirSecondNumber() {
    GraphLayer slice = layer(run(MadeModel.of(folder.resolve("made"), "neumf")), "user");
    assertThat(slice.wholes("from")).containsExactly(0, 8, 4);
    assertThat(slice.wholes("to")).containsExactly(3, 11, 16);
  }

  @Test
  void theRankThatAGraphFileLacksIsFoundByTheLengthOfTheWeights() {
    MadeModel model = MadeModel.of(folder.resolve("made"), MadeModel.graph("dcn"), 4);
    Path run = folder.resolve("run");
    ImportReport report = HugeCtrImportTest.imported(model, run);
    assertThat(report.notes()).anyMatch(note -> note.contains("matrices of rank 4"));
    assertThat(layer(run, "multicross1").whole("rank")).isEqualTo(4);
    HugeCtrImportTest.requireLogits(run, model);
  }

  @Test
  void theRankOfCrossLayersMayBeGivenAndMustFit() {
    MadeModel model = MadeModel.of(folder.resolve("made"), MadeModel.graph("dcn"), 4);
    HugeCtrImport.Options wrong = HugeCtrImport.Options.DEFAULT.withProjection(3);
    assertThatThrownBy(
            () -> HugeCtrImportTest.imported(model.sources(), wrong, folder.resolve("run")))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("m_dense_1.model: got ");
  }

  @Test
  void aRankThatAGraphFileHasIsTakenAndMustBeTheOneThatIsGiven() {
    String text =
        MadeModel.graph("dcn")
            .toString()
            .replace("\"num_layers\":3", "\"num_layers\":3,\"projection_dim\":4");
    MadeModel model = MadeModel.of(folder.resolve("made"), Json.parseObject(text, "dcn"), 4);
    assertThat(layer(run(model), "multicross1").whole("rank")).isEqualTo(4);
    HugeCtrImport.Options same = HugeCtrImport.Options.DEFAULT.withProjection(4);
    HugeCtrImportTest.imported(model.sources(), same, folder.resolve("same"));
    HugeCtrImport.Options other = HugeCtrImport.Options.DEFAULT.withProjection(3);
    assertThatThrownBy(
            () -> HugeCtrImportTest.imported(model.sources(), other, folder.resolve("other")))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("mc_param.projection_dim: got 4, expected 3");
  }

  @Test
  void aRankOfZeroInAGraphFileMeansVectors() throws IOException {
    MadeModel model = changed("dcn", "\"num_layers\":3", "\"num_layers\":3,\"projection_dim\":0");
    Path run = run(model);
    assertThat(layer(run, "multicross1").whole("rank")).isZero();
    HugeCtrImportTest.requireLogits(run, model);
    // The length of the weights finds no other rank where the file has one.
    byte[] whole = Files.readAllBytes(model.dense());
    Files.write(model.dense(), Arrays.copyOf(whole, whole.length + 4 * 3 * 12));
    assertThatThrownBy(() -> HugeCtrImportTest.imported(model, folder.resolve("longer")))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("m_dense_1.model: got ");
  }

  @Test
  void aRankThatNoLayerTakesIsRefused() {
    MadeModel model = MadeModel.of(folder.resolve("made"), "wdl");
    HugeCtrImport.Options ranked = HugeCtrImport.Options.DEFAULT.withProjection(3);
    assertThatThrownBy(
            () -> HugeCtrImportTest.imported(model.sources(), ranked, folder.resolve("run")))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("got a graph without MultiCross");
  }

  @Test
  void theFactorOfASoftmaxWithoutAMaskIsNotUsed() {
    MadeModel model =
        changed("mmoe", "\"type\":\"Softmax\"", "\"factor\":0.5,\"type\":\"Softmax\"");
    Path run = run(model);
    assertThat(layer(run, "share0").exact("factor")).isEqualTo(1);
    HugeCtrImportTest.requireLogits(run, model);
  }

  @Test
  void aModelWithOneLabelThatRowsMayLackComesBackTheSame() throws IOException {
    MadeModel model = changed("dcn", "BinaryCrossEntropyLoss", "MultiCrossEntropyLoss");
    Path first = run(model);
    assertThat(
            Checkpoint.open(first).requireModel().tasks(Checkpoint.open(first).encoder().schema()))
        .containsExactly(Task.of("label0").withOptionalLabel());
    HugeCtrImportTest.exported(first, folder.resolve("files"));
    assertThat(Files.readString(folder.resolve("files").resolve(HugeCtrExport.GRAPH)))
        .contains("\"type\": \"MultiCrossEntropyLoss\"");
    Path second = folder.resolve("second");
    HugeCtrImportTest.imported(
        HugeCtrImportTest.exportedFiles(folder.resolve("files"), model.tables.size()),
        HugeCtrImport.Options.DEFAULT,
        second);
    HugeCtrImportTest.requireSameModel(first, second);
  }

  @Test
  void theColumnOfZerosBehindProductsKeepsItsRowOfWeights() {
    MadeModel model = MadeModel.of(folder.resolve("made"), "dlrm");
    Path run = run(model);
    // 4 of the vector, 21 products of 7 vectors, and the column.
    assertThat(layer(run, "interaction1").op()).isEqualTo(GraphOp.INTERACTION);
    assertThat(model.dense.length)
        .isEqualTo(5 * 8 + 8 + 8 * 4 + 4 + (4 + 21 + 1) * 8 + 8 + 8 * 5 + 5 + 5 + 1);
  }

  @Test
  void aMultilayerWithoutBiasHasOneInTheFileThatIsNotUsed() {
    MadeModel model = MadeModel.of(folder.resolve("made"), "dlrm");
    Path run = run(model);
    assertThat(layer(run, "mlp1").flags("bias")).containsExactly(true, false, true);
    HugeCtrImportTest.requireLogits(run, model);
  }

  @Test
  void filesOfOldVersionsWithOneNumberOfIdsAndMoreFieldsAreRead() {
    String data = "\"nnz_per_slot\":[1,1,1,1],";
    MadeModel model =
        changed("dcn", data, "\"nnz_per_slot\":1,\"name\":\"old\",\"check\":\"Sum\",");
    HugeCtrImportTest.requireLogits(run(model), model);
  }

  @Test
  void aMissingKeyCountsInTheDivisorOfAMean() {
    MadeModel model = MadeModel.of(folder.resolve("made"), "norms");
    boolean some = false;
    for (long[][] row : model.rows.keys()) {
      for (long[] slot : row) {
        boolean unknown = Arrays.stream(slot).anyMatch(key -> key >= MadeModel.KEYS);
        some |= slot.length > 1 && unknown;
      }
    }
    assertThat(some).as("a slot with a missing key beside another").isTrue();
    HugeCtrImportTest.requireLogits(run(model), model);
  }

  @Test
  void aLossOfSeveralLabelsIsATaskForEachThatRowsMayLack() {
    MadeModel model = MadeModel.of(folder.resolve("made"), "norms");
    Path run = folder.resolve("run");
    ImportReport report = HugeCtrImportTest.imported(model, run);
    List<Task> tasks = report.made().model().tasks(report.made().schema());
    assertThat(tasks).extracting(Task::label).containsExactly("label0", "label1", "label2");
    assertThat(tasks).allMatch(Task::optional);
    assertThat(tasks.get(2).weight()).isEqualTo(2 * tasks.get(1).weight());
    assertThat(report.notes()).anyMatch(note -> note.contains("regularizer L2"));
  }

  @Test
  void aLossOfTwoClassesIsATaskForEach() {
    String text =
        MadeModel.graph("dcn")
            .toString()
            .replace("BinaryCrossEntropyLoss", "CrossEntropyLoss")
            .replace("{\"num_output\":1}", "{\"num_output\":2}");
    MadeModel two = MadeModel.of(folder.resolve("two"), Json.parseObject(text, "two"), 0);
    Path run = folder.resolve("two-run");
    ImportReport report = HugeCtrImportTest.imported(two, run);
    assertThat(report.made().model().tasks(report.made().schema()))
        .isEqualTo(Task.ofClasses("label0", 2));
    double[][] odds = new double[two.logits.length][];
    for (int b = 0; b < odds.length; b++) { // Against the other class.
      double[] l = two.logits[b];
      odds[b] = new double[] {l[0] - l[1], l[1] - l[0]};
    }
    HugeCtrImportTest.requireLogits(run, two.rows, odds);
  }

  @ParameterizedTest
  @CsvSource({
    "GRU, cuDNN",
    "Gather, half precision",
    "Select, neither its dimension nor its indices",
    "NewLayer, a type of layer that HugeCTR has"
  })
  void aLayerThatHugeCtrCannotUseIsRefusedWithTheReason(String type, String reason)
      throws IOException {
    requireRefused(
        "wdl",
        "\"top\":\"relu1\",\"type\":\"ReLU\"",
        "\"top\":\"relu1\",\"type\":\"" + type + "\"",
        "layers[8].type: got " + type,
        reason);
  }

  private static final String ELU =
      "\"elu_param\":{\"alpha\":0.8},\"top\":\"elu1\",\"type\":\"ELU\"";

  private static String dice(String alpha) {
    return "\"prelu_dice_param\":{\"%s\":0.2,\"eps\":1e-8},\"top\":\"elu1\",\"type\":\"PReLU_Dice\""
        .formatted(alpha);
  }

  @Test
  void diceWithoutReferenceRowsIsRefusedAsItsScoresDependOnOtherRows() throws IOException {
    requireRefused("din", ELU, dice("alpha"), "PReLU_Dice without reference rows", "saves none");
  }

  @ParameterizedTest
  @CsvSource({"alpha", "elu_alpha"})
  void diceTakesTheMeanAndVarianceOfReferenceRows(String alpha) throws IOException {
    MadeModel model = changed("din", ELU, dice(alpha));
    Path run = folder.resolve("run");
    ImportReport report =
        HugeCtrImportTest.imported(
            model.sources(),
            HugeCtrImport.Options.DEFAULT.withReference(
                encoder -> Optional.of(Readers.inMemory(model.batch(encoder.rawSchema())))),
            run);
    assertThat(report.notes()).anyMatch(note -> note.contains("of 13 reference rows"));
    HugeCtrImportTest.requireLogits(run, model);
    HugeCtrExport.Report exported = HugeCtrImportTest.exported(run, folder.resolve("files"));
    assertThat(exported.notes()).anyMatch(note -> note.contains("has no averages"));
    assertThat(Files.readString(folder.resolve("files").resolve(HugeCtrExport.GRAPH)))
        .contains("\"alpha\": 0.2", "\"elu_alpha\": 0.2");
  }

  @Test
  void aReshapeWhoseShapeTheFileLacksIsRefused() throws IOException {
    requireRefused(
        "dcn",
        "\"leading_dim\":12,",
        "\"leading_dim\":0,",
        "layers[2].leading_dim: got 0",
        "leaves the argument \"shape\" out");
  }

  @Test
  void aReshapeThatMixesRowsIsRefused() throws IOException {
    requireRefused("dcn", "\"leading_dim\":12,", "\"leading_dim\":9,", "reshape1", "mix rows");
  }

  @Test
  void aSecondLossOnOneLabelIsRefused() throws IOException {
    requireRefused(
        "mmoe",
        "[\"logit1\",\"a_first\"]",
        "[\"logit1\",\"y_second\"]",
        "HugeCTR drops a second one");
  }

  @Test
  void slotsThatTwoEmbeddingsReadAreRefused() throws IOException {
    requireRefused(
        "wdl", "\"bottom\":\"deep_data\"", "\"bottom\":\"wide_data\"", "another embedding reads");
  }

  @Test
  void averagesOfBatchNormalizationsComeFromTheFileBeside() throws IOException {
    MadeModel model = MadeModel.of(folder.resolve("made"), "norms");
    Files.delete(model.statistics());
    assertThatThrownBy(() -> run(model))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("m_dense_1.model.ntp.json: got no such file")
        .hasMessageContaining("--statistics");
  }

  @Test
  void keysOutsideOfTheSlotSizesAreRefused() {
    MadeModel model = MadeModel.of(folder.resolve("made"), "dcn");
    HugeCtrImport.Options small =
        HugeCtrImport.Options.DEFAULT.withSlotSizes(List.of(10L, 10L, 10L, 7L));
    assertThatThrownBy(
            () -> HugeCtrImportTest.imported(model.sources(), small, folder.resolve("run")))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("got 3 keys outside of the slot sizes");
  }

  @Test
  void aFileOfVersionTwoIsRefused() throws IOException {
    MadeModel model = MadeModel.of(folder.resolve("made"), "dcn");
    Path file = folder.resolve("old.model");
    Files.write(file, new byte[64]);
    HugeCtrImport.Sources old =
        new HugeCtrImport.Sources(
            model.sources().graph(), model.dense(), Optional.empty(), List.of(file));
    assertThatThrownBy(() ->
            HugeCtrImportTest.imported(old, HugeCtrImport.Options.DEFAULT, folder.resolve("run")))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("before version 3.1");
  }
}
