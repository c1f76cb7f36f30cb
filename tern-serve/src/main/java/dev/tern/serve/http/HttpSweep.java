package dev.tern.serve.http;

import java.time.Duration;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import org.eclipse.jetty.http2.HTTP2Connection;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.io.ssl.SslConnection;
import org.jspecify.annotations.Nullable;

/**
 * Closes connections on which the head of a request comes byte by byte. The library's idle time
 * begins anew with each byte, so it never ends these.
 */
final class HttpSweep {
  /** What was seen of a connection: its requests, its bytes, and since when a head has come in. */
  private static final class Seen {
    long messages = -1;
    long bytes;
    long since;
    boolean isComing;
  }

  /** Bytes of the shortest frame of HTTP/2. */
  private static final int LEAST_FRAME = 9;

  private final long most;
  private final LongSupplier nanos;
  private Map<EndPoint, Seen> all = new IdentityHashMap<>();

  HttpSweep(Duration most, LongSupplier nanos) {
    this.most = most.toNanos();
    this.nanos = nanos;
  }

  /**
   * Looks at all connections.
   *
   * @param busy those on which a body comes in, which has its own rule
   * @return how many it closed
   */
  int run(Collection<EndPoint> connections, Set<Object> busy) {
    Map<EndPoint, Seen> next = new IdentityHashMap<>(2 * connections.size());
    int closed = 0;
    long now = nanos.getAsLong();
    for (EndPoint each : connections) {
      Seen seen = all.computeIfAbsent(each, key -> new Seen());
      next.put(each, seen);
      if (isLate(each, seen, busy, now)) {
        each.close();
        closed++;
      }
    }
    all = next;
    return closed;
  }

  private boolean isLate(EndPoint point, Seen seen, Set<Object> busy, long now) {
    Connection outer = point.getConnection();
    if (outer == null) {
      return false;
    }
    Connection http = http(outer);
    if (http == null) {
      return false; // Not yet whole; looked at a second later.
    }
    long messages = http.getMessagesIn();
    long bytes = outer.getBytesIn();
    if (http instanceof HTTP2Connection) {
      return isLateInFrames(seen, messages, bytes, now);
    }
    boolean isBusy = busy.contains(point) || busy.contains(http.getEndPoint());
    if (messages != seen.messages || isBusy) {
      // A connection's first bytes are its first head; those behind a request may be its rest.
      boolean isNew = seen.messages < 0 && messages == 0;
      seen.bytes = isNew ? 0 : bytes;
      seen.messages = messages;
      seen.isComing = false;
    }
    if (bytes == seen.bytes) {
      return false;
    }
    if (!seen.isComing) {
      seen.isComing = true;
      seen.since = now;
    }
    return now - seen.since >= most;
  }

  /**
   * Of HTTP/2, whose callers may send frames at any time that are no requests: whether so few bytes
   * come that they are no whole frame, second after second.
   */
  private boolean isLateInFrames(Seen seen, long messages, long bytes, long now) {
    long more = bytes - seen.bytes;
    boolean isFrame = more >= LEAST_FRAME || messages != seen.messages;
    seen.bytes = bytes;
    seen.messages = messages;
    if (isFrame) {
      seen.isComing = false;
    } else if (more > 0 && !seen.isComing) {
      seen.isComing = true;
      seen.since = now;
    }
    return seen.isComing && more > 0 && now - seen.since >= most;
  }

  /** The connection of requests: that inside one of TLS. */
  private static @Nullable Connection http(Connection outer) {
    return outer instanceof SslConnection tls ? tls.getSslEndPoint().getConnection() : outer;
  }
}
