package dev.tern.bench;

import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * One case of a suite.
 *
 * @param runs what was measured, in order; the median counts
 * @param peer name of the peer
 * @param peerRuns what the peer measured of itself, empty if none ran
 */
record Result(
    String bench,
    String name,
    int threads,
    List<Double> runs,
    String unit,
    String peer,
    List<Double> peerRuns) {
  double value() {
    return median(runs);
  }

  double peerValue() {
    return median(peerRuns);
  }

  /** For rates: above 1, Tern is faster. */
  double ratio() {
    return value() / peerValue();
  }

  private static double median(List<Double> runs) {
    List<Double> sorted = runs.stream().sorted().toList();
    int half = sorted.size() / 2;
    return sorted.size() % 2 == 1
        ? sorted.get(half)
        : (sorted.get(half - 1) + sorted.get(half)) / 2;
  }

  private static String list(List<Double> runs) {
    return runs.stream()
        .map(run -> String.format(Locale.ROOT, "%.1f", run))
        .collect(Collectors.joining(",", "[", "]"));
  }

  private static String spread(List<Double> runs) {
    return String.format(
        Locale.ROOT,
        "(%d runs, %,.0f to %,.0f)",
        runs.size(),
        Collections.min(runs),
        Collections.max(runs));
  }

  String toJson() {
    String own =
        String.format(
            Locale.ROOT,
            "{\"bench\":\"%s\",\"case\":\"%s\",\"threads\":%d,\"value\":%.1f,\"unit\":\"%s\","
                + "\"runs\":%s",
            bench,
            name,
            threads,
            value(),
            unit,
            list(runs));
    String beside =
        peerRuns.isEmpty()
            ? ""
            : String.format(
                Locale.ROOT,
                ",\"peer\":\"%s\",\"peer_value\":%.1f,\"peer_runs\":%s,\"ratio\":%.3f",
                peer,
                peerValue(),
                list(peerRuns),
                ratio());
    return own + beside + "}";
  }

  String toText() {
    String own =
        String.format(
            Locale.ROOT,
            "%-8s %-34s %d threads  %,.0f %s %s",
            bench,
            name,
            threads,
            value(),
            unit,
            spread(runs));
    String beside =
        peerRuns.isEmpty()
            ? ""
            : String.format(
                Locale.ROOT,
                "  %s %,.0f %s  ratio %.2f",
                peer,
                peerValue(),
                spread(peerRuns),
                ratio());
    return own + beside;
  }
}
