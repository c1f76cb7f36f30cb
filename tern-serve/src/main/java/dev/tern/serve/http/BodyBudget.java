package dev.tern.serve.http;

import java.util.concurrent.atomic.AtomicLong;

/** Bytes that the bodies of all requests may hold at once, so that slow callers fill no heap. */
final class BodyBudget {
  private final long most;
  private final AtomicLong held = new AtomicLong();

  BodyBudget(long most) {
    this.most = most;
  }

  /** A quarter of the heap, but room for some bodies of the largest size. */
  static BodyBudget of(ServeLimits limits) {
    return new BodyBudget(Math.max(2 * limits.body(), Runtime.getRuntime().maxMemory() / 4));
  }

  /** Takes {@code bytes}, or says that there is no room for them. */
  boolean take(long bytes) {
    if (held.addAndGet(bytes) > most) {
      held.addAndGet(-bytes);
      return false;
    }
    return true;
  }

  void give(long bytes) {
    held.addAndGet(-bytes);
  }

  long held() {
    return held.get();
  }
}
