package dev.tern.cli;

import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.internal.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TableCommandTest {
  private static final String CONFIG =
      """
      data: {format: criteo-synthetic, rows: 600, eval_rows: 100, seed: 1, scale: 0.001, sparse: {encode: id}}
      model: {type: deepfm, embedding: 4, hidden: [8], eviction: {type: least-frequent}, max_rows: 50}
      run: {dir: run}
      train:
        {batch: 100, optimizer: {type: adam, lazy: true}, seed: 1, memory: 256m, delta: {steps: 1}}
      """;

  @TempDir private Path folder;
  private String run = "";

  @BeforeEach
  void train() throws IOException {
    Path file = folder.resolve("config.yaml");
    Files.writeString(file, CONFIG);
    run = folder.resolve("run").toString();
    MainTest.Result result = tern("train", file.toString(), "--set", "run.dir=" + run);
    assertThat(result.code()).as(result.err()).isZero();
  }

  private String ok(String... arguments) {
    MainTest.Result result = tern(arguments);
    assertThat(result.code()).as(result.err()).isZero();
    return result.out();
  }

  private String path(String name) {
    return folder.resolve(name).toString();
  }

  @Test
  void tablesAreLookedIntoComparedAndMoved() {
    String inspected = ok("table", "inspect", run, "--table", "3", "--top", "2");
    assertThat(inspected)
        .contains("rows of 5 weights in F32", " a row in files", "norms ", "seen 1 to 1 times");
    Json.Obj json =
        Json.parseObject(ok("table", "inspect", run, "--table", "3", "--json"), "inspect");
    assertThat(json.integer("rows")).isBetween(1L, 50L);
    for (String format : new String[] {"text", "safetensors", "hugectr"}) {
      String out = path(format);
      ok("table", "export", run, "--table", "3", "--format", format, "--out", out);
      String target = path("with-" + format);
      ok(
          "table",
          "import",
          run,
          "--table",
          "3",
          "--format",
          format,
          "--from",
          out,
          "--out",
          target);
      assertThat(ok("table", "diff", run, target, "--table", "3"))
          .contains(": 0 added, 0 removed, 0 changed, " + json.integer("rows") + " the same");
    }
    assertThat(ok("table", "export", run, "--table", "3", "--since", run, "--out", path("changes")))
        .contains("0 rows and 0 ids that went in ");
    assertThat(ok("table", "compact", run, "--out", path("whole"))).contains("1 parts in ");
    assertThat(ok("table", "diff", run, path("whole"), "--json").lines().count()).isEqualTo(26);
  }

  @Test
  void valuesAndNamedWeightsAreExportedAndImported() throws IOException {
    ok("table", "export", run, "--table", "3", "--values", "--out", path("values.tsv"));
    List<String> lines = Files.readAllLines(folder.resolve("values.tsv"));
    assertThat(lines.getFirst()).isEqualTo("id\tvalue\tweight\tv0\tv1\tv2\tv3");
    String[] fields = lines.get(1).split("\t");
    assertThat(fields[1]).isEqualTo(fields[0]); // the id is the value
    ok("table", "import", run, "--table", "3", "--from", path("values.tsv"), "--out", path("in"));
    assertThat(ok("table", "diff", run, path("in"), "--table", "3"))
        .contains(": 0 added, 0 removed, 0 changed, ");
    for (String[] other : new String[][] {{"--format", "hugectr"}, {"--since", run}}) {
      MainTest.Result refused =
          tern(
              "table",
              "export",
              run,
              "--table",
              "3",
              "--values",
              other[0],
              other[1],
              "--out",
              path("no"));
      assertThat(refused.code()).isEqualTo(2);
      assertThat(refused.err()).contains("--values: got ", "expected text of a whole table");
    }
  }

  @Test
  void bucketsOfIdsWithoutARowAreCountedAndComeAlong() {
    run = path("hashed");
    String config = path("config.yaml");
    List<String> command = new ArrayList<>(List.of("train", config));
    for (String set :
        List.of(
            "run.dir=" + run,
            "model.unknown=hash",
            "model.unknown_buckets=1500",
            "model.when_full=unknown",
            "model.eviction.type=never")) {
      command.addAll(List.of("--set", set));
    }
    ok(command.toArray(String[]::new));
    ok("table", "shard", run, "--shards", "2", "--out", path("two"));
    ok("table", "export", path("two"), "--table", "3", "--out", path("rows"));
    ok("table", "import", run, "--table", "3", "--from", path("rows"), "--out", path("imported"));
    for (String from : List.of(run, path("two"), path("imported"))) {
      assertThat(ok("table", "inspect", from, "--table", "3"))
          .contains("1,500 buckets for ids without a row");
      Json.Obj json =
          Json.parseObject(ok("table", "inspect", from, "--table", "3", "--json"), "inspect");
      assertThat(json.integer("buckets")).isEqualTo(1500);
    }
  }

  @Test
  void theLayoutOfRecordsOfHugeCtrMayBeNamed() throws IOException {
    // As many bytes as 7 records of 4 + 20 bytes have 6 of 8 + 20.
    byte[] records = new byte[168];
    for (int i = 0; i < 6; i++) {
      records[28 * i] = (byte) (i + 1);
    }
    Files.write(folder.resolve("sparse.model"), records);
    List<String> arguments =
        List.of(
            "table",
            "import",
            run,
            "--table",
            "3",
            "--format",
            "hugectr",
            "--from",
            path("sparse.model"),
            "--out",
            path("imported"));
    MainTest.Result open = tern(arguments.toArray(new String[0]));
    assertThat(open.code()).isNotZero();
    assertThat(open.err()).contains("not u32 (24 bytes) or i64 (28 bytes); name the layout");
    List<String> named = new ArrayList<>(arguments);
    named.addAll(List.of("--record", "i64"));
    assertThat(ok(named.toArray(new String[0]))).contains("6 rows, checkpoint ");
  }

  @Test
  void tablesAreSplitIntoShardsAndMerged() throws IOException {
    ok("table", "compact", run, "--out", path("plain"));
    assertThat(ok("table", "shard", run, "--shards", "4", "--out", path("four")))
        .contains("4 files a table in ");
    assertThat(Files.exists(folder.resolve("four/tables/25.3.safetensors"))).isTrue();
    ok("table", "shard", path("four"), "--shards", "1", "--out", path("merged"));
    for (String name : List.of("manifest.json", "tables/0.safetensors", "tables/25.safetensors")) {
      assertThat(folder.resolve("merged").resolve(name))
          .hasSameBinaryContentAs(folder.resolve("plain").resolve(name));
    }
    MainTest.Result odd = tern("table", "shard", run, "--shards", "3", "--out", path("odd"));
    assertThat(odd.code()).isEqualTo(2);
    assertThat(odd.err()).contains("--shards: got 3, expected a power of two");
    assertThat(Files.exists(folder.resolve("odd"))).isFalse();
  }

  @Test
  void aTableThatIsNotThereAndOneNotNamedAreErrorsOfUsage() {
    MainTest.Result unknown = tern("table", "inspect", run, "--table", "nobody");
    assertThat(unknown.code()).isEqualTo(2);
    assertThat(unknown.err()).contains("--table: got nobody, expected one of [");
    MainTest.Result unnamed = tern("table", "export", run, "--out", path("x"));
    assertThat(unnamed.code()).isEqualTo(2);
    assertThat(unnamed.err()).contains("name the table");
  }
}
