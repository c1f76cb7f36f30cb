package dev.tern.serve.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.predict.Predictor;
import dev.tern.predict.ScoreOptions;
import dev.tern.requests.SmallModel;
import dev.tern.serve.ProtoBodies;
import dev.tern.serve.RequestMemory;
import dev.tern.serve.http.metrics.Exposition;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A model that is served, asked by HTTP and by gRPC. */
final class GrpcModelTest {
  @TempDir Path folder;

  private ModelServer server(ServeMetrics metrics) {
    ModelSource source =
        new ModelSource(
            "m",
            ModelSource.STABLE,
            folder.resolve("saved" + SmallModel.PLAIN.slotCount()),
            ModelSource.Follow.NONE,
            ScoreOptions.DEFAULT);
    return ModelServer.start(
        TestServer.OPTIONS,
        List.of(source),
        new ModelServer.Parts(
            from -> FollowedModel.open(from, TestServer.OPTIONS.memory(), metrics, note -> {}),
            ServedProtocols.all(RequestMemory.UNLIMITED),
            (model, front) ->
                front.warm(
                    RequestWarmUp.requests(model),
                    RequestWarmUp.call(model),
                    Duration.ofMillis(500)),
            (model, fresh) -> {},
            metrics,
            new BodyBudget(1 << 20)),
        note -> {});
  }

  @Test
  void scoresOfHttpAndGrpcAreThePredictorsToTheBit() throws Exception {
    ServeMetrics metrics = new ServeMetrics();
    try (Predictor model = SmallModel.open(folder, SmallModel.PLAIN);
        ModelServer server = server(metrics);
        GrpcCalls calls = GrpcCalls.plain(server.port())) {
      Exposition page = new Exposition();
      metrics.warmUp.writeCodes(page, "warm");
      assertThat(new String(page.bytes()))
          .containsPattern("protocol=\"grpc\",code=\"OK\"} [1-9]")
          .doesNotContain("INVALID_ARGUMENT");

      List<Double> numbers = List.of(1.5, -0.25, 3.0);
      List<String> cities = List.of("Oslo", "Rome", "\u00c5lesund");
      String json =
          server(
              server.port(),
              "{\"inputs\":[{\"name\":\"I1\",\"shape\":[3],\"datatype\":\"FP32\",\"data\":[1.5,-0.25,3]},"
                  + "{\"name\":\"city\",\"shape\":[3],\"datatype\":\"BYTES\",\"data\":[\"Oslo\",\"Rome\",\"\\u00c5lesund\"]}]}");
      for (boolean raw : new boolean[] {false, true}) {
        byte[] answer =
            calls.call(
                GrpcCalls.INFER,
                new ProtoBodies("m", raw)
                    .tensor("I1", "FP32", numbers)
                    .tensor("city", "BYTES", cities)
                    .bytes());
        List<Float> scores = ProtoBodies.numbers(prefixed(answer));
        assertThat(scores).hasSize(3);
        Matcher data = Pattern.compile("\"data\":\\[(.*?)\\]").matcher(json);
        assertThat(data.find()).isTrue();
        List<Float> byHttp = Arrays.stream(data.group(1).split(",")).map(Float::valueOf).toList();
        assertThat(scores).isEqualTo(byHttp);
        for (int row = 0; row < 3; row++) {
          float expected = model.score(Map.of("I1", numbers.get(row), "city", cities.get(row)));
          assertThat(scores.get(row)).isEqualTo(expected);
        }
      }
    }
  }

  private static byte[] prefixed(byte[] message) {
    byte[] framed = new byte[5 + message.length];
    System.arraycopy(message, 0, framed, 5, message.length);
    return framed;
  }

  private static String server(int port, String body) throws Exception {
    return TestServer.body(TestServer.ask(port, "POST", "/v2/models/m/infer", body));
  }
}
