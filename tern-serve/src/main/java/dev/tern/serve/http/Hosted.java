package dev.tern.serve.http;

import dev.tern.serve.RefusedException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * All that is served under one name: a version for each label, the first of which is the default.
 */
final class Hosted {
  private final String name;
  private final Map<String, LiveModel> byLabel;
  private final LiveModel first;
  private final ModelMetrics metrics;

  /**
   * @param byLabel in the order that they were named; not empty
   */
  Hosted(String name, Map<String, LiveModel> byLabel) {
    this.name = name;
    this.byLabel = new LinkedHashMap<>(byLabel);
    first = byLabel.values().iterator().next();
    metrics = new ModelMetrics(name);
  }

  String name() {
    return name;
  }

  ModelMetrics metrics() {
    return metrics;
  }

  List<LiveModel> versions() {
    return List.copyOf(byLabel.values());
  }

  Map<String, LiveModel> labels() {
    return byLabel;
  }

  /**
   * The version that a path asks for, held until the lease is closed.
   *
   * @throws RefusedException 404 where it is not served
   */
  LiveModel.Lease lease(Route route) {
    if (!route.label().isEmpty()) {
      LiveModel model = byLabel.get(route.label());
      if (model == null) {
        throw unknown("label " + route.label(), byLabel.keySet().toString());
      }
      return model.lease();
    }
    if (route.version().isEmpty()) {
      return first.lease();
    }
    for (LiveModel model : byLabel.values()) {
      LiveModel.Lease lease = model.lease();
      if (route.version().equals(Long.toString(lease.version().step()))) {
        return lease;
      }
      lease.close();
    }
    throw unknown(
        "version " + route.version(), byLabel.values().stream().map(LiveModel::step).toList() + "");
  }

  private RefusedException unknown(String what, String there) {
    return new RefusedException(
        404, "model %s: got %s, expected one of %s".formatted(name, what, there));
  }

  /** Writes a line for each version. */
  void write(Exposition page, String family, ToDoubleFunction<LiveModel> value) {
    byLabel.forEach((label, model) ->
        page.line(
            family,
            metrics.label() + "," + Exposition.label("label", label),
            value.applyAsDouble(model)));
  }
}
