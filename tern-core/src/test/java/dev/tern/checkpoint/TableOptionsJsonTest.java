package dev.tern.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DType;
import dev.tern.base.DataException;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.InitialWeights;
import dev.tern.embedding.config.OwnOptions;
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
  void optionsOfSingleTablesAreReadBackForScoring() {
    OwnOptions all =
        OwnOptions.NONE
            .optimizer(new Optimizer.Ftrl(0.5f, 1, 0.25f, 0.125f))
            .storage(DType.BF16)
            .l2(0.1f)
            .initial(new InitialWeights.Normal(0.1f));
    TableOptions options =
        TableOptions.of(Optimizer.sgd(1))
            .initial(new InitialWeights.Constant(-2))
            .own("a", all)
            .own("b", OwnOptions.NONE.storage(DType.F32))
            .own("c", OwnOptions.NONE.initial(InitialWeights.DEFAULT));
    Json.Obj json = TableOptionsJson.write(options);
    TableOptions read = TableOptionsJson.read(Json.parseObject(json.toString(), "test"));
    assertThat(read.initial()).isEqualTo(options.initial());
    assertThat(read.own()).isEqualTo(options.own());
    assertThat(TableOptionsJson.optimizer(json, "a")).isEqualTo(all.optimizer().orElseThrow());
    assertThat(TableOptionsJson.optimizer(json, "b")).isEqualTo(Optimizer.sgd(1));
    assertThat(TableOptionsJson.optimizer(json, "d")).isEqualTo(Optimizer.sgd(1));
  }

  @Test
  void whatWritesNothingOfItsOwnIsWrittenAsBefore() {
    assertThat(TableOptionsJson.write(TableOptions.of(Optimizer.sgd(1))).toString())
        .isEqualTo(
            Json.parseObject(
                    """
                    {"optimizer":{"type":"Sgd","lr":1.0},"initRange":0.01730000041425228,"l2":0.0,
                     "combiner":"SUM","unknown":"ZEROS"}
                    """,
                    "test")
                .toString());
  }

  @Test
  void aManifestWithoutInitialWeightsIsRefused() {
    Json.Obj json =
        Json.parseObject(
            "{\"optimizer\":{\"type\":\"Sgd\",\"lr\":1},\"l2\":0,\"combiner\":\"SUM\",\"unknown\":\"ZEROS\"}",
            "test");
    assertThatThrownBy(() -> TableOptionsJson.read(json))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("got no \"initRange\"");
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
