package dev.tern.cli;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** The end of the command that this process was started for. */
final class ProcessEnd {
  private static final CountDownLatch REACHED = new CountDownLatch(1);

  private ProcessEnd() {}

  /** The command has ended. */
  static void reached() {
    REACHED.countDown();
  }

  /**
   * Waits for the command to end before the process does. For shutdown hooks, as {@link
   * System#exit} waits for them.
   */
  static void await(Duration most) {
    try {
      REACHED.await(most.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
