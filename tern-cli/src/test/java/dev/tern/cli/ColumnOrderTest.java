package dev.tern.cli;

import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.cli.MainTest.Result;
import dev.tern.predict.Predictor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Columns are found by name: their order in files changes no bit of a run and of its scores. */
final class ColumnOrderTest {
  private static final List<String> COLUMNS =
      List.of("click", "age", "price", "user", "item", "kind", "items", "kinds", "tags");
  private static final String SLOTS =
      """
          - {columns: [user, item]}
          - {columns: [kind]}
          - {columns: [tags], separator: "|"}
          - {columns: [items], separator: "|", table: item, sequence: {max_length: 4, name: seen}}
          - {columns: [kinds], separator: "|", table: kind, sequence: {max_length: 4, name: seen}}
      """;

  @TempDir Path folder;

  /** Rows by column name. */
  private final List<Map<String, String>> rows = new ArrayList<>();

  @BeforeEach
  void draw() {
    Random random = new Random(1);
    for (int i = 0; i < 400; i++) {
      Map<String, String> row = new HashMap<>();
      int item = random.nextInt(9);
      int length = random.nextInt(7);
      row.put("click", Integer.toString(random.nextInt(2)));
      row.put("age", i % 9 == 0 ? "" : Float.toString(random.nextFloat()));
      row.put("price", Integer.toString(random.nextInt(100)));
      row.put("user", "u" + random.nextInt(20));
      row.put("item", "i" + item);
      row.put("kind", "k" + item % 3);
      row.put("items", joined(length, random, "i"));
      row.put("kinds", joined(length, random, "k"));
      row.put("tags", joined(random.nextInt(3), random, "t"));
      rows.add(row);
    }
  }

  private static String joined(int count, Random random, String name) {
    List<String> values = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      values.add(name + random.nextInt(9));
    }
    return String.join("|", values);
  }

  private Path csv(String name, List<String> columns) throws IOException {
    StringBuilder text = new StringBuilder(String.join(",", columns)).append('\n');
    for (Map<String, String> row : rows) {
      text.append(String.join(",", columns.stream().map(row::get).toList())).append('\n');
    }
    return Files.writeString(folder.resolve(name + ".csv"), text);
  }

  private Path config(String name, String format, Path data, List<String> numbers, String type)
      throws IOException {
    return Files.writeString(
        folder.resolve(name + ".yaml"),
        """
        data:
          format: %s
          train: %s
          label: {column: click}
          dense: {columns: %s}
          sparse:
        %s
        model: {type: %s, embedding: 4, hidden: [8]}
        run: {dir: %s}
        train: {batch: 50, epochs: 2, optimizer: {type: adam, lr: 0.02}, memory: 256m, threads: 1}
        """
            .formatted(
                format, data, numbers, SLOTS.indent(2), type, folder.resolve("run-" + name)));
  }

  private static void run(String... words) {
    Result result = tern(words);
    assertThat(result.code()).as(result.out() + result.err()).isZero();
  }

  private Path trained(String name, String format, Path data, String type) throws IOException {
    run("train", config(name, format, data, List.of("age", "price"), type).toString());
    return folder.resolve("run-" + name);
  }

  private List<String> scores(Path run, Path data) throws IOException {
    Path out = folder.resolve("scores-" + run.getFileName() + data.getFileName() + ".csv");
    String format = data.toString().replaceAll(".*\\.", "data.format=");
    run("predict", run.toString(), data.toString(), "--out", out.toString(), "--set", format);
    return Files.readAllLines(out);
  }

  private static Map<String, String> weights(Path run) throws IOException {
    Map<String, String> weights = new HashMap<>();
    try (Stream<Path> files = Files.walk(run.resolve("checkpoints"))) {
      for (Path file : files.filter(f -> f.toString().endsWith(".safetensors")).toList()) {
        byte[] bytes = Files.readAllBytes(file);
        weights.put(run.relativize(file).toString(), Integer.toString(Arrays.hashCode(bytes)));
      }
    }
    assertThat(weights).hasSizeGreaterThan(4);
    return weights;
  }

  @ParameterizedTest
  @CsvSource({"din, 3", "deepfm, 5", "mmoe, 7"})
  void theOrderOfColumnsInFilesChangesNoBit(String type, int seed) throws IOException {
    List<String> other = new ArrayList<>(COLUMNS);
    Collections.shuffle(other, new Random(seed));
    Path first = csv("first", COLUMNS);
    Path second = csv("second", other);
    Path run = trained("first", "csv", first, type);
    Path again = trained("second", "csv", second, type);
    assertThat(weights(again)).isEqualTo(weights(run));
    List<String> scores = scores(run, first);
    assertThat(scores).hasSize(rows.size() + 1);
    assertThat(scores(run, second)).isEqualTo(scores);
    Path parquet = converted(first, "converted", List.of("age", "price"), type);
    Path turned = converted(second, "turned", List.of("price", "age"), type);
    Path fromParquet = trained("third", "parquet", parquet, type);
    Path fromTurned = trained("fourth", "parquet", turned, type);
    assertThat(weights(fromTurned)).isEqualTo(weights(fromParquet));
    List<String> ofParquet = scores(fromParquet, parquet);
    assertThat(ofParquet).hasSize(rows.size() + 1);
    assertThat(scores(fromParquet, turned)).isEqualTo(ofParquet);
    try (Predictor predictor = Predictor.open(run)) {
      for (int i = 0; i < 20; i++) {
        Map<String, String> row = new LinkedHashMap<>();
        for (String column : i % 2 == 0 ? COLUMNS : other) {
          row.put(column, rows.get(i).get(column));
        }
        Map<String, Object> typed = new LinkedHashMap<>(row);
        typed.remove("click");
        for (String number : List.of("age", "price")) {
          if (row.get(number).isEmpty()) {
            typed.remove(number);
          } else {
            typed.put(number, Float.parseFloat(row.get(number)));
          }
        }
        assertThat(Float.toString(predictor.score(typed))).isEqualTo(scores.get(i + 1));
      }
    }
  }

  /** The rows as Parquet, whose columns come in the order of the configuration. */
  private Path converted(Path data, String name, List<String> numbers, String type)
      throws IOException {
    Path config = config(name, "csv", data, numbers, type);
    Path out = folder.resolve(name + ".parquet");
    run("data", "convert", data.toString(), "--config", config.toString(), "--out", out.toString());
    return out;
  }
}
