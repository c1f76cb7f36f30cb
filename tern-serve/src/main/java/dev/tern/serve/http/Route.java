package dev.tern.serve.http;

import dev.tern.serve.http.metrics.ModelMetrics;
import dev.tern.serve.http.metrics.RequestCounts;
import dev.tern.serve.wire.RefusedException;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a path asks for.
 *
 * @param model a valid name; empty where the path names none
 * @param version digits; empty where the path names none
 * @param label empty where the path names none
 */
record Route(Kind kind, String model, String version, String label) {
  /** What a path stands for, and the method that it takes. */
  enum Kind {
    SERVER("GET"),
    LIVE("GET"),
    READY("GET"),
    PING("GET"),
    METRICS("GET"),
    MODEL("GET"),
    MODEL_READY("GET"),
    STATUS("GET"),
    SCHEMA("GET"),
    INFER("POST"),
    PREDICT("POST"),
    INVOCATIONS("POST"),
    RETRIEVE("POST"),
    RETRIEVE_ROWS("POST"),
    INDEX("POST"),
    LOAD("POST"),
    UNLOAD("POST");

    final String method;

    Kind(String method) {
      this.method = method;
    }

    /** Whether a request for it has a body of rows, and waits for its turn. */
    boolean scores() {
      return switch (this) {
        case INFER, PREDICT, INVOCATIONS, RETRIEVE, RETRIEVE_ROWS -> true;
        default -> false;
      };
    }

    /** Whether it is for items of a whole corpus, which takes longer than scores of a few rows. */
    boolean finds() {
      return this == RETRIEVE || this == RETRIEVE_ROWS;
    }

    /** Where {@code model} counts requests for it. */
    RequestCounts counts(ModelMetrics model) {
      return switch (this) {
        case INFER -> model.infer();
        case PREDICT, INVOCATIONS -> model.predict();
        case RETRIEVE, RETRIEVE_ROWS -> model.retrieve();
        default -> model.other();
      };
    }

    /** Whether it loads or unloads a model. */
    boolean changes() {
      return this == LOAD || this == UNLOAD;
    }

    /** Whether it needs no token: what balancers ask without one. */
    boolean isOpen() {
      return this == LIVE || this == READY || this == PING;
    }

    /** Whether it is for who runs the server. */
    boolean isAdmin() {
      return this == INDEX || changes();
    }
  }

  private static final Pattern INFERENCE =
      Pattern.compile("/v2/models/([^/]+)(?:/versions/([^/]+))?(/ready|/infer|/retrieve)?");
  private static final Pattern LOADING = Pattern.compile("/v2/repository/models/([^/]+)/(un)?load");
  private static final Pattern TENSORFLOW =
      Pattern.compile(
          "/v1/models/([^/:]+)(?:/versions/([^/:]+)|/labels/([^/:]+))?(?::([^/]+)|(/metadata))?",
          Pattern.CASE_INSENSITIVE);

  /**
   * The route of a request.
   *
   * @param path decoded, without query
   * @throws RefusedException 404 for unknown paths and for what cannot name a model, 405 for
   *     another method, 400 for a verb of TensorFlow Serving that Tern has not
   */
  static Route of(String method, String path) {
    Route route = find(method, path);
    if (!method.equals(route.kind.method) && !(isGet(route) && method.equals("HEAD"))) {
      throw new RefusedException(405, "Method Not Allowed");
    }
    return route;
  }

  /**
   * The route to a model that a message names.
   *
   * @param version empty for the one that answers where none is named
   * @throws RefusedException 404 for what cannot name a model
   */
  static Route of(Kind kind, String model, String version) {
    return named(kind, model, version, "");
  }

  /** The methods that {@code path} takes, as the field {@code Allow} lists them. */
  static String allowed(String path) {
    return isGet(find("OPTIONS", path)) ? "GET, HEAD, OPTIONS" : "POST, OPTIONS";
  }

  private static boolean isGet(Route route) {
    return route.kind.method.equals("GET");
  }

  private static Route find(String method, String path) {
    return switch (path) {
      case "/v2", "/v2/" -> plain(Kind.SERVER);
      case "/v2/health/live" -> plain(Kind.LIVE);
      case "/v2/health/ready" -> plain(Kind.READY);
      case "/ping" -> plain(Kind.PING);
      case "/metrics" -> plain(Kind.METRICS);
      case "/invocations" -> plain(Kind.INVOCATIONS);
      case "/v2/repository/index" -> plain(Kind.INDEX);
      default -> {
        if (path.startsWith("/v2/models/")) {
          yield inference(path);
        }
        yield path.toLowerCase(Locale.ROOT).startsWith("/v1/models/")
            ? tensorflow(method, path)
            : loading(path);
      }
    };
  }

  private static Route plain(Kind kind) {
    return new Route(kind, "", "", "");
  }

  private static Route inference(String path) {
    Matcher match = INFERENCE.matcher(path);
    if (!match.matches()) {
      throw unknown();
    }
    String verb = text(match, 3);
    Kind kind =
        switch (verb) {
          case "" -> Kind.MODEL;
          case "/ready" -> Kind.MODEL_READY;
          case "/retrieve" -> Kind.RETRIEVE;
          default -> Kind.INFER;
        };
    return named(kind, match.group(1), text(match, 2), "");
  }

  private static Route tensorflow(String method, String path) {
    Matcher match = TENSORFLOW.matcher(path);
    if (!match.matches()) {
      throw malformed(method, path);
    }
    String verb = text(match, 4).toLowerCase(Locale.ROOT);
    Kind kind =
        switch (verb) {
          case "" -> text(match, 5).isEmpty() ? Kind.STATUS : Kind.SCHEMA;
          case "predict" -> Kind.PREDICT;
          case "retrieve" -> Kind.RETRIEVE_ROWS;
          default -> throw malformed(method, path);
        };
    return named(kind, match.group(1), text(match, 2), text(match, 3));
  }

  private static Route loading(String path) {
    Matcher match = LOADING.matcher(path);
    if (!match.matches()) {
      throw unknown();
    }
    Kind kind = text(match, 2).isEmpty() ? Kind.LOAD : Kind.UNLOAD;
    return named(kind, match.group(1), "", "");
  }

  private static Route named(Kind kind, String model, String version, String label) {
    boolean isVersion = version.isEmpty() || version.matches("[0-9]{1,19}");
    boolean isLabel = label.isEmpty() || ModelSource.isName(label);
    if (!ModelSource.isName(model) || !isVersion || !isLabel) {
      throw new RefusedException(
          404, "model: got no such name, version or label; GET /v2/models/NAME says what there is");
    }
    return new Route(kind, model, version, label);
  }

  private static String text(Matcher match, int group) {
    String text = match.group(group);
    return text == null ? "" : text;
  }

  private static RefusedException unknown() {
    return new RefusedException(404, "Not Found");
  }

  private static RefusedException malformed(String method, String path) {
    String shown = path.length() > 64 ? path.substring(0, 64) : path;
    return new RefusedException(400, "Malformed request: " + method + " " + shown);
  }
}
