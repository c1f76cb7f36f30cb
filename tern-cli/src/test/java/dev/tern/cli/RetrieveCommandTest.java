package dev.tern.cli;

import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.base.DataException;
import dev.tern.checkpoint.CheckpointWatch;
import dev.tern.cli.MainTest.Result;
import dev.tern.cli.score.CandidateFiles;
import dev.tern.data.Batch;
import dev.tern.predict.ItemFinder;
import dev.tern.predict.ModelVersion;
import dev.tern.predict.ServedModel;
import dev.tern.predict.ServedOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two towers trained on files, and the items that they find for users of other files. */
final class RetrieveCommandTest {
  private static final int USERS = 20;
  private static final int ITEMS = 24;

  @TempDir Path folder;

  private Path config;

  /** User u likes the items i with i % 4 == u % 4, and clicks on nearly nothing else. */
  @BeforeEach
  void write() throws IOException {
    StringBuilder rows = new StringBuilder("click,user,city,item,kind,price\n");
    StringBuilder items = new StringBuilder("price,item,kind\n");
    StringBuilder users = new StringBuilder("city,user\n");
    Random random = new Random(1);
    for (int i = 0; i < 3000; i++) {
      int user = random.nextInt(USERS);
      int item = random.nextInt(ITEMS);
      boolean liked = user % 4 == item % 4;
      rows.append(liked && random.nextInt(10) > 0 ? 1 : 0).append(',');
      rows.append(user(user)).append(',').append(item(item)).append('\n');
    }
    for (int i = 0; i < ITEMS; i++) {
      String[] fields = item(i).split(",", -1);
      items.append(fields[2]).append(',').append(fields[0]).append(',').append(fields[1]);
      items.append('\n');
    }
    for (int u = 0; u < USERS; u++) {
      users.append(user(u).split(",", -1)[1]).append(',').append(user(u).split(",", -1)[0]);
      users.append('\n');
    }
    Files.writeString(folder.resolve("rows.csv"), rows);
    Files.writeString(folder.resolve("items.csv"), items);
    Files.writeString(folder.resolve("users.csv"), users);
    config = folder.resolve("towers.yaml");
    Files.writeString(
        config,
        """
        data:
          format: csv
          train: %1$s/rows.csv
          eval: %1$s/rows.csv
          label: {column: click}
          dense: {columns: [price]}
          sparse:
            - {columns: [user, city, item, kind]}
        model: {type: twotower, embedding: 8, hidden: [16, 8], item_columns: [item, kind, price]}
        run: {dir: %1$s/run}
        train: {batch: 100, epochs: 6, optimizer: {type: adam, lr: 0.02}, memory: 256m, threads: 2}
        """
            .formatted(folder));
  }

  private static String user(int user) {
    return "u" + user + ",c" + user % 3;
  }

  private static String item(int item) {
    return "i" + item + ",k" + item % 2 + "," + (1 + item % 5);
  }

  private Result retrieve(String... more) {
    List<String> args =
        new ArrayList<>(List.of("retrieve", folder + "/run", folder + "/users.csv", "--items"));
    args.add(folder + "/items.csv");
    args.addAll(Arrays.asList(more));
    return tern(args.toArray(String[]::new));
  }

  private List<String> lines(String file) throws IOException {
    return Files.readAllLines(folder.resolve(file));
  }

  @Test
  void filesOfUsersAndOfItemsNeedTheirOwnColumnsAlone() throws IOException {
    Result trained = tern("train", config.toString());
    assertThat(trained.code()).as(trained.err()).isZero();
    assertThat(trained.out()).contains("best AUC").doesNotContain("log loss");
    Result found = retrieve("--out", folder + "/top.csv", "--keep", "user", "--top", "6");
    assertThat(found.code()).as(found.err()).isZero();
    assertThat(found.out()).contains("20 rows, compared with 24 items, in ");
    List<String> lines = lines("top.csv");
    assertThat(lines).hasSize(1 + 6 * USERS);
    assertThat(lines.getFirst()).isEqualTo("user,rank,found_item,score");
    int liked = 0;
    for (int i = 1; i < lines.size(); i++) {
      String[] fields = lines.get(i).split(",");
      int user = (i - 1) / 6;
      assertThat(fields[0]).isEqualTo("u" + user);
      assertThat(fields[1]).isEqualTo(String.valueOf(1 + (i - 1) % 6));
      liked += Integer.parseInt(fields[2].substring(1)) % 4 == user % 4 ? 1 : 0;
    }
    assertThat(liked).isGreaterThan(110);
  }

