package dev.tern.bench.serve;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;

/**
 * Connections that send requests to a server, each the next one after its answer.
 *
 * @param opener opens a connection to the server
 * @param requests sent in turn
 * @param connections how many, each with a thread
 * @param rate requests a second of all together, which are due at even times: a time counts from
 *     when its request was due. 0 for as many as are answered
 */
record Crowd(Opener opener, byte[][] requests, int connections, int rate) {
  private static final int LEAST_WAIT = 60_000;

  /** Opens connections. */
  interface Opener {
    Connection open() throws IOException;
  }

  /** Connections of HTTP/1.1 to a port of this machine. */
  Crowd(int port, byte[][] requests, int connections, int rate) {
    this(() -> new Caller(port), requests, connections, rate);
  }

  /** Looks at an answer with status 200. */
  interface Check {
    /** Takes every answer. */
    Check NONE = (caller, request) -> true;

    /**
     * Whether an answer is right.
     *
     * @param request which of the requests it answers
     */
    boolean isRight(Connection caller, int request);
  }

  /**
   * What came of a time of requests.
   *
   * @param answered times of requests with the status 200 and a right answer
   * @param refused times of those with the status 429 or 503
   * @param wrong answers with another status, or wrong ones
   * @param lost requests that were sent and had no whole answer
   * @param gone threads that found no connection any more, and ended
   * @param seconds that it took
   */
  record Tally(
      Latencies answered, Latencies refused, long wrong, long lost, int gone, double seconds) {
    double rate() {
      return answered.count() / seconds;
    }

    private Tally plus(Tally other) {
      answered.add(other.answered);
      refused.add(other.refused);
      return new Tally(
          answered,
          refused,
          wrong + other.wrong,
          lost + other.lost,
          gone + other.gone,
          Math.max(seconds, other.seconds));
    }
  }

  /** Sends requests for some seconds, or until the server takes no connection any more. */
  Tally drive(double time, Check check) throws IOException {
    ExecutorService threads = Executors.newFixedThreadPool(connections);
    try {
      long start = System.nanoTime();
      long end = start + (long) (time * 1e9);
      List<Future<Tally>> parts = new ArrayList<>();
      for (int at = 0; at < connections; at++) {
        int own = at;
        parts.add(threads.submit(() -> new Member(own, start, end, check).drive()));
      }
      Tally sum = new Tally(new Latencies(), new Latencies(), 0, 0, 0, 0);
      for (Future<Tally> part : parts) {
        sum = sum.plus(part.get());
      }
      return sum;
    } catch (ExecutionException e) {
      throw new IOException(String.valueOf(e.getCause()), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    } finally {
      threads.shutdownNow();
    }
  }

  /** One connection after the other, and what it counts. */
  private final class Member {
    private final long start;
    private final long end;
    private final long interval;
    private final Check check;
    private final Latencies answered = new Latencies();
    private final Latencies refused = new Latencies();
    private int request;
    private long due;
    private long wrong;
    private long lost;

    Member(int own, long start, long end, Check check) {
      this.start = start;
      this.end = end;
      this.check = check;
      interval = rate == 0 ? 0 : 1_000_000_000L * connections / rate;
      due = start + interval * own / connections;
      request = own * 7;
    }

    Tally drive() {
      int gone = 0;
      while (System.nanoTime() < end) {
        try (Connection caller = opener.open()) {
          while (await()) {
            if (!call(caller)) {
              break;
            }
          }
        } catch (IOException e) {
          gone = 1;
          break;
        }
      }
      return new Tally(answered, refused, wrong, lost, gone, (System.nanoTime() - start) / 1e9);
    }

    /** Waits for the time of the next request; false where none is left. */
    private boolean await() {
      long now = System.nanoTime();
      while (interval > 0 && now < due && now < end) {
        if (due - now > LEAST_WAIT) {
          LockSupport.parkNanos(due - now - LEAST_WAIT);
        } else {
          Thread.onSpinWait();
        }
        now = System.nanoTime();
      }
      due = interval > 0 ? due : now;
      return now < end && !Thread.currentThread().isInterrupted();
    }

    /** Whether the connection takes another request. */
    private boolean call(Connection caller) {
      int at = request++ % requests.length;
      try {
        int status = caller.call(requests[at]);
        long took = System.nanoTime() - due;
        due += interval;
        if (status == 200 && check.isRight(caller, at)) {
          answered.add(took);
        } else if (status == 429 || status == 503) {
          refused.add(took);
        } else {
          wrong++;
        }
        return !caller.isLast();
      } catch (IOException e) {
        lost++;
        due += interval;
        return false;
      }
    }
  }
}
