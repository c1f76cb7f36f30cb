package dev.tern.cli.serve;

import java.util.concurrent.CountDownLatch;
import sun.misc.Signal;

/**
 * The signals that end a server: the first one lets it finish, a second one ends the process at
 * once. A shutdown hook could not tell them apart, as the JVM hears no signal after the first.
 */
final class StopSignals {
  private static final int SIGNALLED = 128;

  private final CountDownLatch first = new CountDownLatch(1);

  /** Hears of signals from here on. */
  void listen() {
    for (String name : new String[] {"TERM", "INT"}) {
      Signal.handle(new Signal(name), this::heard);
    }
  }

  private void heard(Signal signal) {
    synchronized (first) {
      if (first.getCount() == 0) {
        Runtime.getRuntime().halt(SIGNALLED + signal.getNumber());
      }
      first.countDown();
    }
  }

  /** Waits for the first one. */
  void await() throws InterruptedException {
    first.await();
  }
}