  @Test
  void recallIsTheShareOfPositiveRowsWithTheirOwnItemAmongTheBest() throws IOException {
    assertThat(tern("train", config.toString()).code()).isZero();
    String rows = folder + "/rows.csv";
    Result all =
        tern("retrieve", folder + "/run", rows, "--items", rows, "--recall", "--top", "24");
    assertThat(all.code()).as(all.err()).isZero();
    assertThat(all.out()).contains("compared with 24 items\n", "recall@24 1.000000");
    Result six = tern("retrieve", folder + "/run", rows, "--items", rows, "--recall", "--top", "6");
    assertThat(recallAt6(six)).isBetween(0.9, 1.0);
    String[] bytes = {
      "retrieve",
      folder + "/run",
      rows,
      "--items",
      rows,
      "--recall",
      "--top",
      "6",
      "--tables",
      "int8"
    };
    assertThat(recallAt6(tern(bytes))).isCloseTo(recallAt6(six), within(0.05));
    // Of the items half are left: the others' rows are no hits.
    Files.write(folder.resolve("some.csv"), lines("items.csv").subList(0, 13));
    Result half =
        tern(
            "retrieve",
            folder + "/run",
            rows,
            "--items",
            folder + "/some.csv",
            "--recall",
            "--out",
            folder + "/some.tsv");
    assertThat(half.out()).contains("their items that --items lacks, which count as not found: ");
    assertThat(lines("some.tsv").get(11)).startsWith("2\t1\ti");
  }

  private static double recallAt6(Result result) {
    return Double.parseDouble(result.out().replaceAll("(?s).*recall@6 ([\\d.]+).*", "$1"));
  }

  @Test
  void scoresOfPairsAreNoProbabilitiesAndSaySo() throws IOException {
    assertThat(tern("train", config.toString()).code()).isZero();
    Result evaluated = tern("evaluate", folder + "/run", folder + "/rows.csv");
    assertThat(evaluated.code()).as(evaluated.err()).isZero();
    assertThat(evaluated.out()).contains("AUC 0.").doesNotContain("log loss", "calibration");
    String out = folder + "/scores.csv";
    assertThat(tern("predict", folder + "/run", folder + "/rows.csv", "--out", out).code())
        .isZero();
    double most =
        lines("scores.csv").stream().skip(1).mapToDouble(Double::parseDouble).max().orElseThrow();
    assertThat(most).isGreaterThan(1.5);
    assertThat(Files.readString(folder.resolve("run/report.html")))
        .contains(">Loss<")
        .doesNotContain(">Log loss<", ">Calibration<");
    assertThat(lines("run/metrics.jsonl").getLast()).contains("\"loss\":null");
  }

  @Test
  void aResumedRunIsTheSameToTheByteOnAnyNumberOfThreads() throws IOException {
    assertThat(tern("train", config.toString(), "--set", "train.epochs=2").code()).isZero();
    Path whole = folder.resolve("whole.csv");
    assertThat(retrieve("--out", whole.toString()).code()).isZero();
    String other = "run.dir=" + folder + "/other";
    assertThat(
            tern(
                    "train",
                    config.toString(),
                    "--set",
                    other,
                    "--set",
                    "train.epochs=1",
                    "--set",
                    "train.threads=1")
                .code())
        .isZero();
    Result resumed =
        tern(
            "train",
            config.toString(),
            "--set",
            other,
            "--set",
            "train.epochs=2",
            "--set",
            "train.threads=1",
            "--resume");
    assertThat(resumed.code()).as(resumed.err()).isZero();
    List<String> names = List.of("dense.safetensors", "tables/0.safetensors");
    for (String name : names) {
      assertThat(latest("other").resolve(name)).hasSameBinaryContentAs(latest("run").resolve(name));
    }
  }

  @Test
  void anEvaluationFindsWhatRetrievalFindsAmongTheItemsOfItsRows() throws IOException {
    Result trained =
        tern(
            "train",
            config.toString(),
            "--set",
            "train.monitor=recall",
            "--set",
            "train.recall_at=3",
            "--set",
            "train.early_stop=5");
    assertThat(trained.code()).as(trained.err()).isZero();
    assertThat(trained.err()).containsPattern("evaluation  AUC 0\\.\\d+  recall@3 [01]\\.\\d{4}");
    assertThat(trained.out())
        .contains("the best by recall")
        .containsPattern("recall@3 [01]\\.\\d{4} of 24 items there");
    String rows = folder + "/rows.csv";
    Result found =
        tern("retrieve", folder + "/run", rows, "--items", rows, "--top", "3", "--recall");
    double recall = Double.parseDouble(found.out().replaceAll("(?s).*recall@3 ([\\d.]+).*", "$1"));
    assertThat(trained.out()).contains("%nrecall@3 %.4f of 24 items there".formatted(recall));
    assertThat(folder.resolve("run/report.html")).content().contains("recall@3");
    assertThat(folder.resolve("run/metrics.jsonl"))
        .content()
        .containsPattern("\"recall\":[01]\\.\\d+")
        .contains("\"retrieval\":{\"at\":3,\"candidates\":24,\"rows\":");
  }

