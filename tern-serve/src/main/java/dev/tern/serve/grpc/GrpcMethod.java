package dev.tern.serve.grpc;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** The methods that a server has, by the path that calls one. */
public enum GrpcMethod {
  SERVER_LIVE(GrpcMethod.INFERENCE, "ServerLive"),
  SERVER_READY(GrpcMethod.INFERENCE, "ServerReady"),
  MODEL_READY(GrpcMethod.INFERENCE, "ModelReady"),
  SERVER_METADATA(GrpcMethod.INFERENCE, "ServerMetadata"),
  MODEL_METADATA(GrpcMethod.INFERENCE, "ModelMetadata"),
  MODEL_INFER(GrpcMethod.INFERENCE, "ModelInfer"),
  HEALTH_CHECK(GrpcMethod.HEALTH, "Check"),
  HEALTH_WATCH(GrpcMethod.HEALTH, "Watch");

  /** The service of the Open Inference Protocol. */
  public static final String INFERENCE = "inference.GRPCInferenceService";

  /** The service that balancers ask. */
  public static final String HEALTH = "grpc.health.v1.Health";

  private static final Map<String, GrpcMethod> BY_PATH = new HashMap<>();

  static {
    for (GrpcMethod each : values()) {
      BY_PATH.put(each.path, each);
    }
  }

  private final String path;

  GrpcMethod(String service, String name) {
    path = "/" + service + "/" + name;
  }

  /** The method that a path calls, if there is one. */
  public static Optional<GrpcMethod> of(String path) {
    return Optional.ofNullable(BY_PATH.get(path));
  }

  /** The path that calls it, such as {@code /grpc.health.v1.Health/Check}. */
  public String path() {
    return path;
  }

  /** Whether it needs no token: what balancers ask without one. */
  public boolean isOpen() {
    return this == SERVER_LIVE
        || this == SERVER_READY
        || this == HEALTH_CHECK
        || this == HEALTH_WATCH;
  }

  /** Whether it scores rows, and waits for its turn. */
  public boolean scores() {
    return this == MODEL_INFER;
  }
}
