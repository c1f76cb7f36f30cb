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
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code tern data inspect} with {@code --values} and {@code --against}. */
final class InspectFactsTest {
  @TempDir Path temp;
  private Path first = Path.of("");
  private Path later = Path.of("");

  @BeforeEach
  void write() throws IOException {
    StringBuilder text = new StringBuilder("y,a,city,tags\n");
    StringBuilder other = new StringBuilder("y,a,city,tags\n");
    for (int i = 0; i < 1000; i++) {
      String city = i % 10 < 6 ? "Oslo" : i % 10 < 9 ? "Bergen" : "";
      int label = city.equals("Oslo") ? i % 4 == 0 ? 1 : 0 : i % 2;
      text.append("%d,%d,%s,%s%n".formatted(label, i % 100, city, i % 5 == 0 ? "" : "t1|t2"));
      other.append(
          "%d,%s,%s,t1%n"
              .formatted(label, i % 4 == 0 ? "" : i % 100 + 50, i % 2 == 0 ? "Oslo" : "Bodo"));
    }
    first = Files.writeString(temp.resolve("first.csv"), text);
    later = Files.writeString(temp.resolve("later.csv"), other);
  }

  private Result inspect(String... more) {
    List<String> command = new ArrayList<>(List.of("data", "inspect", first.toString()));
    for (String set :
        List.of(
            "data.label.column=y",
            "data.dense.columns=a",
            "data.sparse.columns=city,tags",
            "data.sparse.separator=|")) {
      command.addAll(List.of("--set", set));
    }
    command.addAll(List.of(more));
    return tern(command.toArray(String[]::new));
  }

  private Json.Obj line(Result result, String key, String value) {
    assertThat(result.code()).as(result.err()).isZero();
    return result
        .out()
        .lines()
        .map(line -> Json.parseObject(line, "line"))
        .filter(json -> json.text(key).equals(value))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void valuesHaveTheirCountAndTheLabelRateOfTheirRows() {
    Result result = inspect("--values", "5");
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.out())
        .contains("of the first 1,000 rows:")
        .containsPattern("\\ncity +count  rate of y, 95% interval\\n")
        .containsPattern("\\n  Oslo +600  0\\.\\d{4}, 0\\.\\d{4} to 0\\.\\d{4}\\n")
        .containsPattern("\\n  t1 +800  ");
    assertThat(inspect().out()).doesNotContain("Oslo");
  }

  @Test
  void ratesAreThoseOfAPlainCount() throws IOException {
    Json.Obj oslo = line(inspect("--values", "5", "--json"), "value", "Oslo");
    long rows;
    try (Stream<String> lines = Files.lines(first)) {
      rows = lines.filter(line -> line.startsWith("1,") && line.contains(",Oslo,")).count();
    }
    assertThat(oslo.integer("count")).isEqualTo(600);
    assertThat(oslo.number("rate")).isCloseTo(rows / 600.0, within(1e-12));
    assertThat(oslo.number("low")).isBetween(0.1, oslo.number("rate"));
    assertThat(line(inspect("--values", "1", "--json"), "value", "1 other value").text("column"))
        .isEqualTo("city");
  }

  @Test
  void columnsThatDifferMostStandFirst() {
    Result result = inspect("--against", later.toString());
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.out())
        .contains("1,000 rows beside 1,000 rows at first:")
        .containsPattern(
            "\\na +dense +\\d\\.\\d{4} +0\\.\\d{4} +\\d+\\.\\d{2}% +0.00% to 25.00%\\n");
    List<String> order =
        result
            .out()
            .lines()
            .dropWhile(line -> !line.startsWith("drift"))
            .skip(1)
            .map(line -> line.split(" ", 2)[0])
            .toList();
    assertThat(order).containsExactlyInAnyOrder("a", "city", "tags", "y").endsWith("y");
  }

  @Test
  void unseenValuesAreCounted() {
    Result result = inspect("--against", later.toString(), "--json");
    assertThat(line(result, "column", "city").number("unseen")).isCloseTo(0.5, within(1e-12));
    assertThat(line(result, "column", "tags").number("unseen")).isZero();
    // 750 numbers are there, of which 100 to 149 are beyond the first.
    assertThat(line(result, "column", "a").number("unseen")).isBetween(0.4, 0.6);
    assertThat(line(result, "column", "y").number("psi")).isLessThan(0.1);
    assertThat(line(inspect("--against", first.toString(), "--json"), "column", "a").number("psi"))
        .isZero();
  }

  @Test
  void aValueNamedMissingIsNoRowWithoutOne() throws IOException {
    String rows = "y,a,city,tags\n1,1,missing,t1\n0,2,missing,all others\n1,3,,\n";
    Files.writeString(first, rows);
    Files.writeString(later, rows);
    Result table = inspect("--against", later.toString(), "--values", "3");
    assertThat(table.out())
        .containsPattern("\\ncity .* 33.33% to 33.33%\\n")
        .containsPattern("\\n  \"missing\" +2 ")
        .containsPattern("\\n  missing +1 ");
    Json.Obj city = line(inspect("--against", later.toString(), "--json"), "column", "city");
    assertThat(city.array("bins").stream().map(bin -> bin.asObject("bin").text("kind")))
        .containsExactly("value", "missing");
  }

  @Test
  void thePageHasAPictureOfEachColumn() throws IOException {
    Path page = temp.resolve("page.html");
    Result result =
        inspect("--against", later.toString(), "--values", "3", "--html", page.toString());
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(Files.readString(page))
        .contains("PSI of each column", "<h3>city</h3>", "Bodo", "at first", "rate of y")
        .doesNotContain("<script", "http://", "https://", "NaN");
  }

  @Test
  void wrongArgumentsAreRefused() throws IOException {
    assertThat(inspect("--json").err()).contains("--json: got neither --values nor --against");
    assertThat(inspect("--values", "-1").err()).contains("--values: got -1");
    Path none = temp.resolve("none.csv");
    assertThat(inspect("--against", none.toString()).code()).isNotZero();
    Files.writeString(none, "y,a,city,tags\n");
    Result empty = inspect("--against", none.toString());
    assertThat(empty.code()).as(empty.err()).isZero();
    assertThat(empty.out()).containsPattern("\\na +dense +– +– +– +");
  }
}