  @Test
  void aServedModelFindsWhatRetrieveFinds() throws IOException {
    assertThat(tern("train", config.toString()).code()).isZero();
    assertThat(retrieve("--out", folder + "/top.csv", "--top", "5", "--keep", "user").code())
        .isZero();
    List<String> expected = lines("top.csv").subList(1, 1 + 5 * USERS);
    Path run = folder.resolve("run");
    CandidateFiles items = new CandidateFiles(run, List.of(folder.resolve("items.csv")));
    ServedOptions options =
        ServedOptions.DEFAULT.withFollow(CheckpointWatch.Follow.BEST).withCandidates(items);
    try (ServedModel model = ServedModel.open(run, options);
        ModelVersion version = model.pin()) {
      ItemFinder finder = version.items().orElseThrow();
      List<String> found = new ArrayList<>();
      for (int u = 0; u < USERS; u++) {
        Batch user = new Batch(version.schema(), 1);
        String[] fields = user(u).split(",", -1);
        version.encoder().addRow(Map.of("user", fields[0], "city", fields[1]), user);
        ItemFinder.Found best = finder.top(user, 5, new int[][] {});
        for (int i = 0; i < 5; i++) {
          String item = finder.candidates().name(best.items()[i]);
          found.add(fields[0] + "," + (i + 1) + "," + item + "," + best.scores()[i]);
        }
      }
      assertThat(found).isEqualTo(expected);
    }
    Files.writeString(folder.resolve("none.csv"), "item,kind,price\n");
    CandidateFiles none = new CandidateFiles(run, List.of(folder.resolve("none.csv")));
    assertThatThrownBy(() -> ServedModel.open(run, ServedOptions.DEFAULT.withCandidates(none)))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("none.csv: got no items, expected some to choose from");
    CandidateFiles gone = new CandidateFiles(run, List.of(folder.resolve("gone.csv")));
    assertThatThrownBy(() -> ServedModel.open(run, ServedOptions.DEFAULT.withCandidates(gone)))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("gone.csv");
  }

  private Path latest(String run) throws IOException {
    try (Stream<Path> files = Files.list(folder.resolve(run).resolve("checkpoints"))) {
      return files
          .filter(path -> path.getFileName().toString().startsWith("step-"))
          .max(Comparator.comparing(Path::toString))
          .orElseThrow();
    }
  }

  @Test
  void mistakesNameTheKeyOrTheOption() throws IOException {
    assertThat(failure("train", config.toString(), "--set", "model.item_columns="))
        .contains("model.item_columns: got no columns for twotower, expected those of the item");
    assertThat(failure("train", config.toString(), "--set", "model.item_columns=kind,colour"))
        .contains("got [kind, colour] as the columns of items");
    assertThat(failure("train", config.toString(), "--set", "model.item_columns=price,item"))
        .contains("got price as the column that names items, expected one of the columns of ids");
    assertThat(failure("train", config.toString(), "--set", "train.monitor=log_loss"))
        .contains("train.monitor: got log_loss for twotower, whose scores are no probabilities")
        .contains("expected auc, gauc or recall");
    String[] deepfm = {"--set", "model.type=deepfm", "--set", "model.item_columns="};
    assertThat(
            failure(
                "train", config.toString(), deepfm[0], deepfm[1], "--set", "train.monitor=recall"))
        .contains("train.monitor: got recall for the model deepfm, which finds no items");
    assertThat(
            failure("train", config.toString(), deepfm[0], deepfm[1], "--set", "train.recall_at=5"))
        .contains("train.recall_at: got 5 for the model deepfm, which finds no items, expected 0");
    assertThat(tern("train", config.toString(), "--set", "train.epochs=1").code()).isZero();
    assertThat(retrieve().err()).contains("got neither --out nor --recall, expected one of them");
    assertThat(retrieve("--out", "x.csv", "--top", "0").err())
        .contains("--top: got 0, expected 1 or more");
    assertThat(retrieve("--recall", "--keep", "user").err()).contains("--keep: got it without");
    assertThat(retrieve("--out", folder + "/users.csv", "--overwrite").code()).isNotZero();
    String standard = tern("retrieve", folder + "/run", "-", "--items", "-", "--recall").err();
    assertThat(standard).contains("got the standard input for items and for users");
    Files.writeString(folder.resolve("ranked.csv"), "user,city,rank\nu1,c1,3\n");
    assertThat(
            failure(
                "retrieve",
                folder + "/run",
                folder + "/ranked.csv",
                "--items",
                folder + "/items.csv",
                "--keep",
                "rank",
                "--out",
                folder + "/top.csv"))
        .contains("got the column rank twice, of the data and of the result");
    assertThat(lines("users.csv")).hasSize(USERS + 1);
    Files.writeString(folder.resolve("empty.csv"), "item,kind,price\n");
    assertThat(
            failure(
                "retrieve",
                folder + "/run",
                folder + "/users.csv",
                "--items",
                folder + "/empty.csv",
                "--out",
                folder + "/top.csv"))
        .contains("empty.csv: got no items, expected some to choose from");
    assertThat(folder.resolve("top.csv")).doesNotExist();
    assertThat(
            failure(
                "retrieve",
                folder + "/run",
                folder + "/items.csv",
                "--items",
                folder + "/items.csv",
                "--out",
                folder + "/top.csv"))
        .contains("items.csv", "user");
  }

