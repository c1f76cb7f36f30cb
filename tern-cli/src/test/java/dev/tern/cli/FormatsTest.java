package dev.tern.cli;

import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.cli.MainTest.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** The same rows in any format are the same training. */
final class FormatsTest {
  @TempDir private static Path temp;
  private static Path config = Path.of("");
  private static SortedMap<String, byte[]> expected = new TreeMap<>();

  @BeforeAll
  static void trainOnCsv() throws IOException {
    Path set = temp.resolve("set");
    run("data", "generate", "--rows", "3000", "--scale", "0.002", "--out", set.toString());
    config = set.resolve("train.yaml");
    expected = weights("csv", "csv", set.resolve("train.csv"), List.of());
    assertThat(expected).hasSize(2 + 26);
  }

  @TestFactory
  Stream<DynamicTest> trainsToTheSameBytes() {
    return Stream.of(
            "rows.norm --check none --keys u32",
            "rows.norm --check none --keys i64",
            "rows.norm --check sum --keys u32",
            "rows.norm --check sum --keys i64",
            "rows.raw --keys u32",
            "rows.raw --keys i32",
            "rows.raw --keys i64",
            "rows.parquet --keys u32",
            "rows.parquet --keys i64",
            "rows.parquet --hugectr",
            "rows.tsv",
            "rows.libffm",
            "rows.ffm.gz")
        .map(form -> DynamicTest.dynamicTest(form, () -> trainsToTheSameBytes(form)));
  }

  private static void trainsToTheSameBytes(String form) throws IOException {
    List<String> words = List.of(form.split(" "));
    String name = form.replace(" ", "");
    Path file = temp.resolve(name).resolve(words.getFirst());
    List<String> convert = new ArrayList<>(List.of("data", "convert"));
    convert.add(temp.resolve("set/train.csv").toString());
    convert.addAll(List.of("--config", config.toString(), "--out", file.toString()));
    convert.addAll(words.subList(1, words.size()));
    run(convert.toArray(String[]::new));

    String format = words.getFirst().replaceAll("[^.]*\\.(\\w+).*", "$1").replace("tsv", "csv");
    format = format.equals("ffm") ? "libffm" : format;
    List<String> more = new ArrayList<>();
    Path data = file;
    if (format.equals("raw")) {
      more.add("data.key_type=" + words.getLast());
    } else if (words.contains("--hugectr")) {
      data = file.getParent();
      more.addAll(List.of("data.dense.columns=", "data.sparse.columns="));
    } else if (words.getFirst().endsWith(".tsv")) {
      more.add("data.delimiter=tab");
    } else if (format.equals("libffm")) {
      more.add("data.columns=I1..I13,C1..C26");
    }
    SortedMap<String, byte[]> got = weights(name, format, data, more);
    assertThat(got.keySet()).isEqualTo(expected.keySet());
    expected.forEach((path, bytes) -> assertThat(got.get(path)).as(path).isEqualTo(bytes));
  }

  /** Trains and returns the files of the last checkpoint that hold weights and their state. */
  private static SortedMap<String, byte[]> weights(
      String name, String format, Path data, List<String> more) throws IOException {
    Path run = temp.resolve("run-" + name);
    List<String> train = new ArrayList<>(List.of("train", config.toString()));
    List<String> values = new ArrayList<>(more);
    values.add("data.format=" + format);
    values.add("data.train=" + data);
    values.add("data.threads=" + (name.equals("csv") ? 1 : 2));
    values.add("run.dir=" + run);
    values.addAll(List.of("model.hidden=8", "model.embedding=4", "train.batch=256"));
    values.addAll(List.of("train.threads=2", "train.memory=64m"));
    values.forEach(value -> train.addAll(List.of("--set", value)));
    run(train.toArray(String[]::new));
    SortedMap<String, byte[]> files = new TreeMap<>();
    try (Stream<Path> all = Files.walk(run.resolve("checkpoints"))) {
      for (Path file : all.filter(f -> f.toString().endsWith(".safetensors")).toList()) {
        files.put(run.relativize(file).toString(), Files.readAllBytes(file));
      }
    }
    return files;
  }

  private static void run(String... command) {
    Result result = tern(command);
    assertThat(result.code()).as(result.err()).isZero();
  }
}
