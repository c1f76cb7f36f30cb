package dev.tern.bench;

import java.util.Collections;
import java.util.List;
import java.util.Locale;

/** What a suite's ratios to the peer come to. */
public final class Ratios {
  private Ratios() {}

  /** Prints geometric mean and least, where there are any. */
  public static void print(String bench, int threads, List<Double> ratios, boolean json) {
    print(bench, "", threads, ratios, json);
  }

  /** The same for a part of the suite, {@code what} its ratios are of: " of 4096 rows". */
  static void print(String bench, String what, int threads, List<Double> ratios, boolean json) {
    if (ratios.isEmpty()) {
      return;
    }
    double mean = Math.exp(ratios.stream().mapToDouble(Math::log).average().orElseThrow());
    double least = Collections.min(ratios);
    String text =
        json
            ? "{\"bench\":\"%s\",\"case\":\"geometric mean of %d ratios%s, the least %.3f\","
                + "\"threads\":%d,\"value\":%.3f,\"unit\":\"ratio\"}"
            : "%-8s geometric mean of %d ratios%s, the least %.3f  %d threads  %.3f ratio";
    System.out.println(
        String.format(Locale.ROOT, text, bench, ratios.size(), what, least, threads, mean));
  }
}
