package dev.tern.cli.board;

import dev.tern.base.DataException;
import dev.tern.internal.json.Json;
import java.io.IOException;
import java.net.ConnectException;
import java.net.ProxySelector;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The five calls of MLflow's tracking API (REST, version 2.0) that a run needs. A call ends within
 * {@link #CALL}, whatever the server does, and takes a megabyte of answer at most. One thread.
 */
final class MlflowServer implements AutoCloseable {
  /** How long a call may take. */
  static final Duration CALL = Duration.ofSeconds(10);

  private static final Duration CONNECT = Duration.ofSeconds(5);
  private static final int ANSWER = 1 << 20;
  private static final int SHOWN = 200;

  private final URI base;
  private final Optional<String> authorization;
  private final HttpClient client =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(CONNECT)
          .proxy(
              Optional.ofNullable(ProxySelector.getDefault()).orElse(HttpClient.Builder.NO_PROXY))
          .build();

  /**
   * Makes a client; calls nothing.
   *
   * @param base what {@code /api/2.0/mlflow} is put behind
   * @param environment {@code MLFLOW_TRACKING_TOKEN}, or {@code MLFLOW_TRACKING_USERNAME} with
   *     {@code MLFLOW_TRACKING_PASSWORD}, as for MLflow's own clients
   */
  MlflowServer(URI base, Map<String, String> environment) {
    this.base = base;
    authorization = authorization(environment);
  }

  /** A refusal that does not pass: asking again would be refused again. */
  static final class RefusedException extends IOException {
    private static final long serialVersionUID = 1;

    private final boolean isMissing;

    RefusedException(String message, boolean isMissing) {
      super(message);
      this.isMissing = isMissing;
    }
  }

  private static Optional<String> authorization(Map<String, String> environment) {
    String user = environment.get("MLFLOW_TRACKING_USERNAME");
    String token = environment.get("MLFLOW_TRACKING_TOKEN");
    if (user != null) {
      String both = user + ":" + environment.getOrDefault("MLFLOW_TRACKING_PASSWORD", "");
      byte[] bytes = both.getBytes(StandardCharsets.UTF_8);
      return Optional.of("Basic " + Base64.getEncoder().encodeToString(bytes));
    }
    return token == null ? Optional.empty() : Optional.of("Bearer " + token);
  }

  /** The id of the experiment of that name, made where there is none. */
  String experiment(String name) throws IOException, InterruptedException {
    try {
      return find(name);
    } catch (RefusedException e) {
      if (!e.isMissing) {
        throw e;
      }
    }
    try {
      return id(post("experiments/create", Json.object().put("name", name)), "experiment_id");
    } catch (RefusedException e) {
      try {
        return find(name); // Another run made it meanwhile.
      } catch (RefusedException _) {
        throw e;
      }
    }
  }

  private String find(String name) throws IOException, InterruptedException {
    String query = URLEncoder.encode(name, StandardCharsets.UTF_8);
    Json.Obj answer =
        call(request("experiments/get-by-name?experiment_name=" + query).GET().build());
    return id(object(answer, "experiment"), "experiment_id");
  }

  /** Begins a run; gives its id. */
  String create(String experiment, String name, long millis, Map<String, String> tags)
      throws IOException, InterruptedException {
    List<Json> all =
        tags.entrySet().stream().map(tag -> pair(tag.getKey(), tag.getValue())).toList();
    Json.Obj body =
        Json.object()
            .put("experiment_id", experiment)
            .put("run_name", name)
            .put("start_time", millis)
            .put("tags", new Json.Arr(all));
    return id(object(object(post("runs/create", body), "run"), "info"), "run_id");
  }

  /** Adds values to a run: at most 1,000 in all, of which 100 parameters. */
  void log(String run, List<Json> metrics, List<Json> parameters)
      throws IOException, InterruptedException {
    post(
        "runs/log-batch",
        Json.object()
            .put("run_id", run)
            .put("metrics", new Json.Arr(List.copyOf(metrics)))
            .put("params", new Json.Arr(List.copyOf(parameters)))
            .put("tags", new Json.Arr(List.of())));
  }

  /** Says how a run ended. */
  void end(String run, String status, long millis) throws IOException, InterruptedException {
    post(
        "runs/update",
        Json.object().put("run_id", run).put("status", status).put("end_time", millis));
  }

  /** A key with its value. */
  static Json pair(String key, String value) {
    return Json.object().put("key", key).put("value", value);
  }

  private Json.Obj post(String path, Json.Obj body) throws IOException, InterruptedException {
    return call(
        request(path)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body.toString()))
            .build());
  }

  private HttpRequest.Builder request(String path) {
    String root = base.toString();
    HttpRequest.Builder request =
        HttpRequest.newBuilder(
                URI.create((root.endsWith("/") ? root : root + "/") + "api/2.0/mlflow/" + path))
            .timeout(CALL);
    authorization.ifPresent(value -> request.header("Authorization", value));
    return request;
  }

  private Json.Obj call(HttpRequest request) throws IOException, InterruptedException {
    HttpResponse<String> answer = answer(request);
    int status = answer.statusCode();
    if (status == 200) {
      try {
        return Json.parseObject(answer.body(), "its answer");
      } catch (DataException e) {
        throw new RefusedException(String.valueOf(e.getMessage()), false);
      }
    }
    String said = "status " + status + " for " + request.uri().getPath() + reason(answer.body());
    if (status == 429 || status >= 500) {
      throw new IOException(said);
    }
    throw new RefusedException(said, status == 404);
  }

  /** By the future, as the time limit of a request ends with the head of the answer. */
  private HttpResponse<String> answer(HttpRequest request)
      throws IOException, InterruptedException {
    Future<HttpResponse<String>> coming =
        client.sendAsync(request, BodyHandlers.limiting(BodyHandlers.ofString(), ANSWER));
    try {
      return coming.get(CALL.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw new IOException("no answer within " + CALL.toSeconds() + " s", e);
    } catch (ExecutionException e) {
      throw switch (e.getCause()) {
        case ConnectException refused -> new IOException("no connection", refused);
        case IOException other -> other;
        case null, default -> new IOException(e);
      };
    } finally {
      coming.cancel(true);
    }
  }

  private static String reason(String body) {
    try {
      Json.Obj error = Json.parseObject(body, "");
      return error.has("message") ? ": " + excerpt(error.text("message")) : "";
    } catch (DataException _) {
      return "";
    }
  }

  private static String excerpt(String text) {
    return text.length() <= SHOWN ? text : text.substring(0, SHOWN) + "...";
  }

  private static Json.Obj object(Json.Obj answer, String key) throws IOException {
    try {
      return answer.object(key);
    } catch (DataException e) {
      throw new RefusedException("an answer with " + e.getMessage(), false);
    }
  }

  private static String id(Json.Obj answer, String key) throws IOException {
    try {
      return answer.text(key);
    } catch (DataException e) {
      throw new RefusedException("an answer with " + e.getMessage(), false);
    }
  }

  @Override
  public void close() {
    client.shutdownNow();
  }
}
