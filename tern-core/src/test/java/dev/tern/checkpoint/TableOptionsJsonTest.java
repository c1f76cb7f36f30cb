package dev.tern.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.TableOptions;
import dev.tern.internal.json.Json;
import dev.tern.optim.Optimizer;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class TableOptionsJsonTest {
  @Test
  void combinersOfSlotsAreReadBackForScoring() {
    TableOptions options =
        TableOptions.of(Optimizer.sgd(1))
            .combiner(Combiner.SQRTN)
            .combiner("tags", Combiner.MEAN)
            .combiner("seen", Combiner.SUM);
    TableOptions read = TableOptionsJson.read(TableOptionsJson.write(options));
    assertThat(read.combiner()).isEqualTo(Combiner.SQRTN);
    assertThat(read.combinersOf()).isEqualTo(Map.of("tags", Combiner.MEAN, "seen", Combiner.SUM));
  }

  @Test
  void aManifestThatNamesNoRowOfUnknownIdsIsRefused() {
    for (String text :
        List.of(
            "\"unknown\":\"HASH\",\"buckets\":0", "\"unknown\":\"HASH\",\"buckets\":4294967297")) {
      var json = Json.parseObject("{" + text + "}", "test");
      assertThatThrownBy(() -> TableOptionsJson.unknown(json))
          .isInstanceOf(DataException.class)
          .hasMessageContaining("\"unknown\": got HASH (");
    }
    var other = Json.parseObject("{\"unknown\":\"HASHED\"}", "test");
    assertThatThrownBy(() -> TableOptionsJson.unknown(other))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("\"unknown\": got HASHED (");
  }
}
