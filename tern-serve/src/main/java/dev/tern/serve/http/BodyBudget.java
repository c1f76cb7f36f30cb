package dev.tern.serve.http;

import dev.tern.serve.RequestMemory;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * Bytes that all requests may hold at once, so that slow callers fill no heap: bodies as they were
 * sent, inflated ones, and columns that a body has once for many rows.
 */
final class BodyBudget implements RequestMemory {
  private final long most;
  private final AtomicLong held = new AtomicLong();
  private final LongAdder refused = new LongAdder();

  BodyBudget(long most) {
    this.most = most;
  }

  /** A quarter of the heap, but room for some bodies of the largest size. */
  static BodyBudget of(ServeLimits limits) {
    return new BodyBudget(Math.max(2 * limits.body(), Runtime.getRuntime().maxMemory() / 4));
  }

  @Override
  public boolean take(long bytes) {
    if (held.addAndGet(bytes) > most) {
      held.addAndGet(-bytes);
      refused.increment();
      return false;
    }
    return true;
  }

  /** How often there was no room. */
  long refused() {
    return refused.sum();
  }

  @Override
  public void give(long bytes) {
    held.addAndGet(-bytes);
  }

  long held() {
    return held.get();
  }
}
