package dev.tern.cli;

import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.cli.MainTest.Result;
import dev.tern.data.encode.TextHash;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class DataCommandTest {
  private static final String LABEL = "data.label.column=y";
  private static final String DENSE = "data.dense.columns=a";
  private static final String SPARSE = "data.sparse.columns=c";

  @TempDir Path temp;
  private Path csv = Path.of("");

  @BeforeEach
  void writeRows() throws IOException {
    csv = temp.resolve("rows.csv");
    Files.writeString(csv, "y,a,c\n1,0.5,red\n0,,blue\n0,2,red\n");
  }

  private Result convert(Path from, Path to, String... more) {
    return tern(arguments("convert", from, more, "--out", to.toString()));
  }

  /** A command on the columns of {@code rows.csv}. */
  static String[] arguments(String command, Path from, String[] more, String... last) {
    List<String> all = new ArrayList<>(List.of("data", command, from.toString()));
    for (String key : new String[] {LABEL, DENSE, SPARSE}) {
      all.add("--set");
      all.add(key);
    }
    all.addAll(List.of(more));
    all.addAll(List.of(last));
    return all.toArray(String[]::new);
  }

  @Test
  void encodedRowsAreTheSameAfterNormRawAndParquet() throws IOException {
    Path plain = temp.resolve("plain.csv");
    String[] untouched = {"--encode", "--set", "data.dense.transform=none"};
    assertThat(convert(csv, plain, untouched).out()).contains("wrote 3 rows");
    String[] ids = {"--set", "data.sparse.encode=id"};
    Path norm = temp.resolve("rows.norm");
    String[] small = {"--encode", "--set", "data.dense.transform=none", "--keys", "u32"};
    assertThat(convert(csv, norm, small).code()).isZero();
    Path raw = temp.resolve("rows.raw");
    assertThat(convert(norm, raw, "--keys", "u32").code()).isZero();
    Path parquet = temp.resolve("rows.parquet");
    assertThat(convert(raw, parquet, "--set", "data.key_type=u32").code()).isZero();
    Path back = temp.resolve("back.csv");
    assertThat(convert(parquet, back, ids).code()).isZero();
    assertThat(Files.readString(back))
        .isEqualTo(Files.readString(plain))
        .contains("y,a,c", "1,0.5,1");
  }

  @Test
  void inspectPrintsEveryColumn() {
    Result result = tern(arguments("inspect", csv, new String[0]));
    assertThat(result.err()).isEmpty();
    assertThat(result.out())
        .contains("1 labels, 1 dense, 1 sparse")
        .containsPattern("a +1.25000 +0.5.* 1\n");
    assertThat(result.out()).containsPattern("c +1.00 +1 +2 +0 ").doesNotContain("row 1:");
  }

  @Test
  void inspectPrintsAPageOfRows() throws IOException {
    Files.writeString(csv, "y,a,c\n1,0.5,7\n0,,\n0,2,9\n");
    String[] more = {"--page", "2", "--rows", "3", "--set", "data.sparse.encode=id"};
    Result result = tern(arguments("inspect", csv, more));
    assertThat(result.out())
        .endsWith("row 1: y=1 a=0.5 c=[7]\nrow 2: y=0 a=missing c=[]\n")
        .containsPattern("c +0.67 +1 +2 +1 +7 +9\n");
  }

  @Test
  void verifyCountsFaultsAndExitsWith1() throws IOException {
    assertThat(tern(arguments("verify", csv, new String[0])).code()).isZero();
    Files.writeString(csv, "y,a,c\n1,x,red\n0,1,blue\n7,2,red\n");
    Result result = tern(arguments("verify", csv, new String[0]));
    assertThat(result.code()).isEqualTo(1);
    assertThat(result.out()).isEqualTo("1 good rows, 2 faults\n");
    assertThat(result.err().lines()).hasSize(2).allMatch(line -> line.startsWith(csv.toString()));
  }

  @Test
  void badRecordsAreLeftOutUpToALimitWhereTheConfigurationSaysSo() throws IOException {
    Files.writeString(csv, "y,a,c\n1,x,red\n0,1,blue\n7,2,red\n");
    Path norm = temp.resolve("rows.norm");
    String[] skip = {"--set", "data.bad_records=skip"};
    Result result = convert(csv, norm, skip);
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.out()).contains("wrote 1 rows, ", " a second");
    assertThat(result.err())
        .contains("left out 2 rows for 2 faults, the first: " + csv + ": line 2");
    Result encoded = convert(csv, norm, skip[0], skip[1], "--encode", "--overwrite");
    assertThat(encoded.err()).contains("left out 2 rows for 2 faults");
    Result stopped =
        convert(csv, norm, skip[0], skip[1], "--set", "data.most_bad=1", "--overwrite");
    assertThat(stopped.code()).isEqualTo(1);
    assertThat(stopped.err()).contains(csv + ": line 4", "more than 1 bad records");
    assertThat(convert(csv, norm, "--overwrite").code()).isEqualTo(1);
  }

  @Test
  void inspectingSaysHowManyBadRecordsWereLeftOut() throws IOException {
    Files.writeString(csv, "y,a,c\n1,x,red\n0,1,blue\n7,2,red\n0,3,red\n");
    String[] skip = {"--set", "data.bad_records=skip"};
    String note = "left out 2 rows for 2 faults, the first: " + csv + ": line 2";
    Result inspected = tern(arguments("inspect", csv, skip, "--page", "2"));
    assertThat(inspected.out()).contains("of the first 2 rows").contains("row 2:");
    assertThat(inspected.err()).containsOnlyOnce("left out").contains(note);
    assertThat(tern(arguments("inspect", csv, new String[0])).code()).isEqualTo(1);
  }

  @Test
  void criteosFilesAsPublishedComeBackEqualFromParquetAndNorm() throws IOException {
    Path tsv = temp.resolve("train.txt.gz");
    List<String> lines = new ArrayList<>();
    for (int row = 0; row < 50; row++) {
      StringBuilder line = new StringBuilder().append(row % 2);
      for (int i = 1; i <= 13; i++) {
        line.append('\t').append((row + i) % 5 == 0 ? "" : Integer.toString(row * i - 3));
      }
      for (int c = 1; c <= 26; c++) {
        line.append('\t').append((row + c) % 7 == 0 ? "" : "%08x".formatted(row * 7919 + c));
      }
      lines.add(line.append('\n').toString());
    }
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(tsv))) {
      out.write(String.join("", lines).getBytes(StandardCharsets.UTF_8));
    }
    String columns = "label,I1..I13,C1..C26";
    List<String> texts = new ArrayList<>();
    for (String name : List.of("criteo.parquet", "criteo.norm", "criteo.csv")) {
      Path file = temp.resolve(name);
      Result written = tern(criteo(tsv, file, "delimiter=tab", "columns=" + columns));
      assertThat(written.code()).as(written.err()).isZero();
      assertThat(written.out()).containsPattern("wrote 50 rows, .* a second");
      Path back = temp.resolve(name + ".back.csv");
      Result read = tern(criteo(file, back, "sparse.encode=id"));
      assertThat(read.code()).as(read.err()).isZero();
      texts.add(Files.readString(back));
    }
    List<String> back = texts.getFirst().lines().toList();
    assertThat(back).hasSize(51);
    for (int row = 0; row < 50; row++) {
      String[] published = lines.get(row).replace("\n", "").split("\t", -1);
      String[] cells = back.get(row + 1).split(",", -1);
      for (int i = 0; i <= 13; i++) {
        String number = cells[i].isEmpty() ? "" : "" + (int) Float.parseFloat(cells[i]);
        assertThat(number).isEqualTo(published[i]);
      }
      for (int c = 14; c < 40; c++) {
        assertThat(Long.parseLong(cells[c])).isEqualTo(TextHash.of(published[c]));
      }
    }
    assertThat(texts).containsOnly(texts.getFirst());
  }

  private static String[] criteo(Path from, Path to, String... more) {
    List<String> all = new ArrayList<>(List.of("data", "convert", from.toString()));
    all.addAll(List.of("--out", to.toString(), "--set", "data.dense.columns=I1..I13"));
    all.addAll(List.of("--set", "data.sparse.columns=C1..C26"));
    if (from.toString().endsWith(".txt.gz")) {
      all.addAll(List.of("--format", "csv"));
    }
    for (String key : more) {
      all.addAll(List.of("--set", "data." + key));
    }
    return all.toArray(String[]::new);
  }

  @Test
  void aFullDiskEndsAConversionWithAnErrorAndLeavesNoFile() throws Exception {
    StringBuilder rows = new StringBuilder("y,a,c\n");
    for (int i = 0; i < 60_000; i++) {
      rows.append("0,").append(i).append(",k\n");
    }
    Files.writeString(csv, rows);
    List<String> command = new ArrayList<>();
    // A limit on the size of files stands for a disk that is full.
    command.addAll(List.of("sh", "-c", "ulimit -f 512 && exec \"$@\"", "sh"));
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx256m", "-XX:-UsePerfData"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
    Path norm = temp.resolve("rows.norm");
    command.addAll(List.of(arguments("convert", csv, new String[0], "--out", norm.toString())));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isEqualTo(1);
    assertThat(output)
        .contains(norm + ": got an error writing at byte", "expected room on the disk");
    try (Stream<Path> files = Files.list(temp)) {
      assertThat(files).containsExactly(csv);
    }
  }

  @Test
  void aFailedConversionLeavesNoFile() throws IOException {
    Files.writeString(csv, "y,a,c\n1,x,red\n");
    Path norm = temp.resolve("rows.norm");
    Result result = convert(csv, norm);
    assertThat(result.code()).isEqualTo(1);
    assertThat(result.err()).contains(csv.toString()).doesNotContain("\tat ");
    try (Stream<Path> files = Files.list(temp)) {
      assertThat(files).containsExactly(csv);
    }
  }

  @Test
  void aFileThatIsThereIsReplacedOnlyWhereAsked() throws IOException {
    Path norm = temp.resolve("rows.norm");
    Files.writeString(norm, "mine");
    Result refused = convert(csv, norm);
    assertThat(refused.code()).isEqualTo(2);
    assertThat(refused.err()).contains(norm + ": got a file that is there already", "--overwrite");
    assertThat(norm).hasContent("mine");
    assertThat(convert(csv, norm, "--overwrite").code()).isZero();
    assertThat(Files.size(norm)).isGreaterThan(16);
  }

  @Test
  void generatedRowsStandBesideTheBestThatCanBeReached() throws IOException {
    Path norm = temp.resolve("new/rows.norm");
    String[] command = {
      "data",
      "generate",
      "--like",
      "criteo",
      "--rows",
      "300",
      "--seed",
      "5",
      "--scale",
      "0.01",
      "--keys",
      "u32",
      "--check",
      "none",
      "--out",
      norm.toString()
    };
    Result result = tern(command);
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.out()).contains("rows.norm: wrote 300 rows", "best reachable AUC 0.");
    assertThat(Files.readString(temp.resolve("new/rows.norm.optimum.json")))
        .contains("\"rows\" : 300", "\"auc\" : 0.");
    assertThat(tern("data", "verify", norm.toString()).out()).contains("300 good rows, 0 faults");
    assertThat(tern(command).err()).contains("rows.norm: got a file that is there already");
  }

  @Test
  void aGeneratedFolderHoldsAConfigurationThatTrainsOnIt() throws IOException {
    Path folder = temp.resolve("set");
    Result result =
        tern(
            "data",
            "generate",
            "--rows",
            "2000",
            "--eval-rows",
            "500",
            "--scale",
            "0.001",
            "--format",
            "parquet",
            "--out",
            folder.toString());
    assertThat(result.code()).as(result.err()).isZero();
    Result trained =
        tern(
            "train",
            folder.resolve("train.yaml").toString(),
            "--set",
            "model.hidden=8",
            "--set",
            "model.embedding=4",
            "--set",
            "train.memory=64m");
    assertThat(trained.code()).as(trained.err()).isZero();
    assertThat(trained.out()).contains("best AUC");
    assertThat(folder.resolve("run/report.html")).exists();
  }

  @Test
  void relatedTasksAreOfTaobaoAlone() {
    String out = temp.resolve("r.csv").toString();
    Result criteo = tern("data", "generate", "--rows", "5", "--affinity", "1", "--out", out);
    assertThat(criteo.code()).isEqualTo(2);
    assertThat(criteo.err()).contains("--affinity: got 1.0 with --like criteo");
    String[] far = {
      "data", "generate", "--like", "taobao", "--rows", "5", "--affinity", "11", "--out", out
    };
    assertThat(tern(far).err()).contains("--affinity: got 11.0, expected 0 to 10");
    far[7] = "0.5";
    assertThat(tern(far).out()).contains("click: 0.", "buy: ", "best reachable AUC");
  }

  @Test
  void aFailedGenerationLeavesNothing() throws IOException {
    Path folder = temp.resolve("a/b");
    Files.createDirectories(folder.resolve("eval.norm.optimum.json"));
    Result result =
        tern(
            "data",
            "generate",
            "--rows",
            "20",
            "--eval-rows",
            "5",
            "--format",
            "norm",
            "--overwrite",
            "--out",
            folder.toString());
    assertThat(result.code()).isEqualTo(1);
    assertThat(result.err()).contains("eval.norm.optimum.json: got a folder or device");
    try (Stream<Path> left = Files.list(folder)) {
      assertThat(left).containsExactly(folder.resolve("eval.norm.optimum.json"));
    }
    Path blocked = Files.writeString(temp.resolve("file"), "");
    Result refused =
        tern("data", "generate", "--rows", "5", "--out", blocked.resolve("x/r.csv").toString());
    assertThat(refused.code()).isEqualTo(1);
    assertThat(refused.err()).contains("r.csv: got an error creating it").doesNotContain("java.");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --rows 0                          | --rows: got 0, expected a whole number from 1 to
          --rows 1x                         | got 1x, expected a whole number
          --rows 5 --scale 0                | --scale: got 0.0, expected 0.000001 to 100
          --rows 5 --like movielens         | --like: got movielens, expected criteo
          --rows 5 --eval-rows 5            | expected a folder for two files
          --rows 5 --keys i32 --format norm | --keys: got i32 for Norm, expected u32 or i64
          --rows 5 --check crc              | --check: got crc, expected one of none, sum
          --rows 5 --format arrow           | got the format arrow, expected csv, libsvm, libffm, norm, raw or
          """)
  void wrongArgumentsOfGenerateAreRefused(String arguments, String message) throws IOException {
    List<String> all = new ArrayList<>(List.of("data", "generate"));
    all.addAll(List.of(arguments.split(" +")));
    all.addAll(List.of("--out", temp.resolve("out.csv").toString()));
    Result result = tern(all.toArray(String[]::new));
    assertThat(result.code()).isEqualTo(2);
    assertThat(result.err()).contains(message).doesNotContain("\tat ");
    try (Stream<Path> files = Files.list(temp)) {
      assertThat(files).containsExactly(csv);
    }
  }

  @Test
  void anUnknownFormatIsRefused() {
    assertThat(tern("data", "inspect", "x.bin").err())
        .contains("x.bin: got a name that tells no format");
    assertThat(convert(csv, temp.resolve("x.bin")).code()).isEqualTo(2);
    assertThat(convert(csv, temp.resolve("x.norm"), "--keys", "u16").err())
        .contains("--keys: got u16, expected one of u32, i32, i64");
  }

  @Test
  void allHugeCtrFilesThatAreNamedAreRead() throws IOException {
    Path one = temp.resolve("one/rows.parquet");
    Path two = temp.resolve("two/rows.parquet");
    assertThat(convert(csv, one, "--encode", "--hugectr").code()).isZero();
    assertThat(convert(csv, two, "--encode", "--hugectr").code()).isZero();
    String[] both = {"data", "verify", one.toString(), two.getParent() + "", "--format", "parquet"};
    assertThat(tern(both).out()).isEqualTo("6 good rows, 0 faults\n");
    Path out = temp.resolve("both.norm");
    Result result =
        tern("data", "convert", one.toString(), two.toString(), "--out", out.toString());
    assertThat(result.out()).contains("wrote 6 rows");
    assertThat(tern("data", "inspect", one.toString(), two.toString()).out())
        .contains("parquet, 6 rows");
    Result absent = tern("data", "verify", one.toString(), temp.resolve("no.parquet").toString());
    assertThat(absent.code()).isEqualTo(1);
    assertThat(absent.out()).contains(" good rows, 1 faults");
    assertThat(absent.err()).contains("no.parquet: got no such file");
  }

  @Test
  void aFileNamedTwiceIsRefused() {
    Result twice = tern(arguments("inspect", csv, new String[0], csv.toString()));
    assertThat(twice.code()).isEqualTo(1);
    assertThat(twice.err()).contains("rows.csv: got the file twice, expected each once");
  }

  @Test
  void aPatternThatMatchesAFolderAndItsFilesReadsEachOnce() throws IOException {
    Path deep = Files.createDirectories(temp.resolve("parts/deep"));
    Files.copy(csv, deep.resolve("a.csv"));
    Path pattern = temp.resolve("parts/**/*");
    Result once = tern(arguments("verify", deep.resolve("a.csv"), new String[0]));
    Result all = tern(arguments("verify", pattern, new String[0]));
    assertThat(all.err()).isEmpty();
    assertThat(all.out()).isEqualTo(once.out()).contains("good rows");
  }

  @Test
  void oneUnreadableFileIsOneFault() throws IOException {
    for (String name : List.of("rows.norm", "rows.parquet", "rows.csv")) {
      Path file = Files.writeString(temp.resolve(name), "");
      Result result = tern(arguments("verify", file, new String[0]));
      assertThat(result.out())
          .as(result.err())
          .isEqualTo("0 good rows, 1 faults (rows left out: unknown)\n");
      assertThat(result.err()).startsWith(file.toString());
    }
  }

  @Test
  void inspectWithoutNamesListsTheColumns() throws IOException {
    Path parquet = temp.resolve("rows.parquet");
    assertThat(convert(csv, parquet, "--encode").code()).isZero();
    Result text = tern("data", "inspect", csv.toString());
    assertThat(text.code()).as(text.err()).isZero();
    assertThat(text.out())
        .containsPattern("csv, 3 columns:\n\ncolumn +first row\ny +1\na +0.5\nc +red\n")
        .contains("--set data.label.column=NAME");
    Result typed = tern("data", "inspect", parquet.toString());
    assertThat(typed.code()).as(typed.err()).isZero();
    assertThat(typed.out())
        .containsPattern("parquet, 3 columns:\n\ncolumn +type\ny +FLOAT\na +FLOAT\nc +INT64\n")
        .contains("--set data.sparse.columns=NAME");
    for (Path file : List.of(csv, parquet)) {
      for (String command : List.of("verify", "convert")) {
        List<String> all = new ArrayList<>(List.of("data", command, file.toString()));
        all.addAll(command.equals("convert") ? List.of("--out", temp + "/o.norm") : List.of());
        Result result = tern(all.toArray(String[]::new));
        assertThat(result.code()).isEqualTo(2);
        assertThat(result.err())
            .contains(file + ": got columns [y, a, c] but neither data.dense.columns nor")
            .contains("name them, as in --set data.label.column=NAME");
      }
    }
    Result absent = tern("data", "inspect", temp.resolve("no.csv").toString());
    assertThat(absent.code()).isEqualTo(1);
    assertThat(absent.err()).contains("no.csv: got no such file");
  }

  @Test
  void verifyFindsNumbersThatTrainingRefuses() throws IOException {
    Files.writeString(csv, "y,a,c\n1,1,red\n0,1e39,blue\n0,inf,red\n0,,red\n");
    Result result = tern(arguments("verify", csv, new String[0]));
    assertThat(result.out()).isEqualTo("2 good rows, 2 faults\n");
    assertThat(result.err())
        .contains("rows.csv: line 3, byte 16, column a: got \"1e39\", expected a finite number")
        .contains("rows.csv: line 4, byte 28, column a: got \"inf\"");
  }
}
