package dev.tern.serve.http;

import dev.tern.serve.RefusedException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
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

  /** Whether the checkpoints of a version come from elsewhere. */
  boolean hasFeed() {
    return byLabel.values().stream().anyMatch(model -> model.feed().isPresent());
  }

  /** Writes a line for each version that has a feed. */
  void writeFeeds(Exposition page, String family, ToDoubleFunction<ModelFeed.State> value) {
    byLabel.forEach((label, model) ->
        model
            .feed()
            .ifPresent(
                feed -> page.line(family, labels(label), value.applyAsDouble(feed.state()))));
  }

  /** The same for each reason to refuse what came. */
  void writeRefused(Exposition page, String family) {
    byLabel.forEach((label, model) ->
        model
            .feed()
            .ifPresent(feed ->
                new TreeMap<>(feed.state().refused())
                    .forEach((reason, count) ->
                        page.line(
                            family,
                            labels(label) + "," + Exposition.label("reason", reason),
                            count))));
  }

  private String labels(String label) {
    return metrics.label() + "," + Exposition.label("label", label);
  }

  /** Writes a line for each version. */
  void write(Exposition page, String family, ToDoubleFunction<LiveModel> value) {
    byLabel.forEach((label, model) -> page.line(family, labels(label), value.applyAsDouble(model)));
  }
}
