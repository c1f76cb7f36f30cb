package dev.tern.cli;

import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tern.cli.MainTest.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code tern evaluate --against}: two models on the same rows. */
final class AgainstTest {
  @TempDir private static Path shared;
  private static Path rows = Path.of("");

  @BeforeAll
  static void train() throws IOException {
    Random random = new Random(1);
    StringBuilder text = new StringBuilder("click,buy,age,site,ad\n");
    for (int i = 0; i < 600; i++) {
      int site = random.nextInt(5);
      int ad = random.nextInt(7);
      int age = 20 + random.nextInt(40);
      double rate = 1 / (1 + Math.exp(-(site - 2 + (ad - 3) * 0.5 + (age - 40) * 0.02)));
      int click = random.nextDouble() < rate ? 1 : 0;
      int buy = click == 1 && random.nextInt(3) == 0 ? 1 : 0;
      text.append("%d,%d,%d,s%d,%d\n".formatted(click, buy, age, site, ad));
    }
    rows = Files.writeString(shared.resolve("rows.csv"), text);
    train("all", "click", "dense: {columns: [age]}, sparse: {columns: [site, ad]}");
    train("site", "click", "sparse: {columns: [site]}");
    train("age", "click", "dense: {columns: [age]}");
    train("buy", "buy", "sparse: {columns: [site]}");
    train("id", "click", "sparse: {columns: [ad], encode: id}");
  }

  private static void train(String name, String label, String columns) throws IOException {
    trainTasks(name, "label: {column: " + label + "}", columns, "lr");
  }

  private static void trainTasks(String name, String labels, String columns, String model)
      throws IOException {
    String yaml =
        """
        data: {format: csv, train: "%s", %s, %s}
        model: {type: %s}
        train: {batch: 64, epochs: 4, threads: 1, memory: 64m, optimizer: {type: adam, lr: 0.05}}
        run: {dir: "%s"}
        """
            .formatted(rows, labels, columns, model, shared.resolve(name));
    Result result =
        tern("train", Files.writeString(shared.resolve(name + ".yaml"), yaml).toString());
    assertThat(result.code()).as(result.err()).isZero();
  }

  private static Result evaluate(String run, String... more) {
    List<String> command =
        new ArrayList<>(
            List.of("evaluate", "--latest", shared.resolve(run).toString(), rows.toString()));
    command.addAll(List.of(more));
    return tern(command.toArray(String[]::new));
  }

  private static Result against(String run, String other, String... more) {
    List<String> all = new ArrayList<>(List.of(more));
    all.addAll(List.of("--against", shared.resolve(other).toString()));
    return evaluate(run, all.toArray(String[]::new));
  }

  private static double figure(String out, String name) {
    String line = out.lines().filter(each -> each.startsWith(name + " ")).findFirst().orElseThrow();
    return Double.parseDouble(line.substring(name.length() + 1).split(" ")[0]);
  }

  private static void assertPaired(String run, String other) {
    Result result = against(run, other);
    assertThat(result.code()).as(result.err()).isZero();
    String out = result.out();
    String first = evaluate(run).out();
    String second = evaluate(other).out();
    for (String name : List.of("AUC", "log loss")) {
      assertThat(figure(out, name)).isEqualTo(figure(first, name));
      assertThat(figure(out, name + " of the other")).isEqualTo(figure(second, name));
      double difference = figure(out, name + " difference (first - other)");
      assertThat(difference).isCloseTo(figure(first, name) - figure(second, name), within(2e-6));
      String interval =
          out.lines()
              .filter(line -> line.startsWith(name + " difference in 95% of samples "))
              .findFirst()
              .orElseThrow();
      String[] words = interval.split(" ");
      double low = Double.parseDouble(words[words.length - 3]);
      double high = Double.parseDouble(words[words.length - 1]);
      assertThat(low).isLessThan(difference);
      assertThat((low + high) / 2).isCloseTo(difference, within(2e-6));
      double p = figure(out, name + " difference by chance p");
      assertThat(p < 0.05).isEqualTo(low > 0 || high < 0);
    }
    // The first model's figures stand as without the other.
    assertThat(out).startsWith(first.substring(0, first.indexOf("tables ")));
  }

  @Test
  void figuresOfBothAreThoseOfEachAlone() {
    assertPaired("all", "site");
  }

  @Test
  void theSecondModelMayReadColumnsThatTheFirstDoesNot() {
    assertPaired("site", "all");
    assertPaired("age", "site");
  }

  @Test
  void aModelIsNoBetterThanItself() {
    Result same = against("all", "all");
    assertThat(same.out())
        .contains("%nAUC difference (first - other) 0.000000%n".formatted())
        .contains("%nAUC difference in 95%% of samples 0.000000 to 0.000000%n".formatted())
        .contains("%nAUC difference by chance p 1.000%n".formatted())
        .contains("%nlog loss difference (first - other) 0.000000%n".formatted());
  }

  @Test
  void modelsOfOtherLabelsAreRefused() {
    Result result = against("all", "buy");
    assertThat(result.code()).isEqualTo(2);
    assertThat(result.err()).contains("--against: got a model of buy, expected one of click");
  }

  @Test
  void aColumnReadInTwoWaysIsRefused() {
    Result result = against("all", "id");
    assertThat(result.code()).isEqualTo(2);
    assertThat(result.err())
        .contains("--against: got the column ad read as integers, expected texts as for the first");
  }

  @Test
  void eachTaskIsCompared() throws IOException {
    String labels = "labels: [{columns: [click]}, {columns: [buy], within: click}]";
    String model = "sharedbottom, embedding: 4, hidden: [8], towers: [4]";
    trainTasks("wide", labels, "sparse: {columns: [site, ad]}", model);
    trainTasks("narrow", labels, "sparse: {columns: [site]}", model);
    Result result = against("narrow", "wide");
    assertThat(result.code()).as(result.err()).isZero();
    String out = result.out();
    String wide = evaluate("wide").out();
    for (String task : List.of("click", "buy")) {
      assertThat(figure(out, task + " AUC of the other")).isEqualTo(figure(wide, task + " AUC"));
      assertThat(figure(out, task + " log loss of the other"))
          .isEqualTo(figure(wide, task + " log loss"));
    }
    assertThat(figure(out, "click AUC difference (first - other)")).isNegative();
    assertThat(against("narrow", "site").err())
        .contains("--against: got a model of click, expected one of click, buy within click");
  }

  @Test
  void rowsOfOneLabelCompareTheLossAlone() throws IOException {
    Path ones =
        Files.writeString(shared.resolve("ones.csv"), "click,buy,age,site,ad\n1,0,30,s1,2\n");
    Result result =
        tern(
            "evaluate",
            "--latest",
            shared.resolve("all").toString(),
            ones.toString(),
            "--against",
            shared.resolve("site").toString());
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.out())
        .contains("%nAUC difference (first - other) –%n".formatted())
        .contains("%nAUC difference by chance p –%n".formatted());
    assertThat(Math.abs(figure(result.out(), "log loss difference (first - other)"))).isPositive();
  }

  @Test
  void filesWhoseColumnsHavePlacesNeedModelsOfTheSameColumns() {
    String read = "--set=data.format=libsvm";
    Result result = against("all", "site", read);
    assertThat(result.code()).isEqualTo(2);
    assertThat(result.err()).contains("--against: got a model of the columns [site]");
  }
}
