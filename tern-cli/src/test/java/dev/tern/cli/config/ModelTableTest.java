package dev.tern.cli.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.model.ModelConfig;
import dev.tern.model.ModelPart;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The table of all models in {@code docs/zoo.md} beside what models have. */
final class ModelTableTest {
  private static final Path PAGE = Path.of("../docs/zoo.md");

  /** Keys that have a letter, and their defaults, as the page says. */
  private static final Map<String, List<String>> LETTERS =
      Map.of(
          "e", List.of("embedding: 16"),
          "h", List.of("hidden: [400, 400, 400]"),
          "d", List.of("dropout: 0"),
          "s", List.of("activation: relu", "batch_norm: false"));

  private static Map<String, String[]> rows() throws IOException {
    Map<String, String[]> rows = new LinkedHashMap<>();
    for (String line : Files.readAllLines(PAGE)) {
      String[] cells = line.split(" *\\| *");
      if (cells.length == 7 && cells[1].matches("`[a-z0-9_]+`")) {
        rows.put(cells[1].replace("`", ""), cells);
      }
    }
    return rows;
  }

  @ParameterizedTest
  @EnumSource
  void everyModelHasARowWithItsKeysAndDefaults(ModelConfig.Type type) throws IOException {
    String name = type.name().toLowerCase(Locale.ROOT);
    assertThat(rows()).containsKey(name);
    String[] cells = rows().get(name);
    Set<String> stated = new TreeSet<>();
    LETTERS.forEach((letter, keys) -> {
      if (List.of(cells[4].split(" ")).contains(letter)) {
        stated.addAll(keys);
      }
    });
    Pattern.compile("`([^`]+)`").matcher(cells[5]).results().forEach(m -> stated.add(m.group(1)));
    assertThat(stated).isEqualTo(keys(name));
    List<String> takes = new ArrayList<>();
    if (type.readsSequences()) {
      takes.add("sequences");
    }
    if (type.takesTasks()) {
      takes.add("tasks");
    }
    if (type.takesWidths()) {
      takes.add("widths");
    }
    if (type.isOfPairs()) {
      takes.add("two columns");
    }
    if (type.has(ModelPart.FIELDS)) {
      takes.add("columns");
    }
    assertThat(cells[3]).isEqualTo(takes.isEmpty() ? "-" : String.join(", ", takes));
  }

  /** The keys that models of this type have and some others lack. */
  private static Set<String> keys(String type) {
    Set<String> keys = new TreeSet<>();
    for (Key<?> key : ModelKeys.all()) {
      boolean isOfType =
          key.condition()
              .filter(when -> when.path().equals(ModelKeys.MODEL.path()))
              .filter(when -> when.values().contains(type))
              .isPresent();
      if (isOfType) {
        keys.add(key.name() + ": " + key.writtenFallback().orElseThrow());
      }
    }
    return keys;
  }
}
