package dev.tern.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.internal.json.Json;
import dev.tern.model.ModelConfig;
import dev.tern.model.graph.Graph;
import org.junit.jupiter.api.Test;

final class ModelJsonTest {
  private static Json.Obj written(double factor) {
    Graph graph =
        Graph.parse(
            """
            {"inputs": [{"name": "x", "kind": "features"}],
             "layers": [{"name": "shares", "op": "softmax", "in": ["x"], "factor": %s},
                        {"name": "y", "op": "sum", "in": ["shares"], "axis": 1}],
             "logits": ["y"]}
            """
                .formatted(factor),
            "test");
    ModelConfig model = ModelConfig.of(ModelConfig.Type.GRAPH, 4);
    return ModelJson.write(model.withVariant(model.variant().withGraph(graph)));
  }

  private static ModelConfig read(String json) {
    return ModelJson.read(Json.parseObject(json, "test"));
  }

  @Test
  void graphsThatScaleScoresAreReadBack() {
    for (double factor : new double[] {1, 0.5}) {
      String json = written(factor).toString();
      assertThat(ModelJson.write(read(json)).toString()).isEqualTo(json);
    }
    assertThat(written(1).toString()).doesNotContain("scaledSoftmax");
  }

  @Test
  void aFactorThatTheBuildOfTheCheckpointDidNotUseIsRefused() {
    String earlier = written(0.5).toString().replace(",\"scaledSoftmax\":true", "");
    assertThat(earlier).doesNotContain("scaledSoftmax");
    assertThatThrownBy(() -> read(earlier))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("got the softmax layer shares with the factor 0.5 and no mask")
        .hasMessageContaining("import the model again");
  }
}
