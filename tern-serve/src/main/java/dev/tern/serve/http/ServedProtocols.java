package dev.tern.serve.http;

import dev.tern.serve.GrpcProtocol;
import dev.tern.serve.InferProtocol;
import dev.tern.serve.Metadata;
import dev.tern.serve.PredictProtocol;
import dev.tern.serve.Reply;
import dev.tern.serve.RequestContexts;
import dev.tern.serve.SchemaReply;
import dev.tern.serve.ServedVersion;
import java.util.List;

/** The protocols that a server speaks. */
final class ServedProtocols {
  private ServedProtocols() {}

  static Answers.Protocols all() {
    RequestContexts contexts = new RequestContexts();
    InferProtocol infer = new InferProtocol(contexts);
    PredictProtocol predict = new PredictProtocol(contexts);
    GrpcProtocol grpc = new GrpcProtocol(contexts);
    return new Answers.Protocols(
        (version, body, length, json) -> infer.infer(version, body, length, json),
        (version, body, length, json) -> predict.predict(version, body, length),
        (version, body, length, json) -> predict.invocations(version, body, length),
        new Answers.Describer() {
          @Override
          public Reply describe(ServedVersion version, List<String> versions) {
            return Metadata.model(version, versions);
          }

          @Override
          public Reply schema(ServedVersion version) {
            return SchemaReply.of(version);
          }
        },
        new GrpcAnswers.Messages() {
          @Override
          public Reply infer(ServedVersion version, byte[] body, int from, int to) {
            return grpc.infer(version, body, from, to);
          }

          @Override
          public Reply describe(ServedVersion version, List<String> versions) {
            return GrpcProtocol.model(version, versions);
          }
        });
  }
}
