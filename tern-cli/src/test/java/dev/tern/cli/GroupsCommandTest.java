package dev.tern.cli;

import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.cli.MainTest.Result;
import dev.tern.cli.run.EvaluatedTask;
import dev.tern.cli.run.MetricsLine;
import dev.tern.cli.run.MetricsLog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code data.group}: figures by group in training and in {@code tern evaluate}. */
final class GroupsCommandTest {
  @TempDir Path temp;
  private Path rows = Path.of("");

  @BeforeEach
  void write() throws IOException {
    Random random = new Random(2);
    StringBuilder text = new StringBuilder("click,user,site,ad,tags\n");
    for (int i = 0; i < 400; i++) {
      int ad = random.nextInt(6);
      int site = random.nextInt(3);
      int click = random.nextDouble() < 1 / (1 + Math.exp(2.0 - ad + site)) ? 1 : 0;
      String user = i < 4 ? "" : "u" + random.nextInt(40);
      text.append("%d,%s,s%d,a%d,x|y\n".formatted(click, user, site, ad));
    }
    rows = Files.writeString(temp.resolve("rows.csv"), text);
  }

  private Result train(String name, String data, String train) throws IOException {
    String yaml =
        """
        data: {format: csv, train: "%s", eval: "%s", label: {column: click}, sparse: {columns: [site, ad]}%s}
        model: {type: fm, embedding: 4}
        train: {batch: 32, epochs: 2, threads: 1, memory: 64m, optimizer: {type: adam, lr: 0.02}%s}
        run: {dir: "%s"}
        """
            .formatted(rows, rows, data, train, temp.resolve(name));
    return tern("train", Files.writeString(temp.resolve(name + ".yaml"), yaml).toString());
  }

  /** As {@link #train}, by the order of the rows of a user. */
  private Result trainPairs(String name, String data, String train) throws IOException {
    String yaml =
        """
        data: {format: csv, train: "%s", eval: "%s", labels: [{columns: [click], loss: bpr}], sparse: {columns: [site, ad]}%s}
        model: {type: fm, embedding: 4}
        train: {batch: 64, epochs: 3, threads: 1, memory: 64m, optimizer: {type: adam, lr: 0.02}%s}
        run: {dir: "%s"}
        """
            .formatted(rows, rows, data, train, temp.resolve(name));
    return tern("train", Files.writeString(temp.resolve(name + ".yaml"), yaml).toString());
  }

  @Test
  void aModelOfPairsHasScoresThatOrderAndNoFiguresOfProbabilities() throws IOException {
    Result trained = trainPairs("pairs", ", group: user", ", monitor: gauc");
    assertThat(trained.code()).as(trained.err()).isZero();
    assertThat(trained.err())
        .containsPattern("evaluation  AUC 0\\.\\d+  GAUC 0\\.[6-9]")
        .doesNotContain("log loss", "nothing was learned");
    assertThat(last("pairs").gauc()).isGreaterThan(0.6);
    Result evaluated = evaluate("pairs", "--latest", "--group", "user");
    assertThat(evaluated.out())
        .contains("AUC 0.", "%nGAUC by rows %.6f%n".formatted(last("pairs").gauc()))
        .doesNotContain("log loss", "calibration", "ECE");
    Path scores = temp.resolve("scores.csv");
    Result predicted =
        tern("predict", temp.resolve("pairs").toString(), rows.toString(), "--out", "" + scores);
    assertThat(predicted.code()).as(predicted.err()).isZero();
    assertThat(Files.readAllLines(scores).stream().skip(1).mapToDouble(Double::parseDouble))
        .anyMatch(score -> score < 0)
        .hasSize(400);
    assertThat(evaluate("pairs", "--against", temp.resolve("pairs").toString()).out())
        .doesNotContain("log loss");
  }

  @Test
  void pairsNeedGroupsAndRowsThatMeet() throws IOException {
    assertThat(trainPairs("none", "", "").err())
        .contains("data.labels.loss: got bpr without data.group")
        .contains("as in data.group: user");
    assertThat(trainPairs("figure", ", group: user", ", monitor: log_loss").err())
        .contains("train.monitor: got log_loss for the label click, whose scores are no");
    assertThat(trainPairs("absent", ", group: nobody", "").err()).contains("nobody");
    Result alone = trainPairs("alone", ", group: user", ", shuffle: 0");
    assertThat(alone.code()).as(alone.err()).isZero();
    assertThat(alone.err()).doesNotContain("nothing was learned");
    Files.writeString(
        rows,
        Files.readString(rows)
                .lines()
                .limit(60)
                .map(line -> line.replaceFirst(",u\\d+,", ",,"))
                .collect(Collectors.joining("\n"))
            + "\n");
    Result without = trainPairs("without", ", group: user", "");
    assertThat(without.code()).as(without.err()).isZero();
    assertThat(without.err())
        .contains(
            "warning: no batch so far had a row labelled 1 and one labelled 0 with the same user");
  }

  @Test
  void aResumedRunOfPairsKeepsItsGroups() throws IOException {
    assertThat(trainPairs("kept", ", group: user", "").code()).isZero();
    Result other =
        tern(
            "train",
            temp.resolve("kept.yaml").toString(),
            "--resume",
            "--set",
            "data.group=site",
            "--set",
            "train.epochs=4");
    assertThat(other.code()).isNotZero();
    assertThat(other.err()).contains("{\"type\":\"bpr\",\"group\":\"site\"}");
  }

