package dev.tern.cli.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.embedding.config.Admission;
import dev.tern.embedding.config.Eviction;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.WhenFull;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which ids have rows, where single tables have rules of their own. */
final class TableRulesTest {
  private static Config census(String... overrides) {
    return Config.parse(ConfigTest.CENSUS, "census.yaml", List.of(overrides));
  }

  @Test
  void tablesHaveRulesOfTheirOwnWhichAreReadAndWrittenBack() {
    String tables =
        """
          tables:
            - columns: [education]
              admission: {type: count, count: 4}
              eviction: {type: least-recent}
              max_rows: 90
            - {columns: workclass, max_rows: 7, when_full: unknown}
        """;
    String yaml =
        ConfigTest.CENSUS.replace(
            "model: {type: deepfm, embedding: 16, hidden: [128, 64], dropout: 0.1}\n",
            "model:\n  type: deepfm\n  max_rows: 1000\n" + tables);
    Config config = Config.parse(yaml, "census.yaml", List.of());
    RowPolicy counted = RowPolicy.ALL.withAdmission(new Admission.ByCount(4, 1_000_000));
    assertThat(config.train().options().tables().rows().maxRows()).isEqualTo(1000);
    assertThat(config.train().options().tables().rowsOf())
        .containsEntry(
            "education",
            counted.withMaxRows(90, WhenFull.ERROR).withRoomMadeBy(new Eviction.LeastRecent(), 90))
        .containsEntry("workclass", RowPolicy.ALL.withMaxRows(7, WhenFull.UNKNOWN))
        .hasSize(2);
    assertThat(Config.parse(config.yaml(), "config.yaml", List.of())).isEqualTo(config);
    Config other =
        Config.parse(yaml, "census.yaml", List.of("model.tables[1].max_rows=8", "train.epochs=1"));
    assertThat(other.train().options().tables().rowsOf().get("workclass"))
        .isEqualTo(RowPolicy.ALL.withMaxRows(8, WhenFull.UNKNOWN));
    assertThat(other.changesFrom(config)).containsExactly("model.tables[1].max_rows: 8, was 7");
    assertThat(
            Config.parse(yaml, "c", List.of("model.tables.max_rows=9"))
                .train()
                .options()
                .tables()
                .rowsOf())
        .allSatisfy((_, rule) -> assertThat(rule.maxRows()).isEqualTo(9));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "columns=city | model.tables.columns: got the column city, expected one of"
            + " data.sparse.columns",
        "columns=education,education | got the column education a second time, expected each column"
            + " once",
        "max_rows=5 | got no model.tables.columns, expected a list of names",
        "columns=education model.tables.eviction.type=least-recent | model.tables.eviction.type:"
            + " got least-recent without a limit, at which rows would go, expected one; add"
            + " model.tables.max_rows",
        "columns=education model.tables.eviction.steps=3 | got model.tables.eviction.steps,"
            + " expected it only where",
        "columns=education model.tables.eviction.type=unseen train.table_memory=1g"
            + " train.optimizer.lazy=true | got a limit with rows that go in the table of"
            + " education",
        "columns=education model.unknown=hash | expected ids without",
        "columns=education data.sparse.table=workclass | which uses the table of workclass; name"
            + " that one"
      })
  void rulesOfATableAreRefusedWhereTheyMakeNoSense(String keys, String message) {
    String[] overrides = ("model.tables." + keys).split(" ");
    assertThatThrownBy(() -> census(overrides))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining(message);
  }

  @Test
  void idsThatOneTableLeavesWithoutRowsMayHaveBuckets() {
    Config config =
        census(
            "model.tables.columns=education",
            "model.tables.admission.type=count",
            "model.unknown=hash");
    assertThat(config.train().keepsAllRows()).isFalse();
    assertThat(census("model.tables.columns=education").train().keepsAllRows()).isTrue();
  }
}
