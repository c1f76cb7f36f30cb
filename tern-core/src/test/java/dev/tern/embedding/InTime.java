package dev.tern.embedding;

import dev.tern.data.Batch;

/** What of a batch was looked up ahead in time, for tests of other packages too. */
public final class InTime {
  private InTime() {}

  /** Waits until all tables were looked up ahead. */
  public static void await(BatchLookup lookup) {
    while (!lookup.ahead.isDone()) {
      Thread.onSpinWait();
    }
  }

  /** Forgets the batch that is looked up ahead; whether it was {@code expected}. */
  public static boolean end(BatchLookup lookup, Batch expected) {
    return lookup.ahead.end(expected);
  }

  /** How many lookups of a table in a batch were found done when their turn came, so far. */
  public static long taken(BatchLookup lookup) {
    return lookup.ahead.taken();
  }
}
