package dev.tern.cli.config;

/**
 * How often something happens in training: at the end of each epoch, never, or each time so many
 * steps are done.
 *
 * @param steps steps between two times; 0 for the end of each epoch, {@code Long.MAX_VALUE} for
 *     never
 */
public record Every(long steps) {
  /** At the end of each epoch. */
  public static final Every EPOCH = new Every(0);

  /** Never. */
  public static final Every NEVER = new Every(Long.MAX_VALUE);

  public Every {
    if (steps < 0) {
      throw new IllegalArgumentException("every: got " + steps + " steps, expected 0 or more");
    }
  }

  /** Each time {@code steps} steps are done, at least 1. */
  static Every steps(long steps) {
    return new Every(steps);
  }

  /** Whether the end of each epoch is meant. */
  public boolean epoch() {
    return steps == 0;
  }

  /** As it is written in a configuration. */
  @Override
  public String toString() {
    return epoch() ? "epoch" : steps == Long.MAX_VALUE ? "never" : Long.toString(steps);
  }
}
