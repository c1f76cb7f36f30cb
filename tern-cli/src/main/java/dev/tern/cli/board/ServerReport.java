package dev.tern.cli.board;

import dev.tern.internal.json.Json;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * What the page says about a server: its metrics of now, and what happened since a page of metrics
 * before.
 */
final class ServerReport {
  /** Models and columns of a report at most. */
  private static final int MOST_MODELS = 64;

  private static final int MOST_COLUMNS = 5;

  /** Ids that a share needs to say something. */
  private static final int FEWEST_IDS = 20;

  private static final Set<String> GRPC_ERRORS =
      Set.of("UNKNOWN", "DEADLINE_EXCEEDED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS");

  private final ExposedMetrics now;
  private final Optional<ExposedMetrics> before;

  ServerReport(ExposedMetrics now, Optional<ExposedMetrics> before) {
    this.now = now;
    this.before = before;
  }

  /** The report without the address of its server. */
  Json.Obj json() {
    Json.Obj json = Json.object().put("at", now.millis());
    put(json, "queue", now.value("tern_queue_depth"));
    put(json, "inflight", now.value("tern_inflight_requests"));
    put(json, "connections", now.value("tern_connections"));
    put(json, "reload_failures", now.value("tern_reload_failures_total"));
    put(json, "rejected", total("tern_rejected_total"));
    List<String> names =
        now.series().stream()
            .filter(each -> each.name().equals("tern_model_loaded"))
            .map(each -> each.label("model"))
            .distinct()
            .toList();
    List<Json> models = new ArrayList<>();
    names.stream().limit(MOST_MODELS).forEach(name -> models.add(model(name)));
    return json.put("models", new Json.Arr(models))
        .put("left_out", Math.max(0, names.size() - MOST_MODELS));
  }

  private double total(String name) {
    return now.series().stream()
        .filter(each -> each.name().equals(name))
        .mapToDouble(ExposedMetrics.Series::value)
        .sum();
  }

  private static void put(Json.Obj json, String key, double value) {
    if (Double.isFinite(value)) {
      json.put(key, value);
    }
  }

  private Json model(String name) {
    Json.Obj json = Json.object().put("name", name);
    put(json, "requests", now.sum("tern_requests_total", name));
    put(json, "errors", errors(now, name));
    put(json, "rows", now.sum("tern_rows_total", name));
    before.ifPresent(old -> {
      double seconds = (now.millis() - old.millis()) / 1e3;
      double more = now.sum("tern_requests_total", name) - old.sum("tern_requests_total", name);
      if (seconds > 0 && more >= 0) {
        put(json, "requests_per_second", more / seconds);
      }
    });
    put(json, "p50", quantile(name, 0.5));
    put(json, "p99", quantile(name, 0.99));
    now.of("tern_prediction_psi", name).forEach(each -> put(json, "psi", each.value()));
    for (ExposedMetrics.Series each : now.of("tern_prediction_mean", name)) {
      put(json, "mean_" + each.label("window"), each.value());
    }
    return json.put("unknown", unknown(name)).put("labels", labels(name));
  }

  private static double errors(ExposedMetrics page, String name) {
    return page.of("tern_requests_total", name).stream()
        .filter(each -> isError(each.label("code")))
        .mapToDouble(ExposedMetrics.Series::value)
        .sum();
  }

  /** Whether a status of HTTP or of gRPC is the server's fault. */
  private static boolean isError(String code) {
    return code.startsWith("5") || GRPC_ERRORS.contains(code);
  }

  /** Seconds that a share of the requests took at most, of those since the page before if any. */
  private double quantile(String name, double share) {
    TreeMap<Double, Double> counts = now.durations(name);
    Optional<TreeMap<Double, Double>> old =
        before
            .map(page -> page.durations(name))
            .filter(earlier -> !earlier.isEmpty() && last(counts) > last(earlier));
    double all = last(counts) - old.map(ServerReport::last).orElse(0.0);
    for (Map.Entry<Double, Double> each : counts.entrySet()) {
      double count = each.getValue() - old.map(o -> o.getOrDefault(each.getKey(), 0.0)).orElse(0.0);
      if (all > 0 && count >= share * all) {
        return each.getKey();
      }
    }
    return Double.NaN;
  }

  private static double last(TreeMap<Double, Double> counts) {
    return counts.isEmpty() ? 0 : counts.lastEntry().getValue();
  }

  /** The columns with the largest shares of ids that the model does not know. */
  private Json unknown(String name) {
    record Share(String column, double share) {}
    List<Share> shares = new ArrayList<>();
    List<ExposedMetrics.Series> all = now.of("tern_ids_total", name);
    for (ExposedMetrics.Series of : now.of("tern_unknown_ids_total", name)) {
      all.stream()
          .filter(each -> each.has("column", of.label("column")) && each.value() >= FEWEST_IDS)
          .findFirst()
          .ifPresent(each -> shares.add(new Share(of.label("column"), of.value() / each.value())));
    }
    shares.sort(Comparator.comparingDouble(Share::share).reversed());
    return new Json.Arr(
        shares.stream()
            .limit(MOST_COLUMNS)
            .<Json>map(
                each -> Json.object().put("column", each.column()).put("share", each.share()))
            .toList());
  }

  private Json labels(String name) {
    List<Json> labels = new ArrayList<>();
    for (ExposedMetrics.Series loaded : now.of("tern_model_loaded", name)) {
      Json.Obj label =
          Json.object().put("label", loaded.label("label")).put("loaded", loaded.value() > 0);
      put(label, "step", of("tern_model_step", loaded));
      put(label, "age", of("tern_model_age_seconds", loaded));
      put(label, "checkpoint_age", of("tern_checkpoint_age_seconds", loaded));
      put(label, "deltas", of("tern_deltas_total", loaded));
      put(label, "delta_rows", of("tern_delta_rows_total", loaded));
      put(label, "memory", of("tern_model_memory_bytes", loaded));
      put(label, "candidates", of("tern_candidates", loaded));
      labels.add(label);
    }
    return new Json.Arr(labels);
  }

  private double of(String family, ExposedMetrics.Series loaded) {
    return now.of(family, loaded.label("model")).stream()
        .filter(each -> each.has("label", loaded.label("label")))
        .mapToDouble(ExposedMetrics.Series::value)
        .findFirst()
        .orElse(Double.NaN);
  }
}
