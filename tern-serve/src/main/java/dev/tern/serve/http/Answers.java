package dev.tern.serve.http;

import dev.tern.base.DataException;
import dev.tern.serve.LongRequestException;
import dev.tern.serve.Reply;
import dev.tern.serve.ServedVersion;
import dev.tern.serve.http.metrics.ModelMetrics;
import dev.tern.serve.wire.RefusedException;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * What the server answers on each route. It knows no HTTP library; {@link HttpFront} reads requests
 * and writes what this returns.
 */
final class Answers {
  /** What the server speaks. */
  record Protocols(
      Scoring scoring, Finding finding, Describer describer, GrpcAnswers.Messages messages) {}

  /** Protocols of requests for scores. */
  record Scoring(Protocol infer, Protocol predict, Protocol invocations) {}

  /** Protocols of requests for items. */
  record Finding(Protocol tensors, Protocol rows) {}

  /** A form of requests for scores or items, and of their answers. */
  interface Protocol {
    /**
     * Answers the rows of a body.
     *
     * @param body the bytes {@code body[0, length)}
     * @param jsonLength the bytes of JSON that a body begins with, before binary tensors; empty
     *     where it has none of these
     * @throws RefusedException where the body is not one of this protocol, or does not fit the
     *     model
     */
    Reply answer(ServedVersion version, byte[] body, int length, OptionalInt jsonLength);
  }

  /** Says which columns a model takes and gives. */
  interface Describer {
    /**
     * The metadata of a model by the Open Inference Protocol.
     *
     * @param versions all versions that are served by the name
     */
    Reply describe(ServedVersion version, List<String> versions);

    /** Its columns as they were learned, with an example of a request. */
    Reply schema(ServedVersion version);
  }

  /**
   * Scores of a request.
   *
   * @param step of the version that gave them
   */
  record Scored(Reply reply, long step) {}

  /** Whether requests are answered. */
  enum State {
    LOADING,
    READY,
    DRAINING
  }

  static final String VERSION = "0.1.0";

  private final Protocols protocols;
  private final BiConsumer<Hosted, LiveModel> warming;
  private final Consumer<String> notes;
  private final ReentrantLock loading = new ReentrantLock();
  private volatile Map<String, Hosted> models = Map.of();
  private volatile State state = State.LOADING;
  private volatile Runnable listener = () -> {};

  /**
   * @param warming makes a model fast that was loaded again
   * @param notes takes a line for each thing that who runs the server should know
   */
  Answers(Protocols protocols, BiConsumer<Hosted, LiveModel> warming, Consumer<String> notes) {
    this.protocols = protocols;
    this.warming = warming;
    this.notes = notes;
  }

  /** The same by gRPC. */
  GrpcAnswers grpc() {
    return new GrpcAnswers(this, protocols.messages());
  }

  /** Has {@code changed} run whenever the state changes. */
  void onState(Runnable changed) {
    listener = changed;
  }

  /** Takes models into use. */
  void serve(Collection<Hosted> all) {
    Map<String, Hosted> byName = new LinkedHashMap<>();
    all.forEach(each -> byName.put(each.name(), each));
    models = byName;
  }

  void state(State now) {
    state = now;
    listener.run();
  }

  State state() {
    return state;
  }

  List<Hosted> models() {
    return List.copyOf(models.values());
  }

  /**
   * The model that a route names; for routes that name none the first one.
   *
   * @throws RefusedException 404 where there is none, 503 while models are loaded
   */
  Hosted model(Route route) {
    Map<String, Hosted> now = models;
    Hosted model =
        route.model().isEmpty()
            ? now.values().stream().findFirst().orElse(null)
            : now.get(route.model());
    if (model != null) {
      return model;
    }
    if (state == State.LOADING) {
      throw new RefusedException(503, "model: got a request while models are loaded; ask again");
    }
    throw new RefusedException(
        404,
        "model: got %s, expected one of %s"
            .formatted(route.model(), String.join(", ", now.keySet())));
  }

  /** Answers a request without rows, other than of metrics. */
  Reply get(Route route) {
    return switch (route.kind()) {
      case SERVER ->
          JsonText.reply(
              200,
              "{\"name\":\"tern\",\"version\":\""
                  + VERSION
                  + "\",\"extensions\":[\"binary_tensor_data\"]}");
      case LIVE -> JsonText.reply(200, "{\"live\":true}");
      case READY -> ready("{\"live\":true}");
      case PING -> ready("{\"status\":\"Healthy\"}");
      case MODEL_READY -> modelReady(route);
      case MODEL -> describe(route);
      case STATUS -> status(route);
      case SCHEMA -> schema(route);
      case INDEX -> index();
      default -> throw new IllegalArgumentException("answers: got " + route.kind());
    };
  }

  private Reply ready(String body) {
    return state == State.READY ? JsonText.reply(200, body) : notReady();
  }

  private Reply notReady() {
    String why = state == State.LOADING ? "models are loaded and warmed up" : "the server stops";
    return JsonText.error(503, "not ready: " + why);
  }

  private Reply modelReady(Route route) {
    Hosted model = model(route);
    model.lease(route).close();
    boolean ready = state == State.READY;
    return JsonText.reply(
        ready ? 200 : 503,
        "{\"name\":" + JsonText.quoted(model.name()) + ",\"ready\":" + ready + "}");
  }

  private Reply describe(Route route) {
    Hosted model = model(route);
    try (LiveModel.Lease lease = model.lease(route)) {
      return protocols.describer().describe(lease.version(), versions(model));
    }
  }

