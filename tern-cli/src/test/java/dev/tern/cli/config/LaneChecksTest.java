package dev.tern.cli.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class LaneChecksTest {
  private static final String TOWERS =
      """
      data: {format: csv, train: rows.csv, sparse: {columns: [user, item]}}
      model: {type: twotower, item_columns: [item]}
      run: {dir: runs/towers}
      train: {batch: 64, lanes: 4}
      """;

  private static final String PAIRS =
      """
      data:
        format: csv
        train: rows.csv
        group: user
        labels: [{columns: [click], loss: bpr}]
        sparse: {columns: [user, item]}
      model: {type: fm}
      run: {dir: runs/pairs}
      train: {batch: 64, lanes: 4}
      """;

  @Test
  void lanesHaveEqualSize() {
    assertThat(ConfigTest.census("train.lanes=8").train().options().lanes()).isEqualTo(8);
    assertThatThrownBy(() -> ConfigTest.census("train.lanes=8", "train.batch=1001"))
        .isInstanceOf(ConfigException.class)
        .hasMessage(
            "--set train.lanes=8: train.lanes: got 8 lanes for batches of 1,001 rows, expected"
                + " lanes of equal size; make train.batch a multiple of 8");
    assertThatThrownBy(() -> ConfigTest.census("train.lanes=3"))
        .hasMessageContaining("expected a power of two");
  }

  @ParameterizedTest
  @CsvSource({"twotower, model twotower", "bpr, loss bpr"})
  void lossesThatCompareRowsAreRefusedBeforeFilesAreRead(String which, String what) {
    String yaml = which.equals("bpr") ? PAIRS : TOWERS;
    assertThatThrownBy(() -> Config.parse(yaml, "run.yaml", List.of()))
        .isInstanceOf(ConfigException.class)
        .hasMessageStartingWith("run.yaml line ")
        .hasMessageContaining("train.lanes: got 4 lanes for the " + what)
        .hasMessageEndingWith("leave lanes out");
    assertThat(Config.parse(yaml, "run.yaml", List.of("train.lanes=1")).train().options().lanes())
        .isEqualTo(1);
  }
}
