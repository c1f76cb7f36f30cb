package dev.tern.cli;

import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.cli.MainTest.Result;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code tern import hugectr} and {@code tern export hugectr}, and what follows them. */
final class HugeCtrCommandsTest {
  private static final String GRAPH =
      """
      {"layers": [
        {"type": "Data", "label": {"top": "label", "label_dim": 1},
         "dense": {"top": "dense", "dense_dim": 1},
         "sparse": [
           {"top": "wide", "slot_num": 1, "nnz_per_slot": [1], "is_fixed_length": true},
           {"top": "deep", "slot_num": 2, "nnz_per_slot": 2, "is_fixed_length": false}]},
        {"type": "DistributedSlotSparseEmbeddingHash", "bottom": "wide", "top": "e_wide",
         "sparse_embedding_hparam": {"combiner": "sum", "embedding_vec_size": 1}},
        {"type": "DistributedSlotSparseEmbeddingHash", "bottom": "deep", "top": "e_deep",
         "sparse_embedding_hparam": {"combiner": "mean", "embedding_vec_size": 2}},
        {"type": "Reshape", "bottom": "e_wide", "top": "w", "leading_dim": 1},
        {"type": "Reshape", "bottom": "e_deep", "top": "d", "leading_dim": 4},
        {"type": "Concat", "bottom": ["d", "dense"], "top": "c", "axis": 1},
        {"type": "InnerProduct", "bottom": "c", "top": "fc", "fc_param": {"num_output": 1}},
        {"type": "Add", "bottom": ["fc", "w"], "top": "sum"},
        {"type": "BinaryCrossEntropyLoss", "bottom": ["sum", "label"], "top": "loss"}]}
      """;

  /** A label, a number, the slot of the wide part, and two others. */
  private static final String ROWS =
      """
      label,n,a,b,c
      1,0.5,1,2,3
      0,-1,2,3,1
      1,2,1,1,2
      0,0,2,2,2
      """;

  @TempDir private Path temp;
  private String run = "run";

  private Path file(String name, byte[] bytes) throws IOException {
    Path path = temp.resolve(name);
    Files.createDirectories(path.getParent());
    return Files.write(path, bytes);
  }

  private static byte[] floats(float... values) {
    ByteBuffer bytes = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asFloatBuffer().put(values);
    return bytes.array();
  }

  private static byte[] longs(long... values) {
    ByteBuffer bytes = ByteBuffer.allocate(8 * values.length).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asLongBuffer().put(values);
    return bytes.array();
  }

  @BeforeEach
  void model() throws IOException {
    Files.writeString(temp.resolve("graph.json"), GRAPH);
    file("m_dense_1.model", floats(1, 2, 3, 4, 0.5f, 0.25f));
    file("m0_sparse_1.model/key", longs(1, 2));
    file("m0_sparse_1.model/emb_vector", floats(0.75f, -0.75f));
    file("m1_sparse_1.model/key", longs(3, 1, 2));
    file("m1_sparse_1.model/emb_vector", floats(0.3f, 0, 0.1f, 0.2f, -0.1f, 0.4f));
    Files.writeString(temp.resolve("rows.csv"), ROWS);
  }

  private Result imported(String... more) {
    List<String> command =
        new ArrayList<>(
            List.of(
                "import",
                "hugectr",
                temp.resolve("graph.json").toString(),
                "--dense",
                temp.resolve("m_dense_1.model").toString(),
                "--sparse",
                temp.resolve("m0_sparse_1.model").toString(),
                temp.resolve("m1_sparse_1.model").toString(),
                "--out",
                temp.resolve(run).toString()));
    command.addAll(List.of(more));
    return tern(command.toArray(String[]::new));
  }

