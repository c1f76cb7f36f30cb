package dev.tern.cli.board;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A page of metrics in the text format of Prometheus, of which lines that are none are left out.
 *
 * @param series in the order of the page
 * @param millis when it was read
 */
record ExposedMetrics(List<Series> series, long millis) {
  /** Series of a page at most; a server of Tern has some dozens a model. */
  private static final int MOST_SERIES = 50_000;

  /** One value with its labels. */
  record Series(String name, Map<String, String> labels, double value) {
    boolean has(String key, String wanted) {
      return wanted.equals(labels.get(key));
    }

    String label(String key) {
      return labels.getOrDefault(key, "");
    }
  }

  static ExposedMetrics parse(String page, long millis) {
    List<Series> all = new ArrayList<>();
    int from = 0;
    while (from < page.length() && all.size() < MOST_SERIES) {
      int end = page.indexOf('\n', from);
      end = end < 0 ? page.length() : end;
      add(page.substring(from, end), all);
      from = end + 1;
    }
    return new ExposedMetrics(all, millis);
  }

  private static void add(String line, List<Series> to) {
    int value = line.lastIndexOf(' ');
    if (line.startsWith("#") || value <= 0) {
      return;
    }
    String text = line.substring(value + 1);
    double number;
    try {
      number = text.equals("+Inf") ? Double.POSITIVE_INFINITY : Double.parseDouble(text);
    } catch (NumberFormatException e) {
      return;
    }
    int open = line.indexOf('{');
    if (open < 0) {
      to.add(new Series(line.substring(0, value), Map.of(), number));
    } else if (line.charAt(value - 1) == '}') {
      to.add(
          new Series(line.substring(0, open), labels(line.substring(open + 1, value - 1)), number));
    }
  }

  /** Pairs as in {@code model="m",code="200"}, with {@code \} before quotes and itself. */
  private static Map<String, String> labels(String text) {
    Map<String, String> labels = new LinkedHashMap<>();
    int at = 0;
    while (at < text.length()) {
      int equals = text.indexOf("=\"", at);
      if (equals < 0) {
        return labels;
      }
      String key = text.substring(at, equals);
      StringBuilder value = new StringBuilder();
      int i = equals + 2;
      while (i < text.length() && text.charAt(i) != '"') {
        if (text.charAt(i) == '\\' && i + 1 < text.length()) {
          i++;
          value.append(text.charAt(i) == 'n' ? '\n' : text.charAt(i));
        } else {
          value.append(text.charAt(i));
        }
        i++;
      }
      labels.put(key, value.toString());
      at = i + 2; // Behind the quote and the comma.
    }
    return labels;
  }

  /** The sum of all series of a name and model. */
  double sum(String name, String model) {
    return series.stream()
        .filter(each -> each.name().equals(name) && each.has("model", model))
        .mapToDouble(Series::value)
        .filter(Double::isFinite)
        .sum();
  }

  /** The series of a name and model. */
  List<Series> of(String name, String model) {
    return series.stream()
        .filter(each -> each.name().equals(name) && each.has("model", model))
        .toList();
  }

  /** The value of a series without labels; NaN where there is none. */
  double value(String name) {
    return series.stream()
        .filter(each -> each.name().equals(name) && each.labels().isEmpty())
        .mapToDouble(Series::value)
        .findFirst()
        .orElse(Double.NaN);
  }

  /** Requests of a model by how long they took at most, in seconds: those of all protocols. */
  TreeMap<Double, Double> durations(String model) {
    TreeMap<Double, Double> counts = new TreeMap<>();
    for (Series each : of("tern_request_duration_seconds_bucket", model)) {
      String most = each.label("le");
      try {
        double bound = most.equals("+Inf") ? Double.POSITIVE_INFINITY : Double.parseDouble(most);
        counts.merge(bound, each.value(), Double::sum);
      } catch (NumberFormatException e) {
        continue; // Not a bucket of Tern's.
      }
    }
    return counts;
  }
}
