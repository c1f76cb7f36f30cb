package dev.tern.serve.http;

import java.util.Map;

/** Brings the checkpoints of a model from elsewhere into the folder that is served. */
public interface ModelFeed {
  /**
   * Waits until the folder has a checkpoint to begin with.
   *
   * @throws RuntimeException if none will come; then the server does not start
   */
  void awaitFirst() throws InterruptedException;

  /** What it knows and has done. */
  State state();

  /**
   * For the page of metrics.
   *
   * @param ageSeconds since the folder was last known to have all that its source has; infinite
   *     before
   * @param behind messages of the source that were not read yet
   * @param taken checkpoints that came
   * @param bytes that were read
   * @param refused what came and is not served, by the reason
   */
  record State(double ageSeconds, long behind, long taken, long bytes, Map<String, Long> refused) {
    /** Copies the map. */
    public State {
      refused = Map.copyOf(refused);
    }
  }
}
