package dev.tern.serve.http.metrics;

import dev.tern.serve.grpc.GrpcStatus;
import java.util.Arrays;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.LongAdder;

/** Requests of one model by one protocol: how many by status, and how long they took. */
public final class RequestCounts {
  private static final int[] HTTP = {
    200, 204, 400, 401, 403, 404, 405, 408, 409, 413, 414, 415, 417, 426, 429, 431, 500, 501, 503,
    505
  };

  /** The statuses that Tern answers with, of which the first is good. */
  private final int[] codes;

  private final String[] labels;

  /** What a status that is not among them counts as. */
  private final int other;

  private final LongAdder[] byCode;
  private final Histogram duration = new Histogram();

  private RequestCounts(int[] codes, String[] labels, int other) {
    this.codes = codes;
    this.labels = labels;
    this.other = other;
    byCode = new LongAdder[codes.length];
    for (int at = 0; at < codes.length; at++) {
      byCode[at] = new LongAdder();
    }
  }

  /** Requests by the statuses of HTTP. */
  static RequestCounts ofHttp() {
    String[] labels = Arrays.stream(HTTP).mapToObj(Integer::toString).toArray(String[]::new);
    return new RequestCounts(HTTP, labels, 500);
  }

  /** Calls by the statuses of gRPC, by their numbers. */
  static RequestCounts ofGrpc() {
    GrpcStatus[] all = GrpcStatus.values();
    String[] labels = Arrays.stream(all).map(GrpcStatus::name).toArray(String[]::new);
    int[] codes = Arrays.stream(all).mapToInt(GrpcStatus::ordinal).toArray();
    return new RequestCounts(codes, labels, GrpcStatus.INTERNAL.ordinal());
  }

  public void add(int code, long nanos) {
    byCode[place(code)].increment();
    duration.add(nanos);
  }

  /** Whether it counted any request. */
  boolean isUsed() {
    for (LongAdder each : byCode) {
      if (each.sum() > 0) {
        return true;
      }
    }
    return false;
  }

  private int place(int code) {
    int at = 0;
    while (at < codes.length && codes[at] != code) {
      at++;
    }
    return at < codes.length ? at : place(other);
  }

  void writeCodes(Exposition page, String name, String with) {
    for (int at = 0; at < codes.length; at++) {
      long count = byCode[at].sum();
      if (count > 0 || at == 0) {
        page.line(name, with + ",code=\"" + labels[at] + "\"", count);
      }
    }
  }

  void writeTimes(Exposition page, String name, String labels) {
    duration.write(page, name, labels);
  }

  /** Counters by a name that has few values. */
  public static final class Named {
    private final ConcurrentMap<String, LongAdder> counts = new ConcurrentHashMap<>();

    public Named(String... names) {
      for (String name : names) {
        counts.put(name, new LongAdder());
      }
    }

    public void add(String name) {
      LongAdder count = counts.get(name);
      if (count == null) {
        throw new IllegalArgumentException("metrics: got " + name + ", expected one of " + counts);
      }
      count.increment();
    }

    public long get(String name) {
      LongAdder count = counts.get(name);
      return count == null ? 0 : count.sum();
    }

    public void write(Exposition page, String family, String label) {
      counts.keySet().stream()
          .sorted()
          .forEach(each -> page.line(family, Exposition.label(label, each), get(each)));
    }
  }
}
