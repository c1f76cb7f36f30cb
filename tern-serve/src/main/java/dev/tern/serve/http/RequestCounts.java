package dev.tern.serve.http;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.LongAdder;

/** Requests of one model by one protocol: how many by status, and how long they took. */
final class RequestCounts {
  /** The statuses that Tern answers with; one that is not here counts as 500. */
  private static final int[] CODES = {
    200, 204, 400, 401, 403, 404, 405, 408, 409, 413, 414, 415, 417, 426, 429, 431, 500, 501, 503,
    505
  };

  private final LongAdder[] byCode = new LongAdder[CODES.length];
  private final Histogram duration = new Histogram();

  RequestCounts() {
    for (int at = 0; at < CODES.length; at++) {
      byCode[at] = new LongAdder();
    }
  }

  void add(int code, long nanos) {
    byCode[place(code)].increment();
    duration.add(nanos);
  }

  private static int place(int code) {
    int at = 0;
    while (at < CODES.length && CODES[at] != code) {
      at++;
    }
    return at < CODES.length ? at : place(500);
  }

  void writeCodes(Exposition page, String name, String labels) {
    for (int at = 0; at < CODES.length; at++) {
      long count = byCode[at].sum();
      if (count > 0 || CODES[at] == 200) {
        page.line(name, labels + ",code=\"" + CODES[at] + "\"", count);
      }
    }
  }

  void writeTimes(Exposition page, String name, String labels) {
    duration.write(page, name, labels);
  }

  /** Counters by a name that has few values. */
  static final class Named {
    private final ConcurrentMap<String, LongAdder> counts = new ConcurrentHashMap<>();

    Named(String... names) {
      for (String name : names) {
        counts.put(name, new LongAdder());
      }
    }

    void add(String name) {
      LongAdder count = counts.get(name);
      if (count == null) {
        throw new IllegalArgumentException("metrics: got " + name + ", expected one of " + counts);
      }
      count.increment();
    }

    long get(String name) {
      LongAdder count = counts.get(name);
      return count == null ? 0 : count.sum();
    }

    void write(Exposition page, String family, String label) {
      counts.keySet().stream()
          .sorted()
          .forEach(each -> page.line(family, Exposition.label(label, each), get(each)));
    }
  }
}
