package dev.tern.cli;

import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tern.cli.MainTest.Result;
import dev.tern.internal.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code tern importance} and {@code tern explain} on rows whose label follows known columns. */
final class ImportanceCommandTest {
  private static final int ROWS = 3000;

  @TempDir private static Path shared;
  private static Path run = Path.of("");
  private static Path data = Path.of("");

  @TempDir Path temp;

  /** The label follows {@code tags} most, then {@code a}; {@code noise} and {@code dull} not. */
  @BeforeAll
  static void train() throws IOException {
    Random random = new Random(5);
    StringBuilder text = new StringBuilder("y,a,noise,dull,site,tags\n");
    for (int i = 0; i < ROWS; i++) {
      double a = random.nextGaussian();
      List<String> tags = new ArrayList<>();
      for (int tag = random.nextInt(4); tag > 0; tag--) {
        tags.add("t" + random.nextInt(6));
      }
      double logit = a + (tags.contains("t0") ? 3 : 0) + (tags.contains("t1") ? 3 : 0) - 1;
      int label = random.nextDouble() < 1 / (1 + Math.exp(-logit)) ? 1 : 0;
      text.append(
          "%d,%.4f,%.4f,1,s%d,%s%n"
              .formatted(
                  label, a, random.nextGaussian(), random.nextInt(5), String.join("|", tags)));
    }
    data = Files.writeString(shared.resolve("rows.csv"), text);
    run = shared.resolve("run");
    Path config =
        Files.writeString(
            shared.resolve("c.yaml"),
            """
            data:
              format: csv
              train: "%s"
              label: {column: y}
              dense: {columns: [a, noise, dull]}
              sparse: [{columns: [site]}, {columns: [tags], separator: "|"}]
            model: {type: lr}
            train: {batch: 100, epochs: 8, threads: 1, memory: 256m, optimizer: {type: adam, lr: 0.05}}
            run: {dir: "%s"}
            """
                .formatted(data, run));
    Result result = tern("train", config.toString());
    assertThat(result.code()).as(result.err()).isZero();
  }

  private static Result importance(String... more) {
    List<String> command = new ArrayList<>();
    command.addAll(List.of("importance", run.toString(), data.toString()));
    command.addAll(List.of(more));
    return tern(command.toArray(String[]::new));
  }

  private static Map<String, Json.Obj> lines(Result result) {
    assertThat(result.code()).as(result.err()).isZero();
    Map<String, Json.Obj> lines = new HashMap<>();
    result
        .out()
        .lines()
        .forEach(line -> {
          Json.Obj json = Json.parseObject(line, "line");
          lines.put(json.text("column"), json);
        });
    return lines;
  }

  private static double lost(Json.Obj line, String figure, String end) {
    return line.object(figure).number(end);
  }

  @Test
  void columnsAreInTheOrderOfWhatTheyMeanToTheModel() {
    Result result = importance();
    assertThat(result.code()).as(result.err()).isZero();
    List<String> columns = result.out().lines().skip(2).map(line -> line.split(" ", 2)[0]).toList();
    assertThat(columns).hasSize(5).startsWith("tags", "a");
    assertThat(result.out())
        .startsWith("y: 3,000 rows, AUC 0.")
        .contains(", each column shuffled 5 times%n".formatted())
        .containsPattern("dull +0\\.00000 +0\\.00000 to 0\\.00000 +0\\.00000 ");
  }

  @Test
  void whatSaysNothingLosesNothingAndWhatSaysMuchIsSure() {
    Map<String, Json.Obj> lines = lines(importance("--json", "--repeats", "8"));
    assertThat(lost(lines.get("dull"), "auc_lost", "mean")).isZero();
    assertThat(lost(lines.get("dull"), "auc_lost", "high")).isZero();
    assertThat(lost(lines.get("noise"), "auc_lost", "mean")).isCloseTo(0, within(0.01));
    for (String column : List.of("a", "tags")) {
      assertThat(lost(lines.get(column), "auc_lost", "low")).isGreaterThan(0.05);
      assertThat(lost(lines.get(column), "loss_gained", "low")).isGreaterThan(0.05);
    }
    assertThat(lines.get("a").integer("repeats")).isEqualTo(8);
  }

  @Test
  void allColumnsTogetherAreAllThatTheModelKnows() {
    Map<String, Json.Obj> lines =
        lines(importance("--json", "--together", "a,noise,dull,site,tags"));
    Json.Obj all = lines.get("a + noise + dull + site + tags");
    assertThat(lines).hasSize(1);
    // Whole rows of others are left, whose scores say nothing of the labels.
    assertThat(all.number("auc") - lost(all, "auc_lost", "mean")).isCloseTo(0.5, within(0.02));
  }

  @Test
  void theSameSeedGivesTheSameFigures() {
    String first = importance("--json").out();
    assertThat(importance("--json").out()).isEqualTo(first);
    assertThat(importance("--json", "--seed", "2").out()).isNotEqualTo(first);
  }

  @Test
  void theFiguresOfAColumnDoNotDependOnWhatElseIsShuffled() {
    Json.Obj alone = lines(importance("--json")).get("a");
    Json.Obj beside = lines(importance("--json", "--together", "site,noise")).get("a");
    assertThat(beside).isEqualTo(alone);
  }

  @Test
  void aSampleIsTakenOfManyRows() {
    Result result = importance("--json", "--rows", "500");
    assertThat(lines(result).get("a").integer("rows")).isEqualTo(500);
    assertThat(lines(result).get("a").integer("of_rows")).isEqualTo(ROWS);
    assertThat(result.err()).contains("takes a sample of 500 of 3,000 rows; --rows takes more");
  }

