package dev.tern.serve.http;

import dev.tern.serve.GrpcProtocol;
import dev.tern.serve.Reply;
import dev.tern.serve.ServedVersion;
import dev.tern.serve.grpc.GrpcMethod;
import dev.tern.serve.http.metrics.ModelMetrics;
import dev.tern.serve.wire.RefusedException;
import java.util.List;

/** What the server answers to calls of gRPC: what {@link Answers} has, in Protocol Buffers. */
final class GrpcAnswers {
  /** Scores, and tells of a model, in messages of Protocol Buffers. */
  interface Messages {
    /** Scores the rows of a request, the message {@code body[from, to)}. */
    Reply infer(ServedVersion version, byte[] body, int from, int to);

    /**
     * What a model takes and gives.
     *
     * @param versions all versions that are served by its name
     */
    Reply describe(ServedVersion version, List<String> versions);
  }

  /** What health says of a service. */
  enum Health {
    SERVING(1),
    NOT_SERVING(2),
    SERVICE_UNKNOWN(3);

    final int number;

    Health(int number) {
      this.number = number;
    }

    Reply reply() {
      return GrpcProtocol.health(number);
    }
  }

  private final Answers answers;
  private final Messages messages;

  GrpcAnswers(Answers answers, Messages messages) {
    this.answers = answers;
    this.messages = messages;
  }

  /**
   * The route to the model that a message names.
   *
   * @throws RefusedException 404 for what cannot name a model, 400 for no name
   */
  static Route route(Route.Kind kind, byte[] body, int from, int to) {
    GrpcProtocol.Asked asked = GrpcProtocol.asked(body, from, to);
    if (asked.model().isEmpty()) {
      throw new RefusedException(400, "model_name: got nothing, expected the name of a model");
    }
    return Route.of(kind, asked.model(), asked.version());
  }

  /**
   * Scores the rows of a message.
   *
   * @param brief as in {@link Answers#score}
   */
  Answers.Scored score(
      Route route,
      Hosted model,
      ModelMetrics metrics,
      byte[] body,
      int from,
      int to,
      boolean brief) {
    try (LiveModel.Lease lease = model.lease(route)) {
      ServedVersion version = metrics.counted(lease.version()).brief(brief);
      return new Answers.Scored(messages.infer(version, body, from, to), version.step());
    }
  }

  /** Answers a call without rows, of one message {@code body[from, to)}. */
  Reply get(GrpcMethod method, byte[] body, int from, int to) {
    boolean isReady = answers.state() == Answers.State.READY;
    return switch (method) {
      case SERVER_LIVE -> GrpcProtocol.flag(true);
      case SERVER_READY -> GrpcProtocol.flag(isReady);
      case SERVER_METADATA -> GrpcProtocol.server(Answers.VERSION);
      case MODEL_READY -> {
        Route route = route(Route.Kind.MODEL_READY, body, from, to);
        answers.model(route).lease(route).close();
        yield GrpcProtocol.flag(isReady);
      }
      case MODEL_METADATA -> {
        Route route = route(Route.Kind.MODEL, body, from, to);
        Hosted model = answers.model(route);
        try (LiveModel.Lease lease = model.lease(route)) {
          yield messages.describe(lease.version(), Answers.versions(model));
        }
      }
      case HEALTH_CHECK -> {
        Health health = health(GrpcProtocol.service(body, from, to));
        if (health == Health.SERVICE_UNKNOWN) {
          throw new RefusedException(
              404, "service: got another one, expected none or " + GrpcMethod.INFERENCE);
        }
        yield health.reply();
      }
      case MODEL_INFER, HEALTH_WATCH ->
          throw new IllegalArgumentException("answers: got " + method);
    };
  }

  /** How a service is; one without a name is the server. */
  Health health(String service) {
    if (!service.isEmpty() && !service.equals(GrpcMethod.INFERENCE)) {
      return Health.SERVICE_UNKNOWN;
    }
    return answers.state() == Answers.State.READY ? Health.SERVING : Health.NOT_SERVING;
  }
}
