package dev.tern.serve;

import dev.tern.data.encode.FeatureEncoder;
import java.util.ArrayDeque;
import java.util.Iterator;

/** The contexts that no request uses. Thread-safe. */
public final class RequestContexts {
  /** Ids that a context has room for, up to which it is worth keeping: 8 bytes each. */
  private static final int MOST_IDS = 1 << 20;

  private static final int MOST = Math.max(16, 4 * Runtime.getRuntime().availableProcessors());

  private final RequestMemory memory;
  private final ArrayDeque<RequestContext> free = new ArrayDeque<>();

  /** Contexts of requests that may hold as much memory as they need. */
  public RequestContexts() {
    this(RequestMemory.UNLIMITED);
  }

  /**
   * Contexts of requests that share memory.
   *
   * @param memory what columns for all rows take, while their request is answered
   */
  public RequestContexts(RequestMemory memory) {
    this.memory = memory;
  }

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
    return new RequestContext(encoder, memory);
  }

  /** Takes a context back, unless a large request made it large. */
  void give(RequestContext context) {
    context.flow.end();
    context.excluded = null;
    context.giveMemory();
    if (context.ids() > MOST_IDS) {
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
