package dev.tern.bench.serve;

import dev.tern.data.Batch;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicLongArray;

/** Checkpoints that come in while requests are answered: each answer has the bits of its step. */
final class UpdateTrial {
  private static final String VERSION = "\"model_version\":\"";
  private static final String DATA = "\"data\":[";

  /**
   * What came of it.
   *
   * @param tally of the requests; one with bits other than those of the step that it names is wrong
   * @param longest seconds until an answer named a step or a later one, the longest of all steps
   * @param last whether the last step was named by an answer
   */
  record Outcome(Crowd.Tally tally, double longest, boolean last) {}

  private final StagedSteps steps;
  private final Map<Long, Integer> places = new HashMap<>();
  private final int[][] expected;
  private final AtomicLongArray firstSeen;
  private final long[] published;

  /**
   * @param rows the rows that are asked for, one a batch, in the order of the crowd's requests
   */
  UpdateTrial(StagedSteps steps, List<Batch> rows) {
    this.steps = steps;
    expected = new int[steps.size()][];
    firstSeen = new AtomicLongArray(steps.size());
    published = new long[steps.size()];
    for (int at = 0; at < steps.size(); at++) {
      places.put(steps.step(at), at);
      expected[at] = steps.scores(at, rows);
    }
  }

  /** Publishes all steps after the first, evenly over a time, while the crowd asks. */
  Outcome run(Crowd crowd, double seconds) throws IOException {
    CompletableFuture<Void> publishing = CompletableFuture.runAsync(() -> publish(seconds));
    Crowd.Tally tally = crowd.drive(seconds + 3, this::isRight);
    try {
      publishing.join();
    } catch (CompletionException e) {
      throw new IOException("bench service: " + e.getCause(), e);
    }
    double longest = 0;
    long seen = Long.MAX_VALUE;
    for (int at = steps.size() - 1; at > 0; at--) {
      long own = firstSeen.get(at);
      seen = own == 0 ? seen : Math.min(seen, own);
      longest = Math.max(longest, (seen - published[at]) / 1e9);
    }
    return new Outcome(tally, longest, firstSeen.get(steps.size() - 1) != 0);
  }

  private void publish(double seconds) {
    long start = System.nanoTime();
    int count = steps.size() - 1;
    try {
      for (int at = 1; at <= count; at++) {
        long wait = start + (long) (seconds * 1e9 * at / count) - System.nanoTime();
        Thread.sleep(Math.max(0, wait / 1_000_000));
        steps.publish(at);
        published[at] = System.nanoTime();
      }
    } catch (IOException e) {
      throw new CompletionException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Whether an answer has the bits of the step that it names. */
  boolean isRight(Connection caller, int request) {
    String body = caller.body();
    int version = body.indexOf(VERSION) + VERSION.length();
    int data = body.lastIndexOf(DATA) + DATA.length();
    Integer place = places.get(Long.parseLong(body.substring(version, body.indexOf('"', version))));
    if (place == null) {
      return false;
    }
    firstSeen.compareAndSet(place, 0, System.nanoTime());
    float score = Float.parseFloat(body.substring(data, body.indexOf(']', data)));
    return Float.floatToRawIntBits(score) == expected[place][request];
  }
}
