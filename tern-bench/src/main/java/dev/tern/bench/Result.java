package dev.tern.bench;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * One case of a suite.
 *
 * @param runs what was measured, in order; the median counts
 * @param peer name of the peer
 * @param peerRuns what the peer measured of itself, empty if none ran; as many as {@code runs} and
 *     in turn with them, or else not in turn
 */
public record Result(
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

  /**
   * For rates: above 1, Tern is faster. Of rounds in turn the median of each round's own ratio, as
   * both of a pair ran at the same pace of a shared machine; else the ratio of the medians.
   */
  public double ratio() {
    if (runs.size() != peerRuns.size()) {
      return value() / peerValue();
    }
    List<Double> pairs = new ArrayList<>();
    for (int i = 0; i < runs.size(); i++) {
      pairs.add(runs.get(i) / peerRuns.get(i));
    }
    return median(pairs);
  }

  public static double median(List<Double> runs) {
    List<Double> sorted = runs.stream().sorted().toList();
    int half = sorted.size() / 2;
    return sorted.size() % 2 == 1
        ? sorted.get(half)
        : (sorted.get(half - 1) + sorted.get(half)) / 2;
  }

  private static String list(List<Double> runs) {
    return runs.stream().map(Result::number).collect(Collectors.joining(",", "[", "]"));
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, Math.abs(value) < 1000 ? "%.2f" : "%.1f", value);
  }

  private static String spread(List<Double> runs) {
    return String.format(
        Locale.ROOT,
        "(%d runs, %s to %s)",
        runs.size(),
        number(Collections.min(runs)),
        number(Collections.max(runs)));
  }

  public String toJson() {
    return toJson("");
  }

  /** The same with further fields, each after a comma. */
  String toJson(String more) {
    String own =
        String.format(
            Locale.ROOT,
            "{\"bench\":\"%s\",\"case\":\"%s\",\"threads\":%d,\"value\":%s,\"unit\":\"%s\","
                + "\"runs\":%s",
            bench,
            name,
            threads,
            number(value()),
            unit,
            list(runs));
    String beside =
        peerRuns.isEmpty()
            ? ""
            : String.format(
                Locale.ROOT,
                ",\"peer\":\"%s\",\"peer_value\":%s,\"peer_runs\":%s,\"ratio\":%.3f",
                peer,
                number(peerValue()),
                list(peerRuns),
                ratio());
    return own + beside + more + "}";
  }

  public String toText() {
    String own =
        String.format(
            Locale.ROOT,
            "%-8s %-34s %d threads  %s %s %s",
            bench,
            name,
            threads,
            number(value()),
            unit,
            spread(runs));
    String beside =
        peerRuns.isEmpty()
            ? ""
            : String.format(
                Locale.ROOT,
                "  %s %s %s  ratio %.2f",
                peer,
                number(peerValue()),
                spread(peerRuns),
                ratio());
    return own + beside;
  }
}
