package dev.tern.cli;

import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.cli.MainTest.Result;
import dev.tern.predict.Predictor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A checkpoint says how its rows were read, so it is scored wherever it lies. */
final class CheckpointReadingTest {
  @TempDir private static Path shared;

  /** A run that was best after the first epoch. */
  private static Path run = Path.of("");

  private static Path rows = Path.of("");

  @TempDir Path temp;

  @BeforeAll
  static void train() throws IOException {
    OldRun.unpack(shared);
    run = shared.resolve("new");
    rows = shared.resolve("rows.csv");
    ok(OldRun.train(shared, run));
  }

  private static Result ok(Result result) {
    assertThat(result.code()).as(result.err()).isZero();
    return result;
  }

  private List<String> scores(Path checkpoint, Path data, String... more) throws IOException {
    Path out = temp.resolve("out.csv");
    List<String> command = new ArrayList<>();
    command.addAll(List.of("predict", checkpoint.toString(), data.toString()));
    command.addAll(List.of("--overwrite", "--out", out.toString()));
    command.addAll(List.of(more));
    ok(tern(command.toArray(String[]::new)));
    return Files.readAllLines(out);
  }

  private static Path copy(Path folder, Path target) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.toList()) {
        Path to = target.resolve(folder.relativize(file).toString());
        Files.createDirectories(to.getParent());
        Files.copy(file, to);
      }
    }
    return target;
  }

  @Test
  void aCopyIsScoredOutsideTheFolderOfItsRun() throws IOException {
    List<String> latest = scores(run.resolve("checkpoints/step-8"), rows);
    assertThat(scores(copy(run.resolve("checkpoints/step-8"), temp.resolve("a/moved")), rows))
        .isEqualTo(latest);
    assertThat(scores(copy(run.resolve("checkpoints"), temp.resolve("all")), rows))
        .isEqualTo(scores(run, rows))
        .isNotEqualTo(latest);
  }

  @Test
  void whatTheTableCommandsWriteIsScoredAsTheRunIs() throws IOException {
    List<String> best = scores(run, rows);
    String from = run.toString();
    Path text = temp.resolve("city.tsv");
    ok(tern("table", "export", from, "--table", "city", "--out", text.toString()));
    List<List<String>> commands =
        List.of(
            List.of("compact", from),
            List.of("shard", from, "--shards", "4"),
            List.of("import", from, "--table", "city", "--from", text.toString()));
    for (List<String> command : commands) {
      Path out = temp.resolve(command.getFirst());
      List<String> all = new ArrayList<>(List.of("table"));
      all.addAll(command);
      all.addAll(List.of("--out", out.toString()));
      ok(tern(all.toArray(String[]::new)));
      assertThat(scores(out, rows)).as(command.getFirst()).isEqualTo(best);
    }
  }

  @Test
  void allCommandsTakeTheBestCheckpointOfARunOrTheLatestWhereAsked() throws IOException {
    List<String> latest = scores(run.resolve("checkpoints/step-8"), rows);
    assertThat(scores(run, rows)).isNotEqualTo(latest);
    assertThat(scores(run, rows, "--latest")).isEqualTo(latest);
    Path whole = temp.resolve("whole");
    ok(tern("table", "compact", run.toString(), "--latest", "--out", whole.toString()));
    assertThat(scores(whole, rows)).isEqualTo(latest);
    assertThat(tern("table", "inspect", run.toString()).out()).contains("checkpoints/best");
    assertThat(tern("table", "inspect", run.toString(), "--latest").out())
        .contains("checkpoints/step-8");
    String evaluated = ok(tern("evaluate", run.toString(), rows.toString(), "--latest")).out();
    assertThat(ok(tern("evaluate", whole.toString(), rows.toString())).out()).isEqualTo(evaluated);
    String diff = ok(tern("table", "diff", run.toString(), whole.toString(), "--latest")).out();
    assertThat(diff).doesNotContainPattern("[1-9][0-9]* changed");
  }

  @Test
  void evaluationsLeaveOutBadRowsAsTrainingDidAndScoringLeavesOutNone() throws IOException {
    Path skipping = temp.resolve("skipping");
    ok(OldRun.train(shared, skipping, "--set", "data.bad_records=skip", "--set", "data.threads=2"));
    Path bad = Files.writeString(temp.resolve("bad.csv"), Files.readString(rows) + "no such row\n");
    Path moved = copy(skipping.resolve("checkpoints/best"), temp.resolve("moved"));
    String moderate = ok(tern("evaluate", moved.toString(), bad.toString())).out();
    assertThat(moderate).isEqualTo(ok(tern("evaluate", moved.toString(), rows.toString())).out());
    Result strict =
        tern(
            "evaluate",
            moved.toString(),
            bad.toString(),
            "--set",
            "data.bad_records=error",
            "--set",
            "data.threads=3");
    assertThat(strict.err()).contains("bad.csv: line ", "expected 6");
    Path out = temp.resolve("o.csv");
    assertThat(tern("predict", moved.toString(), bad.toString(), "--out", out + "").err())
        .contains("bad.csv: line ");
    Result refused =
        tern(
            "predict",
            moved.toString(),
            bad.toString(),
            "--out",
            out.toString(),
            "--set",
            "data.bad_records=skip");
    assertThat(refused.err()).contains("data.bad_records, which has no effect");
    assertThat(out).doesNotExist();
    String json = Files.readString(moved.resolve("encoders.json"));
    assertThat(json).contains("\"bad_records\":\"skip\"").doesNotContain("threads");
  }

  @Test
  void theCheckpointHoldsNoPathAndNoDefault() throws IOException {
    String json = Files.readString(run.resolve("checkpoints/best/encoders.json"));
    assertThat(json)
        .doesNotContain(shared.toString(), "rows.csv", "most_bad", "threads")
        .contains("\"format\":\"csv\"", "\"column\":\"clicked\"", "\"positive\":[\"yes\"]")
        .contains("{\"columns\":[\"item\"],\"values\":\"integer\"}")
        .endsWith(
            "\"settings\":{\"format\":\"csv\",\"label\":{\"column\":\"clicked\",\"positive\":[\"yes\"]},"
                + "\"dense\":[{\"columns\":[\"price\"]},{\"columns\":[\"count\"]}],"
                + "\"sparse\":[{\"columns\":[\"city\"]},{\"columns\":[\"tags\"],\"separator\":\"|\"},"
                + "{\"columns\":[\"item\"],\"values\":\"integer\"}]}}}");
  }

  @Test
  void overridesStandAboveWhatTheCheckpointSays() throws IOException {
    Path tabs =
        Files.writeString(temp.resolve("rows.tsv"), Files.readString(rows).replace(",", "\t"));
    Path moved = copy(run.resolve("checkpoints/best"), temp.resolve("moved"));
    assertThat(scores(moved, tabs, "--set", "data.delimiter=tab")).isEqualTo(scores(run, rows));
    Result wrong =
        tern("predict", moved.toString(), tabs.toString(), "--out", temp.resolve("x.csv") + "");
    assertThat(wrong.code()).isNotZero();
    assertThat(wrong.err()).contains("which the delimiter (data.delimiter) may be");
  }

  @Test
  void aFieldThatStandsAloneIsTakenApartAsTheReaderDid() throws IOException {
    List<String> fields = List.of("red|blue", " red |blue", "x y|green\t", "", "|", "red||blue");
    StringBuilder text = new StringBuilder("price,count,city,tags,item\n");
    List<Map<String, Object>> maps = new ArrayList<>();
    for (String tags : fields) {
      for (String city : List.of("Oslo", " Oslo", "Oslo  ", " \t ", "\u00a0Oslo")) {
        text.append("2.5,1,%s,%s,7\n".formatted(city, tags));
        Map<String, Object> row = new HashMap<>(Map.of("price", 2.5, "count", 1, "city", city));
        row.put("tags", tags);
        row.put("item", maps.size() % 2 == 0 ? "7" : 7);
        maps.add(row);
      }
    }
    List<String> scores = scores(run, Files.writeString(temp.resolve("rows.csv"), text));
    try (Predictor predictor = Predictor.open(run)) {
      for (int i = 0; i < maps.size(); i++) {
        assertThat(predictor.score(maps.get(i)))
            .as(maps.get(i).toString())
            .isEqualTo(Float.parseFloat(scores.get(i + 1)));
      }
      Map<String, Object> wrong = Map.of("item", "seven");
      assertThatThrownBy(() -> predictor.score(wrong))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("column item: got \"seven\", expected integers of 64 bits");
      Map<String, Object> list = new HashMap<>(maps.getFirst());
      list.put("tags", List.of("red", "blue"));
      assertThat(predictor.score(list)).isEqualTo(predictor.score(maps.getFirst()));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"NA", "\\N", "?"})
  void aMissingMarkerIsMissingInAFieldThatStandsAlone(String marker) throws IOException {
    Path marked = temp.resolve("marked");
    ok(OldRun.train(shared, marked, "--set", "data.missing_values=" + marker));
    Map<String, Object> row = new HashMap<>(Map.of("price", 2.5, "count", 1, "item", 7));
    row.put("tags", "red|" + marker);
    row.put("city", marker);
    try (Predictor predictor = Predictor.open(marked)) {
      float score = predictor.score(row);
      row.put("tags", "red");
      row.put("city", "");
      assertThat(score).isCloseTo(predictor.score(row), within(0f));
      row.remove("city");
      assertThat(score).isEqualTo(predictor.score(row));
    }
  }

  @Test
  void anOldCheckpointElsewhereSaysWhatIsMissingAndTakesItFromOverrides() throws IOException {
    Path old = copy(shared.resolve("shards"), temp.resolve("shards"));
    Path out = temp.resolve("o.csv");
    Result refused = tern("predict", old.toString(), rows.toString(), "--out", out.toString());
    assertThat(refused.code()).isEqualTo(2);
    assertThat(refused.err())
        .contains("does not say how files are read and no config.yaml")
        .contains("give --set data.format=FORMAT");
    assertThat(out).doesNotExist();
    String[] reading = {
      "--set", "data.format=csv", "--set", "data.label.column=clicked",
      "--set", "data.dense.columns=price,count", "--set", "data.sparse[0].columns=city",
      "--set", "data.sparse[1].columns=tags", "--set", "data.sparse[1].separator=|",
      "--set", "data.sparse[2].columns=item", "--set", "data.sparse[2].encode=id"
    };
    Result other = tern(concat(old, out, reading));
    // Only keys that say how files are read may be given; values of item are integers.
    assertThat(other.err()).contains("data.sparse.encode");
    reading[reading.length - 1] = "data.sparse[2].values=integer";
    ok(tern(concat(old, out, reading)));
    assertThat(out).hasSameTextualContentAs(shared.resolve("latest.csv"));
    Files.copy(shared.resolve("run/config.yaml"), old.resolve("config.yaml"));
    assertThat(scores(old, rows)).isEqualTo(Files.readAllLines(out));
  }

  private static String[] concat(Path checkpoint, Path out, String... more) {
    List<String> all = new ArrayList<>(List.of("predict", checkpoint.toString(), rows.toString()));
    all.addAll(List.of("--out", out.toString()));
    all.addAll(List.of(more));
    return all.toArray(String[]::new);
  }
}