  private Reply schema(Route route) {
    try (LiveModel.Lease lease = model(route).lease(route)) {
      return protocols.describer().schema(lease.version());
    }
  }

  static List<String> versions(Hosted model) {
    return model.versions().stream().map(each -> Long.toString(each.step())).toList();
  }

  private Reply status(Route route) {
    Hosted model = model(route);
    StringBuilder json = new StringBuilder("{\"model_version_status\":[");
    try (LiveModel.Lease asked = model.lease(route)) {
      boolean one = !route.version().isEmpty() || !route.label().isEmpty();
      List<String> all = one ? List.of(Long.toString(asked.version().step())) : versions(model);
      String condition = state == State.LOADING ? "LOADING" : "AVAILABLE";
      for (String version : all) {
        json.append(json.charAt(json.length() - 1) == '[' ? "" : ",")
            .append("{\"version\":\"")
            .append(version)
            .append("\",\"state\":\"")
            .append(condition)
            .append("\",\"status\":{\"error_code\":\"OK\",\"error_message\":\"\"}}");
      }
    }
    return JsonText.reply(200, json.append("]}").toString());
  }

  private Reply index() {
    StringBuilder json = new StringBuilder("[");
    for (Hosted model : models.values()) {
      for (Place place : model.places()) {
        String version = place.model().map(live -> Long.toString(live.step())).orElse("");
        json.append(json.length() == 1 ? "" : ",")
            .append("{\"name\":")
            .append(JsonText.quoted(model.name()))
            .append(",\"version\":\"")
            .append(version)
            .append("\",\"label\":")
            .append(JsonText.quoted(place.label()))
            .append(
                version.isEmpty()
                    ? ",\"state\":\"UNAVAILABLE\",\"reason\":\"unloaded\"}"
                    : ",\"state\":\"READY\"}");
      }
    }
    return JsonText.reply(200, json.append(']').toString());
  }

  /**
   * Scores the rows of a body, or finds items for them.
   *
   * @param body the bytes {@code body[0, length)}
   * @param brief whether it is refused, by a {@link LongRequestException}, where it takes a while
   */
  Scored score(
      Route route,
      Hosted model,
      ModelMetrics metrics,
      byte[] body,
      int length,
      OptionalInt jsonLength,
      boolean brief) {
    Protocol protocol =
        switch (route.kind()) {
          case INFER -> protocols.scoring().infer();
          case PREDICT -> protocols.scoring().predict();
          case INVOCATIONS -> protocols.scoring().invocations();
          case RETRIEVE -> protocols.finding().tensors();
          case RETRIEVE_ROWS -> protocols.finding().rows();
          default -> throw new IllegalArgumentException("answers: got " + route.kind());
        };
    try (LiveModel.Lease lease = model.lease(route)) {
      ServedVersion version = metrics.counted(lease.version()).brief(brief);
      return new Scored(protocol.answer(version, body, length, jsonLength), version.step());
    }
  }

  /**
   * Loads or unloads what a body names: a step alone is for the first label, a label alone for its
   * newest step, and a body without either for all labels.
   */
  Reply change(Route route, byte[] body) {
    Hosted model = model(route);
    LoadRequest request = LoadRequest.of(body);
    if (!loading.tryLock()) {
      throw new RefusedException(
          409, "load: got a request while another one is at work; ask again");
    }
    try {
      return route.kind() == Route.Kind.LOAD ? load(model, request) : unload(model, request);
    } finally {
      loading.unlock();
    }
  }

  private Reply load(Hosted model, LoadRequest request) {
    List<Place> places =
        request.labels().isEmpty() && request.step().isPresent()
            ? List.of(model.places().getFirst())
            : named(model, request);
    StringBuilder json = new StringBuilder();
    for (Place place : places) {
      LiveModel live;
      try {
        live = place.load(fresh -> warming.accept(model, fresh));
        live.load(request.step());
      } catch (RefusedException e) {
        throw json.isEmpty()
            ? e
            : new RefusedException(
                e.status(),
                "label %s: %s; loaded before it: {%s}"
                    .formatted(place.label(), e.getMessage(), json));
      } catch (RuntimeException e) {
        // Damaged files, files that cannot be read, or memory that is short.
        String why = e instanceof DataException ? String.valueOf(e.getMessage()) : e.toString();
        notes.accept(model.name() + "@" + place.label() + ": " + why);
        throw new RefusedException(
            400,
            "label %s: got a model that cannot be loaded, expected one; the server's log says why"
                .formatted(place.label()));
      }
      json.append(json.isEmpty() ? "" : ",")
          .append(JsonText.quoted(place.label()))
          .append(":\"")
          .append(live.step())
          .append('"');
    }
    String step = places.getFirst().model().map(live -> Long.toString(live.step())).orElse("");
    return JsonText.reply(
        200,
        places.size() == 1
            ? "{\"step\":\"" + step + "\"}"
            : "{\"step\":\"" + step + "\",\"labels\":{" + json + "}}");
  }

  private static List<Place> named(Hosted model, LoadRequest request) {
    return request.labels().isEmpty() ? model.places() : model.places(request.labels());
  }

  private static Reply unload(Hosted model, LoadRequest request) {
    if (request.step().isPresent()) {
      throw new RefusedException(
          400, "unload: got a step, expected labels or none; an unloaded model has no step");
    }
    named(model, request).forEach(Place::unload);
    return JsonText.reply(200, "{}");
  }

  /** The answer to an error of Tern itself, which says nothing of its inside. */
  static Reply broken() {
    return Reply.json(
        500,
        "{\"error\":\"an error in the server; its log has it\"}".getBytes(StandardCharsets.UTF_8));
  }
}
