package dev.tern.bench;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.stream.Collectors;

/**
 * One case of a suite.
 *
 * @param runs what was measured, in order; the median counts
 * @param peer name of the peer, empty if none ran
 */
record Result(
    String bench,
    String name,
    int threads,
    List<Double> runs,
    String unit,
    String peer,
    OptionalDouble peerValue) {
  double value() {
    double[] sorted = runs.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    return sorted[sorted.length / 2];
  }

  /** For rates: above 1, Tern is faster. */
  OptionalDouble ratio() {
    return peerValue.isPresent()
        ? OptionalDouble.of(value() / peerValue.getAsDouble())
        : OptionalDouble.empty();
  }

  String toJson() {
    StringBuilder json = new StringBuilder();
    json.append(
        String.format(
            Locale.ROOT,
            "{\"bench\":\"%s\",\"case\":\"%s\",\"threads\":%d,\"value\":%.1f,\"unit\":\"%s\"",
            bench,
            name,
            threads,
            value(),
            unit));
    json.append(
        runs.stream()
            .map(run -> String.format(Locale.ROOT, "%.1f", run))
            .collect(Collectors.joining(",", ",\"runs\":[", "]")));
    if (peerValue.isPresent()) {
      json.append(
          String.format(
              Locale.ROOT,
              ",\"peer\":\"%s\",\"peer_value\":%.1f,\"ratio\":%.3f",
              peer,
              peerValue.getAsDouble(),
              ratio().getAsDouble()));
    }
    return json.append('}').toString();
  }

  String toText() {
    double[] sorted = runs.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    String own =
        String.format(
            Locale.ROOT,
            "%-10s %-36s %d threads  %,.0f %s (%d runs, %,.0f to %,.0f)",
            bench,
            name,
            threads,
            value(),
            unit,
            sorted.length,
            Arrays.stream(sorted).min().orElse(Double.NaN),
            Arrays.stream(sorted).max().orElse(Double.NaN));
    return peerValue.isPresent()
        ? own
            + String.format(
                Locale.ROOT,
                "  %s %,.0f  ratio %.2f",
                peer,
                peerValue.getAsDouble(),
                ratio().getAsDouble())
        : own;
  }
}