  @Test
  void weightsOfRowsAreReadOrNotAsTheCommandNeeds() throws IOException {
    List<String> rows = lines("rows.csv");
    for (int i = 0; i < rows.size(); i++) {
      rows.set(i, rows.get(i) + (i == 0 ? ",times" : "," + i % 3));
    }
    Files.write(folder.resolve("rows.csv"), rows);
    Result trained =
        tern("train", config.toString(), "--set", "train.epochs=1", "--set", "data.weight=times");
    assertThat(trained.code()).as(trained.err()).isZero();
    String file = folder + "/rows.csv";
    Result found =
        tern(
            "retrieve",
            folder + "/run",
            file,
            "--items",
            file,
            "--recall",
            "--keep",
            "user,item",
            "--out",
            folder + "/top.csv");
    assertThat(found.code()).as(found.err()).isZero();
    assertThat(lines("top.csv")).hasSize(1 + 10 * 3000);
    assertThat(retrieve("--out", folder + "/top.tsv").code()).isZero();
  }

  @Test
  void filesOfClicksAloneAreTrainedOnWithoutAWarning() throws IOException {
    Files.write(
        folder.resolve("rows.csv"),
        lines("rows.csv").stream().filter(line -> !line.startsWith("0,")).toList());
    Result trained =
        tern(
            "train",
            config.toString(),
            "--set",
            "train.epochs=2",
            "--set",
            "data.label.positive=1");
    assertThat(trained.code()).as(trained.err()).isZero();
    assertThat(trained.err()).doesNotContain("nothing to tell apart");
    Result found = retrieve("--latest", "--out", folder + "/top.csv");
    assertThat(found.code()).as(found.err()).isZero();
  }

  @Test
  void aRunGoesOnWithItsOwnItemColumnsAlone() {
    assertThat(tern("train", config.toString(), "--set", "train.epochs=1").code()).isZero();
    String other = "run.dir=" + folder + "/other";
    String from = folder + "/run";
    for (String columns : List.of("kind,item,price", "item,kind,city,price")) {
      assertThat(
              failure(
                  "train",
                  config.toString(),
                  "--from",
                  from,
                  "--set",
                  other,
                  "--set",
                  "model.item_columns=" + columns))
          .contains("got the columns of items [", "expected [item, kind, price] as in");
    }
    Result on =
        tern("train", config.toString(), "--from", from, "--set", other, "--set", "train.epochs=1");
    assertThat(on.code()).as(on.err()).isZero();
    assertThat(on.err() + on.out()).doesNotContain("rates of items");
    Result hashed =
        tern(
            "train",
            config.toString(),
            "--from",
            from,
            "--set",
            other,
            "--set",
            "train.epochs=1",
            "--set",
            "data.sparse.encode=hash",
            "--overwrite");
    assertThat(hashed.code()).as(hashed.err()).isZero();
    assertThat(hashed.err() + hashed.out()).contains("rates of items");
  }

  @Test
  void settingsWithoutEffectAreRefused() {
    for (String key : List.of("weight", "positive_weight", "negative_rate")) {
      assertThat(
              failure(
                  "train",
                  config.toString(),
                  "--set",
                  "data.label.column=label",
                  "--set",
                  "data.labels.columns=click",
                  "--set",
                  "data.labels." + key + "=0.5"))
          .contains("data.labels." + key + ": got 0.5 for twotower, where it has no effect");
    }
  }

  @Test
  void aRowOfItemsNamesOneItem() throws IOException {
    assertThat(
            tern(
                    "train",
                    config.toString(),
                    "--set",
                    "train.epochs=1",
                    "--set",
                    "data.sparse.separator=|")
                .code())
        .isZero();
    Files.writeString(folder.resolve("two.csv"), "item,kind,price\ni1,k1,2\ni2|i3,k0,1\n");
    assertThat(
            failure(
                "retrieve",
                folder + "/run",
                folder + "/users.csv",
                "--items",
                folder + "/two.csv",
                "--out",
                folder + "/top.csv"))
        .contains("two.csv", "got 2 values of item in row 1 of a batch, expected one");
  }

  private static String failure(String... args) {
    Result result = tern(args);
    assertThat(result.code()).isNotZero();
    return result.err();
  }
}
