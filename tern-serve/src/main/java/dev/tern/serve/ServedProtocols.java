package dev.tern.serve;

/** The protocols that a server speaks. */
final class ServedProtocols {
  private ServedProtocols() {}

  static Answers.Protocols all() {
    RequestContexts contexts = new RequestContexts();
    InferProtocol infer = new InferProtocol(contexts);
    PredictProtocol predict = new PredictProtocol(contexts);
    return new Answers.Protocols(
        (version, body, length, json) -> infer.infer(version, body, length, json),
        (version, body, length, json) -> predict.predict(version, body, length),
        (version, body, length, json) -> predict.invocations(version, body, length),
        Metadata::model);
  }
}
