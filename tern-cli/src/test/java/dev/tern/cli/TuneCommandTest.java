package dev.tern.cli;

import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.checkpoint.Checkpoint;
import dev.tern.cli.MainTest.Result;
import dev.tern.internal.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TuneCommandTest {
  private static final String RATES = "train.optimizer.lr=1e-4..1e-1:log";

  @TempDir Path temp;
  private Path config = Path.of("");
  private Path folder = Path.of("");

  @BeforeEach
  void write() throws IOException {
    for (String name : List.of("train", "eval")) {
      Random random = new Random(name.hashCode());
      StringBuilder text = new StringBuilder("y,a,site\n");
      for (int i = 0; i < 400; i++) {
        double a = random.nextGaussian();
        int site = random.nextInt(6);
        text.append(random.nextGaussian() < a + site - 3 ? 1 : 0).append(',');
        text.append("%.3f,s%d%n".formatted(a, site));
      }
      Files.writeString(temp.resolve(name + ".csv"), text);
    }
    folder = temp.resolve("search");
    config =
        Files.writeString(
            temp.resolve("run.yaml"),
            """
            data:
              format: csv
              train: "%1$s/train.csv"
              eval: "%1$s/eval.csv"
              label: {column: y}
              dense: {columns: [a]}
              sparse: {columns: [site]}
            model: {type: wdl, embedding: 4, hidden: [8]}
            run: {dir: "%2$s"}
            train: {batch: 50, epochs: 3, threads: 1, memory: 256m, optimizer: {type: adam, lr: 0.01}}
            """
                .formatted(temp, folder));
  }

  private Result tune(String... more) {
    List<String> command = new ArrayList<>(List.of("tune", config.toString()));
    command.addAll(List.of(more));
    return tern(command.toArray(String[]::new));
  }

  private Json.Obj state() throws IOException {
    return Json.parseObject(Files.readString(folder.resolve("tune.json")), "tune.json");
  }

  /** What each trial reached, without its time. */
  private List<String> reached() throws IOException {
    List<String> all = new ArrayList<>();
    for (Json trial : state().array("trials")) {
      Json.Obj of = trial.asObject("trial");
      StringBuilder text = new StringBuilder(of.object("values").toString());
      for (Json round : of.array("rounds")) {
        Json.Obj each = round.asObject("round");
        text.append(' ').append(each.integer("epochs")).append(':').append(each.number("value"));
      }
      all.add(text.toString());
    }
    return all;
  }

  @Test
  void everyTrialIsARunAndTheBestIsNamed() throws IOException {
    Result result = tune("--search", RATES, "--search", "model.hidden=[8]|[4,4]", "--trials", "3");
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.err()).contains("trial 1 of 3: train.optimizer.lr=0.", "trial 3  AUC 0.");
    List<String> lines = result.out().lines().toList();
    assertThat(lines.getFirst()).matches("trial  AUC +epochs +time  values");
    assertThat(lines).hasSize(7);
    assertThat(lines.get(1).compareTo(lines.get(2))).isNotZero();
    String best = lines.get(1).split(" +")[0];
    Path run = folder.resolve("trial-00" + best);
    assertThat(Checkpoint.open(run).step()).isPositive();
    assertThat(run.resolve("report.html")).exists();
    assertThat(result.out()).contains("best   tern train " + config + " --set train.optimizer.lr=");
    assertThat(state().text("figure")).isEqualTo("AUC");

    // The best again, as best.yaml says, is the same run.
    assertThat(tern("train", folder.resolve("best.yaml").toString()).code()).isZero();
    assertThat(folder.resolve("best/checkpoints/best/dense.safetensors"))
        .hasSameBinaryContentAs(run.resolve("checkpoints/best/dense.safetensors"));
  }

  @Test
  void aSearchThatEndedEarlyGoesOnWithoutTrainingATrialTwice() throws IOException {
    assertThat(tune("--search", RATES, "--trials", "2").code()).isZero();
    assertThat(tune("--search", RATES, "--trials", "4").err())
        .contains("got a folder with an earlier search", "give --resume");
    FileTime first = Files.getLastModifiedTime(folder.resolve("trial-001/report.html"));
    Result more = tune("--search", RATES, "--trials", "4", "--resume");
    assertThat(more.code()).as(more.err()).isZero();
    assertThat(more.err()).contains("trial 3 of 4").doesNotContain("trial 1 of 4");
    assertThat(Files.getLastModifiedTime(folder.resolve("trial-001/report.html"))).isEqualTo(first);
    List<String> reached = reached();

    assertThat(tune("--search", RATES, "--trials", "4", "--overwrite").code()).isZero();
    assertThat(reached()).isEqualTo(reached).hasSize(4);
  }

  @Test
  void aTrialWhoseEndWasNotWrittenDownGoesOnFromItsFolder() throws IOException {
    assertThat(tune("--search", RATES, "--trials", "2").code()).isZero();
    List<String> reached = reached();
    String state = Files.readString(folder.resolve("tune.json"));
    int last = state.lastIndexOf("\"rounds\":[");
    Files.writeString(folder.resolve("tune.json"), state.substring(0, last) + "\"rounds\":[]}]}");
    Result again = tune("--search", RATES, "--trials", "2", "--resume");
    assertThat(again.code()).as(again.err()).isZero();
    assertThat(reached()).isEqualTo(reached);
  }

  @Test
  void anotherSearchDoesNotGoOnInTheFolder() throws IOException {
    assertThat(tune("--search", RATES, "--trials", "1").code()).isZero();
    assertThat(tune("--search", "train.optimizer.lr=1..2", "--trials", "1", "--resume").err())
        .contains("--search: got {train.optimizer.lr=1..2} for --resume, expected {train");
    assertThat(tune("--search", RATES, "--trials", "1", "--resume", "--seed", "9").err())
        .contains("--seed: got 9 for --resume, expected 1");
    assertThat(
            tune("--search", RATES, "--trials", "1", "--resume", "--set", "model.embedding=2")
                .err())
        .contains("got another configuration for --resume (model.embedding: 2, was 4)");
    Files.writeString(folder.resolve("tune.json"), "{\"version\":1,");
    assertThat(tune("--search", RATES, "--trials", "1", "--resume").err())
        .contains("tune.json: got no state of a search");
  }

  @Test
  void trialsOfOtherEpochsOrFilesAreNotMixed() throws IOException {
    assertThat(tune("--search", RATES, "--trials", "1").code()).isZero();
    String state = Files.readString(folder.resolve("tune.json"));
    Files.copy(temp.resolve("eval.csv"), temp.resolve("other.csv"));
    String[] resume = {"--search", RATES, "--trials", "2", "--resume", "--set"};
    assertThat(tune(with(resume, "train.epochs=2")).err())
        .contains("got another configuration for --resume (train.epochs: 2, was 3), expected the");
    for (String key : List.of("data.eval", "data.train")) {
      Result result = tune(with(resume, key + "=" + temp.resolve("other.csv")));
      assertThat(result.code()).isEqualTo(2);
      assertThat(result.err()).contains("(" + key + ": [" + temp.resolve("other.csv") + "], was [");
    }
    assertThat(Files.readString(folder.resolve("tune.json"))).isEqualTo(state);
    // How fast it computes is no part of it.
    assertThat(tune(with(resume, "train.threads=2")).code()).isZero();
    assertThat(reached()).hasSize(2);
  }

  private static String[] with(String[] arguments, String last) {
    List<String> all = new ArrayList<>(List.of(arguments));
    all.add(last);
    return all.toArray(String[]::new);
  }

  @Test
  void aRefusalToGoOnIsNoFailureOfATrial() throws IOException {
    assertThat(tune("--search", RATES, "--trials", "2").code()).isZero();
    String state = Files.readString(folder.resolve("tune.json"));
    int last = state.lastIndexOf("\"rounds\":[");
    String open = state.substring(0, last) + "\"rounds\":[]}]}";
    Files.writeString(folder.resolve("tune.json"), open);
    Files.writeString(temp.resolve("train.csv"), "y,a,site\n1,0.5,s1\n0,0.1,s2\n");
    Result refused = tune("--search", RATES, "--trials", "2", "--resume");
    assertThat(refused.code()).isEqualTo(2);
    assertThat(refused.err()).contains("got other training files for --resume");
    assertThat(state().array("trials"))
        .noneMatch(trial -> trial.asObject("trial").has("failure"))
        .hasSize(2);
  }

  @Test
  void aSearchThatGoesOnWithFewerTrialsTrainsNone() throws IOException {
    assertThat(tune("--search", RATES, "--trials", "3").code()).isZero();
    List<String> reached = reached();
    Result fewer = tune("--search", RATES, "--trials", "2", "--resume");
    assertThat(fewer.code()).as(fewer.err()).isZero();
    assertThat(fewer.err())
        .contains("--trials: got 2 for a search that has 3; those beyond stay as they are")
        .contains("no trial was left to train; the table has what the search reached before");
    assertThat(fewer.out().lines().filter(line -> line.matches("[123] +0\\..*"))).hasSize(3);
    assertThat(reached()).isEqualTo(reached);
  }

  @Test
  void trialsThatFailAreNotedAndTheSearchGoesOn() throws IOException {
    Result result =
        tune(
            "--search",
            "train.optimizer.lr=0.01|1e30",
            "--search",
            "model.hidden=[8]|[0]",
            "--trials",
            "4");
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.out()).contains("3 failed, as ");
    List<String> failures = new ArrayList<>();
    for (Json trial : state().array("trials")) {
      Json.Obj of = trial.asObject("trial");
      if (of.has("failure")) {
        failures.add(of.text("failure"));
      }
    }
    assertThat(failures)
        .hasSize(3)
        .anyMatch(why -> why.contains("model.hidden"))
        .anyMatch(why -> why.contains("diverged") || why.contains("learning rate"));
    assertThat(Files.readString(folder.resolve("tune.html"))).contains("failed: ");
  }

  @Test
  void aSearchWithoutAGoodConfigurationTrainsNothing() {
    Result result = tune("--search", "model.hidden=[0]|[-1]", "--trials", "2");
    assertThat(result.code()).isEqualTo(2);
    assertThat(result.err()).contains("model.hidden");
    assertThat(folder).doesNotExist();
    assertThat(tune("--search", RATES, "--set", "data.eval=[]").err())
        .contains("tune: got no evaluation rows");
  }

  @Test
  void aFolderOfSomethingElseIsLeftAlone() throws IOException {
    Files.createDirectories(folder);
    Files.writeString(folder.resolve("notes.txt"), "mine");
    assertThat(tune("--search", RATES, "--overwrite").err())
        .contains("got a folder that holds notes.txt and no search of Tern's");
  }

  @Test
  void halvingTrainsTheBestThirdOn() throws IOException {
    Result result = tune("--search", RATES, "--trials", "4", "--halving");
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.err())
        .contains("round 1 of 2: 4 trials to 1 epochs", "round 2 of 2: 2 trials to 3 epochs");
    List<String> reached = reached();
    assertThat(reached.stream().filter(trial -> trial.contains(" 3:"))).hasSize(2);
    assertThat(reached).allMatch(trial -> trial.contains(" 1:"));

    // All rounds again at once say the same.
    assertThat(tune("--search", RATES, "--trials", "4", "--halving", "--resume").code()).isZero();
    assertThat(reached()).isEqualTo(reached);
  }

  @Test
  void theMetricDecidesWhichTrialIsTheBest() throws IOException {
    Result result = tune("--search", RATES, "--trials", "2", "--metric", "log_loss");
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(state().text("figure")).isEqualTo("log loss");
    assertThat(state().flag("more_is_better")).isFalse();
    List<Double> values =
        result.out().lines().skip(1).limit(2).map(l -> Double.valueOf(l.split(" +")[1])).toList();
    assertThat(values.getFirst()).isLessThanOrEqualTo(values.getLast());
    assertThat(tune("--search", RATES, "--metric", "best").err()).contains("train.monitor");
  }

  @Test
  void thePageHasALineForEachTrialOverAllAxes() throws IOException {
    assertThat(tune("--search", RATES, "--search", "model.dropout=0..0.5", "--trials", "3").code())
        .isZero();
    String html = Files.readString(folder.resolve("tune.html"));
    assertThat(html.split("class=\"trial ", -1)).hasSize(4);
    assertThat(html)
        .contains("train.<wbr>optimizer.<wbr>lr", "model.<wbr>dropout", "Best so far")
        .contains("tabindex=\"0\" role=\"img\" aria-label=\"trial ")
        .doesNotContain("<script", "http://", "https://", "NaN");
  }

  @Test
  void wrongArgumentsAreRefused() {
    assertThat(tune("--search", RATES, "--trials", "0").err()).contains("--trials: got 0");
    assertThat(tune("--search", RATES, "--resume", "--overwrite").err())
        .contains("got --resume and --overwrite");
    assertThat(tune("--search", "train.epochs=1..9", "--halving").err())
        .contains("got train.epochs with --halving");
    assertThat(tune("--search", RATES, "--halving", "--set", "train.epochs=2").err())
        .contains("--halving: got train.epochs: 2, expected 3 or more");
    assertThat(tune().code()).isEqualTo(2);
  }
}
