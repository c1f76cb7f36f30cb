package dev.tern.serve;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.data.Batch;
import dev.tern.predict.Predictor;
import dev.tern.requests.SmallModel;
import dev.tern.serve.wire.RefusedException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Damaged requests are answered or refused, and nothing else. */
final class HostileBodyTest {
  /** {@code -Dtest.flags="-Dhostile.bodies=10000000"} looks longer. */
  private static final int BODIES = Integer.getInteger("hostile.bodies", 150_000);

  @TempDir Path folder;

  static List<RequestBodies.Body> whole(Predictor predictor) {
    List<RequestBodies.Body> whole = new ArrayList<>();
    Batch rows = new Batch(predictor.schema(), 1);
    predictor
        .encoder()
        .addRow(
            Map.of("I1", 1.5, "C1", 7, "city", 3, "pair", List.of(1, 2), "words", Map.of(1, 0.5f)),
            rows);
    predictor
        .encoder()
        .addRow(
            Map.of("I2", -2, "tags", List.of(1, 2), "pair", List.of(1, 2), "seen", List.of(1L)),
            rows);
    for (boolean binary : new boolean[] {false, true}) {
      for (String rest :
          List.of(
              "",
              ",\"outputs\":[{\"name\":\"logit\",\"parameters\":{\"binary_data\":true}},{\"name\":\"probability\"}]",
              ",\"parameters\":{\"top_k\":1,\"explain\":true}")) {
        whole.add(RequestBodies.tensors(rows, binary, rest));
      }
    }
    for (byte[] body :
        List.of(
            new ProtoBodies("m", false).rows(rows).bytes(),
            new ProtoBodies("m", true).rows(rows).parameter("top_k", 1L).output("logit").bytes(),
            RequestBodies.instances(rows, "instances"),
            RequestBodies.instances(rows, "dataframe_records"),
            RequestBodies.inputs(rows),
            RequestBodies.split(rows))) {
      whole.add(new RequestBodies.Body(body, OptionalInt.empty()));
    }
    for (String json :
        List.of(
            "{\"context\":{\"I1\":2,\"city\":\"Oslo\",\"pair\":[1,2],\"seen\":[1,2]},\"instances\":[{\"C1\":7,\"t\":\"2026-01-31\"},{\"C1\":9}],\"parameters\":{\"top_k\":1,\"explain\":true}}",
            "{\"instances\":[{\"city\":{\"b64\":\"T3Nsbw==\"},\"tags\":\"a|b\",\"words\":{\"a\":0.5,\"b\":2},\"pair\":[1,2],\"big\":18446744073709551615}]}",
            "{\"inputs\":[{\"name\":\"tags\",\"shape\":[2,2],\"datatype\":\"BYTES\",\"parameters\":{\"empty\":\"\"},\"data\":[[\"a\",\"\"],[\"b\",\"c\"]]},{\"name\":\"pair\",\"shape\":[1,2],\"datatype\":\"UINT16\",\"parameters\":{\"context\":true},\"data\":[1,2]},{\"data\":[true,false],\"name\":\"C1\",\"shape\":[2],\"datatype\":\"BOOL\"}]}")) {
      whole.add(new RequestBodies.Body(json.getBytes(StandardCharsets.UTF_8), OptionalInt.empty()));
    }
    return whole;
  }

  @Test
  void damagedBodiesAreAnsweredOrRefused() {
    RequestContexts contexts = new RequestContexts();
    InferProtocol infer = new InferProtocol(contexts);
    PredictProtocol predict = new PredictProtocol(contexts);
    GrpcProtocol grpc = new GrpcProtocol(contexts);
    int answered = 0;
    int refused = 0;
    long slowest = 0;
    try (Predictor predictor = SmallModel.open(folder, SmallModel.ALL)) {
      ServedVersion version = new ServedVersion("m", 30, predictor);
      MutatedBodies bodies = new MutatedBodies(whole(predictor));
      for (long seed = 0; seed < BODIES; seed++) {
        RequestBodies.Body body = bodies.of(seed);
        byte[] bytes = body.bytes();
        long begin = System.nanoTime();
        for (int protocol = 0; protocol < 4; protocol++) {
          try {
            Reply reply =
                switch (protocol) {
                  case 0 -> infer.infer(version, bytes, bytes.length, body.jsonLength());
                  case 1 -> predict.predict(version, bytes, bytes.length);
                  case 2 -> predict.invocations(version, bytes, bytes.length);
                  default -> grpc.infer(version, bytes, 0, bytes.length);
                };
            assertThat(reply.status()).isEqualTo(200);
            answered++;
          } catch (RefusedException e) {
            assertThat(e.status()).isBetween(400, 499);
            assertThat(e.getMessage()).hasSizeLessThan(600);
            refused++;
          } catch (RuntimeException | Error e) {
            throw new AssertionError("seed " + seed + ", protocol " + protocol, e);
          }
        }
        slowest = Math.max(slowest, System.nanoTime() - begin);
      }
    }
    System.out.printf(
        "%,d answered, %,d refused, slowest %.1f ms%n", answered, refused, slowest / 1e6);
    assertThat(answered).isGreaterThan(BODIES / 60);
    assertThat(refused).isGreaterThan(BODIES / 2);
  }
}
