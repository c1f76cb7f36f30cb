package dev.tern.serve.http;

import dev.tern.serve.http.metrics.Exposition;
import dev.tern.serve.http.metrics.ModelMetrics;
import dev.tern.serve.wire.RefusedException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/**
 * All that is served under one name: a version for each label, the first of which is the default.
 */
final class Hosted {
  private final String name;
  private final Map<String, Place> byLabel = new LinkedHashMap<>();
  private final Place first;
  private final ModelMetrics metrics;
  private final Quick quick = new Quick();

  /**
   * @param places in the order that they were named; not empty
   */
  Hosted(String name, List<Place> places) {
    this.name = name;
    places.forEach(each -> byLabel.put(each.label(), each));
    first = places.getFirst();
    metrics = new ModelMetrics(name);
  }

  String name() {
    return name;
  }

  ModelMetrics metrics() {
    return metrics;
  }

  /** Says which of its requests are computed where they were read. */
  Quick quick() {
    return quick;
  }

  /** Those in memory. */
  List<LiveModel> versions() {
    return byLabel.values().stream().flatMap(each -> each.model().stream()).toList();
  }

  List<Place> places() {
    return List.copyOf(byLabel.values());
  }

  /**
   * The places with these labels, in the order that they were named at the start.
   *
   * @throws RefusedException 404 where there is no such label
   */
  List<Place> places(List<String> labels) {
    for (String label : labels) {
      if (!byLabel.containsKey(label)) {
        throw unknown("label " + label, byLabel.keySet().toString());
      }
    }
    return places().stream().filter(each -> labels.contains(each.label())).toList();
  }

  /**
   * The version that a path asks for, held until the lease is closed.
   *
   * @throws RefusedException 404 where it is not served, 503 where it is unloaded
   */
  LiveModel.Lease lease(Route route) {
    if (!route.label().isEmpty()) {
      Place place = byLabel.get(route.label());
      if (place == null) {
        throw unknown("label " + route.label(), byLabel.keySet().toString());
      }
      return place.lease();
    }
    if (route.version().isEmpty()) {
      return first.lease();
    }
    for (Place place : byLabel.values()) {
      if (place.model().isEmpty()) {
        continue;
      }
      LiveModel.Lease lease = place.lease();
      if (route.version().equals(Long.toString(lease.version().step()))) {
        return lease;
      }
      lease.close();
    }
    throw unknown(
        "version " + route.version(), versions().stream().map(LiveModel::step).toList() + "");
  }

  private RefusedException unknown(String what, String there) {
    return new RefusedException(
        404, "model %s: got %s, expected one of %s".formatted(name, what, there));
  }

  /** Whether the checkpoints of a version come from elsewhere. */
  boolean hasFeed() {
    return versions().stream().anyMatch(model -> model.feed().isPresent());
  }

  /** Writes a line for each version that has a feed. */
  void writeFeeds(Exposition page, String family, ToDoubleFunction<ModelFeed.State> value) {
    write(page, family, live -> live.feed().map(feed -> value.applyAsDouble(feed.state())));
  }

  /** The same for each reason to refuse what came. */
  void writeRefused(Exposition page, String family) {
    byLabel.forEach((label, place) ->
        place
            .model()
            .flatMap(LiveModel::feed)
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

  /** Writes a line for each version that has a value. */
  void write(Exposition page, String family, Function<LiveModel, Optional<Double>> of) {
    byLabel.forEach((label, place) ->
        place.model().flatMap(of).ifPresent(value -> page.line(family, labels(label), value)));
  }

  /** Writes 1 for each label whose model is in memory, 0 for others. */
  void writePlaces(Exposition page, String family) {
    byLabel.forEach(
        (label, place) -> page.line(family, labels(label), place.model().isPresent() ? 1L : 0L));
  }

  /** Writes a line for each version. */
  void writeAll(Exposition page, String family, ToDoubleFunction<LiveModel> value) {
    write(page, family, live -> Optional.of(value.applyAsDouble(live)));
  }
}
