package dev.tern.stream;

import java.util.Map;

/**
 * What a follower knows of its topic and has done.
 *
 * @param ageSeconds since the folder was last known to hold all that the topic has; infinite before
 * @param behind records of the topic that were not read when the brokers answered last
 * @param taken checkpoints that came
 * @param bytes of all records that were read
 * @param refused what was not served, by the reason
 */
public record FollowState(
    double ageSeconds, long behind, long taken, long bytes, Map<Refusal, Long> refused) {
  /** Copies the map. */
  public FollowState {
    refused = Map.copyOf(refused);
  }
}
