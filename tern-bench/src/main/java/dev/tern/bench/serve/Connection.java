package dev.tern.bench.serve;

import java.io.IOException;
import java.util.concurrent.locks.LockSupport;

/** One connection that sends requests one after the other, and reads their answers. */
abstract class Connection implements AutoCloseable {
  private static final int LEAST_WAIT = 60_000;

  /** Sends a request and reads its answer; gives the status, as HTTP has it. */
  abstract int call(byte[] request) throws IOException;

  /** The bytes of the body of the last answer. */
  abstract byte[] bytes();

  /**
   * Sends requests until {@code end}, each at its time where {@code interval} is above 0: then a
   * time counts from when the request was due, so that a late one makes the next ones late too.
   *
   * @return requests that were not answered with 200
   */
  long drive(byte[][] requests, long start, long end, long interval, Latencies into)
      throws IOException {
    long failed = 0;
    long due = start;
    for (int at = 0; ; at++) {
      long now = System.nanoTime();
      if (interval > 0) {
        while (now < due) {
          if (due - now > LEAST_WAIT) {
            LockSupport.parkNanos(due - now - LEAST_WAIT);
          } else {
            Thread.onSpinWait();
          }
          now = System.nanoTime();
        }
      } else {
        due = now;
      }
      if (now >= end) {
        return failed;
      }
      if (call(requests[at % requests.length]) == 200) {
        into.add(System.nanoTime() - due);
      } else {
        failed++;
      }
      due += interval;
    }
  }

  @Override
  public abstract void close() throws IOException;
}