  private Result evaluate(String run, String... more) {
    List<String> command =
        new ArrayList<>(List.of("evaluate", temp.resolve(run).toString(), rows.toString()));
    command.addAll(List.of(more));
    return tern(command.toArray(String[]::new));
  }

  private MetricsLine last(String run) {
    return MetricsLog.read(temp.resolve(run).resolve("metrics.jsonl")).getLast();
  }

  @Test
  void trainingAndEvaluateSayTheSameOfAColumnThatTheModelDoesNotRead() throws IOException {
    Result trained = train("run", ", group: user", ", monitor: gauc, early_stop: 2");
    assertThat(trained.code()).as(trained.err()).isZero();
    MetricsLine last = last("run");
    EvaluatedTask.Groups groups = last.evaluated().getFirst().groups().orElseThrow();
    assertThat(groups.column()).isEqualTo("user");
    assertThat(groups.at()).isEqualTo(10);
    assertThat(groups.figures().counts().groups()).isEqualTo(40);
    assertThat(last.gauc()).isBetween(0.6, 1.0);
    assertThat(trained.err()).contains("  GAUC %.4f".formatted(last.gauc()));
    assertThat(trained.out())
        .contains("the best by GAUC", "GAUC ", " by user there")
        .doesNotContain("AUC –");
    assertThat(Files.readString(temp.resolve("run/report.html")))
        .contains("<h2>Figures by user</h2>", "<th>NDCG@10</th>")
        .contains("<td>%.4f</td>".formatted(groups.figures().order().ndcg()));
    Result result = evaluate("run", "--latest");
    assertThat(result.out())
        .contains("groups 40 by user, ")
        .contains("%nGAUC by rows %.6f%n".formatted(last.gauc()))
        .contains("%nNDCG@10 %.6f%n".formatted(groups.figures().order().ndcg()))
        .contains("%nMRR %.6f%n".formatted(groups.figures().order().reciprocalRank()));
    assertThat(result.err())
        .contains("rows without a value of user, which are in no group: 4 of 400");
  }

  @Test
  void groupsChangeNothingThatIsTrained() throws IOException {
    train("with", ", group: user", "");
    train("without", "", "");
    assertThat(last("with").loss()).isEqualTo(last("without").loss());
    assertThat(last("with").auc()).isEqualTo(last("without").auc());
    assertThat(last("without").evaluated().getFirst().groups()).isEmpty();
    Path weights = Path.of("checkpoints/step-" + last("with").step() + "/dense.safetensors");
    assertThat(temp.resolve("with").resolve(weights))
        .hasSameBinaryContentAs(temp.resolve("without").resolve(weights));
    assertThat(evaluate("without").out()).doesNotContain("groups ");
    assertThat(evaluate("without", "--group", "user").out()).contains("groups 40 by user");
  }

  @Test
  void theCommandLineNamesAnotherColumn() throws IOException {
    train("run", ", group: user", "");
    assertThat(evaluate("run", "--group", "site").out()).contains("groups 3 by site");
    assertThat(evaluate("run", "--set", "data.group=ad").out()).contains("groups 6 by ad");
    assertThat(
            evaluate("run", "--group", "user", "--against", temp.resolve("run").toString()).out())
        .contains("groups 40 by user", "AUC difference by chance p 1.000");
  }

  @Test
  void aRunGoesOnWithItsGroups() throws IOException {
    train("run", ", group: user", ", monitor: gauc");
    Path yaml = temp.resolve("run.yaml");
    Result resumed = tern("train", yaml.toString(), "--resume", "--set", "train.epochs=3");
    assertThat(resumed.code()).as(resumed.err()).isZero();
    Result other = tern("train", yaml.toString(), "--resume", "--set", "data.group=site");
    assertThat(other.code()).isNotZero();
    assertThat(other.err()).contains("GAUC by user");
  }

  @Test
  void aMonitorWithoutGroupsIsRefused() throws IOException {
    Result result = train("run", "", ", monitor: gauc");
    assertThat(result.code()).isEqualTo(2);
    assertThat(result.err())
        .contains(
            "train.monitor: got gauc without data.group, expected the column that groups rows");
  }

  @Test
  void aColumnThatFilesLackIsAnErrorBeforeTraining() throws IOException {
    Result result = train("run", ", group: customer", "");
    assertThat(result.code()).isNotZero();
    assertThat(result.err()).contains("customer");
    assertThat(temp.resolve("run/metrics.jsonl")).doesNotExist();
    train("plain", "", "");
    assertThat(evaluate("plain", "--group", "customer").err()).contains("customer");
  }

  @Test
  void aColumnOfOtherFormatsIsOneThatTheModelReads() throws IOException {
    Path libsvm = Files.writeString(temp.resolve("rows.svm"), "1 1:1 2:1\n0 1:1 3:1\n".repeat(20));
    String yaml =
        """
        data: {format: libsvm, train: "%s", eval: "%s", sparse: {columns: [features]}, group: user}
        model: {type: fm, embedding: 4}
        train: {batch: 8, epochs: 1, threads: 1, memory: 64m, optimizer: {type: adam, lr: 0.02}}
        run: {dir: "%s"}
        """
            .formatted(libsvm, libsvm, temp.resolve("svm"));
    Result result = tern("train", Files.writeString(temp.resolve("svm.yaml"), yaml).toString());
    assertThat(result.code()).isNotZero();
    assertThat(result.err())
        .contains("groups: got the column user, expected a column of ids among");
  }
}