  @Test
  void rowsWithTooFewOfALabelAreRefused() throws IOException {
    Path one = temp.resolve("ones.csv");
    List<String> lines = new ArrayList<>(Files.readAllLines(data).subList(0, 60));
    lines.removeIf(line -> line.startsWith("0"));
    lines.addAll(List.of("0,0.1,0.1,1,s1,t1", "0,0.2,0.1,1,s1,t2"));
    Files.write(one, lines);
    Result result = tern("importance", run.toString(), one.toString());
    assertThat(result.code()).isEqualTo(1);
    assertThat(result.err())
        .containsPattern(
            "ones.csv: got [\\d,]+ rows labelled 1 and \\d labelled 0 for y, expected"
                + " at least 10 of each");
  }

  @Test
  void wrongArgumentsAreRefused() {
    assertThat(importance("--together", "a,nois").err())
        .contains("--together: got a,nois, expected columns of the model, got nois")
        .contains("did you mean noise?");
    assertThat(importance("--together", "a").err()).contains("expected two columns or more");
    assertThat(importance("--together", "a,site", "--together", "site,noise").err())
        .contains("expected each column once, got site again");
    assertThat(importance("--rows", "3").err()).contains("--rows: got 3, expected 20 to");
    assertThat(importance("--repeats", "1").err()).contains("--repeats: got 1, expected 2 to");
    assertThat(importance("--html", temp.resolve("page.txt").toString()).err())
        .contains("expected a name that ends in .html");
    assertThat(importance("--set", "model.type=fm").err()).contains("no effect on a trained model");
  }

  @Test
  void thePageHasABarWithItsIntervalForEachColumn() throws IOException {
    Path page = temp.resolve("importance.html");
    assertThat(importance("--html", page.toString()).err()).contains("page ");
    String html = Files.readString(page);
    assertThat(html)
        .startsWith("<!doctype html>")
        .contains("AUC lost, of 0.", "95% interval of 5 shuffles", "<td>tags</td>")
        .containsPattern("role=\"listitem\" tabindex=\"0\" title=\"a: 0\\.\\d+, 0\\.\\d+ to 0")
        .doesNotContain("<script", "http://", "https://", "NaN");
    assertThat(importance("--html", page.toString()).err()).contains("give --overwrite");
    assertThat(importance("--html", page.toString(), "--overwrite").code()).isZero();
  }

  private static Result explain(Path rows, String... more) {
    List<String> command = new ArrayList<>();
    command.addAll(List.of("explain", run.toString(), rows.toString()));
    command.addAll(List.of(more));
    return tern(command.toArray(String[]::new));
  }

  @Test
  void theShareOfAColumnIsTheLogitLessThatOfTheRowWithoutIt() throws IOException {
    Path rows = temp.resolve("three.csv");
    Files.write(
        rows,
        List.of(
            "a,noise,dull,site,tags", "0.5,0.1,1,s2,t0|t3", ",0.1,1,s2,t0|t3", "0.5,0.1,1,s2,"));
    List<Json.Obj> lines =
        explain(rows, "--json", "--top", "0", "--row", "1-3")
            .out()
            .lines()
            .map(line -> Json.parseObject(line, "line"))
            .toList();
    assertThat(lines).hasSize(3);
    float whole = (float) lines.getFirst().number("logit");
    Json.Obj shares = lines.getFirst().object("shares");
    assertThat(shares.fields()).hasSize(5);
    assertThat((float) shares.number("a")).isEqualTo(whole - (float) lines.get(1).number("logit"));
    assertThat((float) shares.number("tags"))
        .isEqualTo(whole - (float) lines.get(2).number("logit"))
        .isGreaterThan(1);
    assertThat(lines.get(1).object("shares").number("a")).isZero();
    assertThat(lines.get(2).integer("row")).isEqualTo(3);
    assertThat(lines.getFirst().number("score"))
        .isCloseTo(1 / (1 + Math.exp(-whole)), within(1e-6));
  }

  @Test
  void theLargestSharesStandFirstWithTheirValuesAndTheOthersAsOne() throws IOException {
    Path rows = temp.resolve("one.csv");
    Files.write(rows, List.of("a,noise,dull,site,tags", "2.5,,1,s2,t0|t3|t3|t4"));
    Result result = explain(rows, "--row", "1", "--top", "2");
    assertThat(result.out())
        .startsWith("row 1: y score 0.")
        .containsPattern("\\n  tags +t0 t3 t3 and 1 more +\\+\\d\\.\\d{4}\\n")
        .containsPattern("\\n  a +2\\.5 +\\+\\d\\.\\d{4}\\n")
        .containsPattern("\\n  3 other columns +[-+]?\\d");
    assertThat(explain(rows, "--row", "1", "--top", "0").out()).containsPattern("noise +missing");
    assertThat(explain(rows, "--row", "1", "--top", "1", "--json").out())
        .contains("\"others\":{\"columns\":4,\"shares\":");
  }

  @Test
  void rowsThatAreNotThereAreRefused() {
    assertThat(explain(data, "--row", "7,3001").err())
        .contains("got 3,000 rows, expected row 3,001, which --row names");
    assertThat(explain(data, "--row", "7-3").err())
        .contains("--row: got 7-3, expected numbers of rows from 1 on");
    assertThat(explain(data, "--row", "0").code()).isEqualTo(2);
    assertThat(explain(data, "--top", "-1").err()).contains("--top: got -1");
    assertThat(explain(data, "--row", "2,2999").out()).contains("row 2:", "row 2,999:");
  }
}
