package dev.tern.serve.http;

import dev.tern.serve.GrpcProtocol;
import dev.tern.serve.InferProtocol;
import dev.tern.serve.Metadata;
import dev.tern.serve.PredictProtocol;
import dev.tern.serve.Reply;
import dev.tern.serve.RequestContexts;
import dev.tern.serve.RequestMemory;
import dev.tern.serve.RetrieveProtocol;
import dev.tern.serve.SchemaReply;
import dev.tern.serve.ServedVersion;
import java.util.List;

/** The protocols that a server speaks. */
final class ServedProtocols {
  private ServedProtocols() {}

  /**
   * All of them.
   *
   * @param memory what requests may hold beside their bodies
   */
  static Answers.Protocols all(RequestMemory memory) {
    RequestContexts contexts = new RequestContexts(memory);
    InferProtocol infer = new InferProtocol(contexts);
    PredictProtocol predict = new PredictProtocol(contexts);
    GrpcProtocol grpc = new GrpcProtocol(contexts);
    RetrieveProtocol retrieve = new RetrieveProtocol(contexts);
    return new Answers.Protocols(
        new Answers.Scoring(
            infer::infer,
            (version, body, length, json) -> predict.predict(version, body, length),
            (version, body, length, json) -> predict.invocations(version, body, length)),
        new Answers.Finding(
            retrieve::tensors,
            (version, body, length, json) -> retrieve.rows(version, body, length)),
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
