package dev.tern.cli.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How files are read, kept as JSON. */
final class ReadingKeysTest {
  private static Config config(String data) {
    return Config.parse(
        "data: " + data + "\nmodel: {type: fm}\nrun: {dir: r}\n", "c.yaml", List.of());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{format: csv, train: a.csv, delimiter: tab, trim: false, quotes: false, escapes:"
            + " backslash, skip_lines: 3, comment: '#', encoding: latin-1, missing_values: [NA,"
            + " \"\\\\N\", ''], columns: [y, a, b], label: {column: y, positive: [\"1\","
            + " \"y\\u0001\"]}, dense: {columns: [a]}, sparse: [{columns: [b], separator:"
            + " \"||\"}]}",
        "{format: csv, train: a.csv, delimiter: '\\u0001', dense: [{columns: [a], transform: none},"
            + " {columns: [b], transform: log1p}], sparse: [{columns: [c]}, {columns: [d], encode:"
            + " id}, {columns: [e], values: unsigned, encode: hash}]}",
        "{format: parquet, train: a, label: {column: y}, largest_page: 1g}",
        "{format: libsvm, train: a, unnamed: skip, id_values: weight, dense: {columns: ['7']}}",
        "{format: libffm, train: a, sparse: {columns: ['0', '1']}, id_values: ignore}",
        "{format: norm, train: a, key_type: i64, sparse: {hotness: 3, columns: [C1..C3]}}",
        "{format: raw, train: a, label_type: int, dense_type: int-log, dense: {columns: [I1..I2]}}",
        "{format: criteo-synthetic, rows: 5}"
      })
  void whatIsKeptReadsTheFilesInTheSameWay(String data) {
    Config config = config(data);
    DataConfig saved = DataConfig.saved(config.reading(), "encoders.json", List.of());
    assertThat(reading(saved)).isEqualTo(reading(config.data()));
    assertThat(config.reading()).doesNotContain("a.csv");
  }

  /** What says how files are read. */
  private static List<Object> reading(DataConfig data) {
    return List.of(
        data.format(),
        data.text(),
        data.csv(),
        data.libsvm(),
        data.binary(),
        data.parquet(),
        data.labels(),
        data.positive(),
        data.missing(),
        data.dense().stream().map(DataConfig.Dense::columns).toList(),
        data.sparse().stream()
            .map(g -> List.of(g.columns(), g.values(), g.separator(), g.hotness()))
            .toList());
  }

  @Test
  void overridesMayNameAnotherFormat() {
    String reading =
        config("{format: csv, train: a, delimiter: tab, sparse: {columns: [b], separator: '|'}}")
            .reading();
    DataConfig parquet = DataConfig.saved(reading, "e.json", List.of("data.format=parquet"));
    assertThat(parquet.format()).isEqualTo("parquet");
    assertThat(parquet.sparse().getFirst().separator()).isEqualTo("|");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"format\":\"csv\",\"new_key\":1}",
        "{\"format\":\"csv\",\"train\":\"a.csv\"}",
        "{\"format\":\"csv\",\"sparse\":[{\"columns\":[\"a\"],\"new\":true}]}",
        "{\"format\":\"csv\",\"dense\":5}"
      })
  void keysOfALaterVersionAreNamed(String json) {
    assertThatThrownBy(() -> DataConfig.saved(json, "e.json", List.of()))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("e.json: got data.")
        .hasMessageContaining("which this version of Tern does not know");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "[]",
        "{",
        "{\"format\":7}",
        "{\"format\":null}",
        "{\"format\":\"csv\",\"trim\":\"maybe\"}",
        "{\"format\":\"csv\",\"delimiter\":{\"a\":1}}",
        "{\"format\":\"csv\",\"sparse\":[7]}"
      })
  void whatIsNoReadingIsAnError(String json) {
    assertThatThrownBy(() -> DataConfig.saved(json, "e.json", List.of()))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("e.json");
  }
}
