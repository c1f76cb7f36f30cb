package dev.tern.serve;

import dev.tern.data.encode.FeatureEncoder;
import java.util.ArrayDeque;
import java.util.Iterator;

/** The contexts that no request uses. Thread-safe. */
final class RequestContexts {
  /** Bytes of a body, and rows, up to which a request's memory is worth keeping. */
  private static final int LARGE_BODY = 4 << 20;

  private static final int LARGE_ROWS = 2_048;
  private static final int MOST = 64;

  private final ArrayDeque<RequestContext> free = new ArrayDeque<>();

  RequestContext take(FeatureEncoder encoder) {
    synchronized (this) {
      for (Iterator<RequestContext> all = free.iterator(); all.hasNext(); ) {
        RequestContext context = all.next();
        if (context.encoder == encoder) {
          all.remove();
          return context;
        }
      }
    }
    return new RequestContext(encoder);
  }

  /** Takes a context back, unless a large request made it large. */
  void give(RequestContext context, int body) {
    if (body > LARGE_BODY || context.rows.size() > LARGE_ROWS) {
      return;
    }
    synchronized (this) {
      if (free.size() == MOST) {
        free.removeLast(); // The one that was not asked for the longest.
      }
      free.addFirst(context);
    }
  }
}
