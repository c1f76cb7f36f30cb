package dev.tern.cli.config;

import static dev.tern.cli.config.ConfigTest.census;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.embedding.config.RowLimits;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Keys of how rows of tables are updated and where they lie. */
final class RowKeysTest {
  @Test
  void theMemoryOfTablesIsLimitedByWhatUpdatesThem() {
    assertThatThrownBy(() -> census("train.table_memory=1g"))
        .hasMessageContaining("set train.optimizer.lazy: true");
    assertThat(
            census("train.table_memory=1g", "train.table_optimizer.type=adagrad")
                .train()
                .tableMemory())
        .isEqualTo(1L << 30);
  }

  @Test
  void updatesOfRowsHaveLimitsWhereTheyAreSet() {
    assertThat(census().train().options().tables().limits()).isEqualTo(RowLimits.NONE);
    String[] keys = {"train.rows.clip_norm=0.5", "train.rows.low=-2"};
    assertThat(census(keys).train().options().tables().limits())
        .isEqualTo(new RowLimits(0.5f, -2, Float.POSITIVE_INFINITY));
    assertThatThrownBy(() -> census("train.rows.low=3", "train.rows.high=2"))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("train.rows: row limits: got weights from 3.0 to 2.0");
  }

  @ParameterizedTest
  @CsvSource({
    "train.optimizer.type=adam, set train.optimizer.lazy: true",
    "model.eviction.type=unseen, set model.eviction.type: never",
    "model.unknown=mean, set model.unknown: zeros"
  })
  void tablesWithFilesCannotDoAll(String override, String message) {
    String[] good = {"train.table_memory=64m", "train.optimizer.type=adagrad"};
    assertThat(census(good).train().tableMemory()).isEqualTo(64L << 20);
    assertThatThrownBy(() -> census(good[0], good[1], override))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("train.table_memory: got a limit with")
        .hasMessageContaining(message);
  }

  @Test
  void l2OfAllRowsNeedsAShareAndRowsInMemory() {
    String all = "train.rows.l2_all=true";
    assertThatThrownBy(() -> census(all))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("train.rows.l2_all: got true without l2");
    assertThat(census(all, "train.l2=0.1").train().options().tables().l2OfAllRows()).isTrue();
    String[] own = {all, "model.tables[0].columns=education", "model.tables[0].l2=0.1"};
    assertThat(census(own).train().options().tables().l2OfAllRows()).isTrue();
    String[] tiered = {"train.table_memory=64m", "train.optimizer.type=adagrad"};
    assertThatThrownBy(() -> census(tiered[0], tiered[1], all, "train.l2=0.1"))
        .hasMessageContaining("got a limit with l2 of all rows")
        .hasMessageContaining("set train.rows.l2_all: false");
  }
}