  private static Set<String> names(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).collect(Collectors.toSet());
    }
  }

  private void requireScores(Path run, Path rows) throws IOException {
    Path out = temp.resolve("scores.csv");
    Result predicted = tern("predict", run + "", rows + "", "--out", out + "", "--overwrite");
    assertThat(predicted.code()).as(predicted.err()).isZero();
    List<String> lines = Files.readAllLines(out);
    assertThat(lines).hasSize(5);
    double[][] deep = {{}, {0.1, 0.2}, {-0.1, 0.4}, {0.3, 0}};
    int[][] ids = {{1, 2, 3}, {2, 3, 1}, {1, 1, 2}, {2, 2, 2}};
    double[] numbers = {0.5, -1, 2, 0};
    for (int i = 0; i < 4; i++) {
      double[] b = deep[ids[i][1]];
      double[] c = deep[ids[i][2]];
      double logit = b[0] + 2 * b[1] + 3 * c[0] + 4 * c[1] + 0.5 * numbers[i] + 0.25;
      logit += ids[i][0] == 1 ? 0.75 : -0.75;
      double score = Double.parseDouble(lines.get(i + 1));
      assertThat(score)
          .isBetween(1 / (1 + Math.exp(-logit)) - 1e-5, 1 / (1 + Math.exp(-logit)) + 1e-5);
    }
  }

  @Test
  void anImportedModelScoresNormFilesAndIsTrainedOn() throws IOException {
    Path norm = temp.resolve("rows.norm");
    Result converted =
        tern(
            "data",
            "convert",
            temp.resolve("rows.csv").toString(),
            "--out",
            norm.toString(),
            "--set",
            "data.dense.columns=n",
            "--set",
            "data.sparse.columns=a,b,c",
            "--set",
            "data.sparse.encode=id");
    assertThat(converted.code()).as(converted.err()).isZero();
    Result made = imported();
    assertThat(made.code()).as(made.err()).isZero();
    assertThat(made.out()).contains("6 dense weights and 5 rows of embeddings");
    requireScores(temp.resolve("run"), norm);

    Path config = temp.resolve("run").resolve("train.yaml");
    Result trained =
        tern("train", config + "", "--set", "data.train=" + norm, "--set", "train.epochs=3");
    assertThat(trained.code()).as(trained.err()).isZero();
    assertThat(temp.resolve("run-trained").resolve("checkpoints")).exists();
  }

  @Test
  void columnsOfOtherFormatsHaveTheNamesThatAreGiven() throws IOException {
    Result made =
        imported(
            "--set",
            "data.format=csv",
            "--set",
            "data.label.column=label",
            "--set",
            "data.dense.columns=n",
            "--set",
            "data.sparse.columns=a,b,c");
    assertThat(made.code()).as(made.err()).isZero();
    requireScores(temp.resolve("run"), temp.resolve("rows.csv"));

    Result exported =
        tern(
            "export",
            "hugectr",
            temp.resolve("run").toString(),
            "--out",
            temp.resolve("files").toString());
    assertThat(exported.code()).as(exported.err()).isZero();
    assertThat(temp.resolve("files").resolve("model_dense_0.model"))
        .hasBinaryContent(floats(1, 2, 3, 4, 0.5f, 0.25f));
    assertThat(temp.resolve("files").resolve("model0_sparse_0.model").resolve("key"))
        .hasBinaryContent(longs(1, 2));
  }

  @Test
  void aRunIsWholeAndItsCommandMayBeCopiedIntoAShell() throws IOException {
    run = "my 'own' run";
    Set<String> before = names(temp);
    Result made = imported("--set", "data.format=csv", "--set", "data.delimiter=;");
    assertThat(made.code()).as(made.err()).isZero();
    String quoted = "'" + temp + "/my '\\''own'\\'' run/train.yaml'";
    assertThat(made.out())
        .contains("train on: tern train " + quoted + " --set data.train=FILES")
        .endsWith(" --set 'data.delimiter=;'\n");
    assertThat(Files.readString(temp.resolve(run).resolve("train.yaml"))).contains(quoted);
    assertThat(names(temp.resolve(run)))
        .containsExactlyInAnyOrder("checkpoints", "graph.json", "train.yaml");
    before.add(run);
    assertThat(names(temp)).isEqualTo(before);
  }

  @Test
  void whatCannotBeIsSaid() throws IOException {
    Result named = imported("--set", "data.dense.columns=n,m");
    assertThat(named.code()).isNotZero();
    assertThat(named.err()).contains("columns: got 2 names of numbers, expected 1 distinct ones");
    Result other = imported("--set", "train.batch=4");
    assertThat(other.err()).contains("--set: got train.batch=4, expected keys of data alone");
    Result sizes = imported("--slot-sizes", "3,x");
    assertThat(sizes.err()).contains("--slot-sizes: got \"x\"");
    Result graph = imported("--slot-sizes", "graph");
    assertThat(graph.err()).contains("slot_size_array: got none");
    assertThat(temp.resolve("run")).doesNotExist();
    Files.createDirectories(temp.resolve("run"));
    assertThat(imported().err()).contains("--out: got ").contains("which is there");
  }
}
