package dev.tern.cli;

import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.cli.MainTest.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Ids from 2^63 to 2^64 - 1 are the numbers that they are in every format and command. */
final class UnsignedIdsTest {
  private static final List<String> IDS =
      List.of("18446744073709551615", "9223372036854775808", "7", "0");

  @TempDir private Path folder;

  @BeforeEach
  void write() throws IOException {
    StringBuilder csv = new StringBuilder("label,s\n");
    for (int i = 0; i < 40; i++) {
      csv.append(i % 3 == 0 ? 1 : 0).append(',').append(IDS.get(i % 4)).append('\n');
    }
    Files.writeString(folder.resolve("x.csv"), csv);
  }

  private Result run(List<String> command, String... settings) {
    List<String> all = new ArrayList<>(command);
    List<String> values = new ArrayList<>(List.of(settings));
    values.addAll(List.of("data.label.column=label", "data.sparse.encode=id"));
    values.forEach(value -> all.addAll(List.of("--set", value)));
    Result result = tern(all.toArray(String[]::new));
    assertThat(result.code()).as(result.err()).isZero();
    return result;
  }

  private String path(String name) {
    return folder.resolve(name).toString();
  }

  private void convert(String from, String to, String... settings) {
    run(List.of("data", "convert", path(from), "--out", path(to)), settings);
  }

  @ParameterizedTest
  @ValueSource(strings = {"y.parquet", "y.libffm", "y.libsvm", "y.csv.gz"})
  void idsComeBackFromEveryFormat(String middle) throws IOException {
    boolean text = middle.contains("csv");
    boolean fields = middle.contains("lib");
    convert("x.csv", middle, "data.sparse.columns=s", "data.sparse.values=unsigned");
    String column =
        fields
            ? "data.sparse.columns=" + (middle.endsWith("svm") ? "features" : "0")
            : "data.sparse.columns=s";
    String sign = text ? "data.sparse.values=unsigned" : "data.label.column=label";
    convert(middle, "z.csv", column, sign);
    List<String> lines = Files.readAllLines(folder.resolve("z.csv"));
    assertThat(lines).hasSize(41);
    for (int i = 0; i < 40; i++) {
      assertThat(lines.get(i + 1)).isEqualTo((i % 3 == 0 ? 1 : 0) + "," + IDS.get(i % 4));
    }
    Result inspected = run(List.of("data", "inspect", path(middle)), column, sign);
    assertThat(inspected.out()).contains("0  18446744073709551615").doesNotContain("-1");
    Result page = run(List.of("data", "inspect", path(middle), "--page", "2"), column, sign);
    assertThat(page.out()).contains("=[18446744073709551615]", "=[9223372036854775808]");
  }

  @Test
  void idsOfTablesAreWrittenAsTheDataHaveThem() throws IOException {
    Path config = folder.resolve("c.yaml");
    Files.writeString(
        config,
        """
        data: {format: csv, train: %s, label: {column: label}, sparse: {columns: [s], encode: id, values: unsigned}}
        run: {dir: %s}
        model: {type: lr}
        """
            .formatted(path("x.csv"), path("run")));
    Result trained = tern("train", config.toString());
    assertThat(trained.code()).as(trained.err()).isZero();
    Result exported =
        tern("table", "export", path("run"), "--table", "s", "--out", path("rows.txt"));
    assertThat(exported.code()).as(exported.err()).isZero();
    assertThat(Files.readAllLines(folder.resolve("rows.txt")).stream().map(l -> l.split("\t")[0]))
        .containsExactlyInAnyOrderElementsOf(IDS);
    Result values =
        tern("table", "export", path("run"), "--table", "s", "--values", "--out", path("v.txt"));
    assertThat(values.code()).as(values.err()).isZero();
    assertThat(Files.readAllLines(folder.resolve("v.txt")).stream().map(l -> l.split("\t")[1]))
        .contains("18446744073709551615");
  }

  @Test
  void aKeyThatIsTooWideIsNamedAsTheDataHaveIt() {
    Result result =
        tern(
            "data",
            "convert",
            path("x.csv"),
            "--out",
            path("y.norm"),
            "--keys",
            "u32",
            "--set",
            "data.label.column=label",
            "--set",
            "data.sparse.columns=s",
            "--set",
            "data.sparse.encode=id",
            "--set",
            "data.sparse.values=unsigned");
    assertThat(result.code()).isNotZero();
    assertThat(result.err()).contains("got id 18446744073709551615, expected one that a U32");
  }
}
