package dev.tern.serve.http;

import dev.tern.serve.RequestMemory;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * Bytes that all requests may hold at once, so that slow callers fill no heap: bodies as they were
 * sent, inflated ones, columns that a body has once for many rows, items that are found, and large
 * answers until they are sent.
 */
final class BodyBudget implements RequestMemory {
  private static final int SMALL_ANSWER = 16 << 10;

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

  /**
   * Takes the bytes of an answer until it is sent. Small ones are not counted: a caller that reads
   * none of them holds as much memory by its connection.
   */
  boolean takeAnswer(long bytes) {
    return !isCounted(bytes) || take(bytes);
  }

  /** Gives back what {@link #takeAnswer} took. */
  void giveAnswer(long bytes) {
    if (isCounted(bytes)) {
      give(bytes);
    }
  }

  static boolean isCounted(long answer) {
    return answer > SMALL_ANSWER;
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
