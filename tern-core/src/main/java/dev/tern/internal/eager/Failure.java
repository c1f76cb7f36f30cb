package dev.tern.internal.eager;

import org.jspecify.annotations.Nullable;

/**
 * Why there is no value.
 *
 * @param op that failed, or whose result was lost
 * @param why what it got and expected, and what to do
 * @param cause what it threw, if it did
 */
record Failure(Recipe op, String why, @Nullable Throwable cause) {
  private static final String LOST =
      "it is not in memory any more, and a variable that it was computed from was written since;"
          + " have it computed by run before the write, or raise the session's budget";

  static Failure of(Recipe op, Throwable thrown) {
    return new Failure(op.abandoned(), String.valueOf(thrown.getMessage()), thrown);
  }

  /** Of a value that was dropped and cannot be computed again. */
  static Failure lost(Recipe op) {
    return new Failure(op.abandoned(), LOST, null);
  }

  /** For a caller; each gets an exception of its own. */
  IllegalStateException exception() {
    return new IllegalStateException(
        "session: got " + op + " of " + op.place() + " without a value, expected one: " + why,
        cause);
  }
}
