package dev.tern.internal.eager;

import org.jspecify.annotations.Nullable;

/**
 * Why there is no value.
 *
 * @param op the op that failed, or whose result was lost
 * @param why the end of the message
 * @param cause the exception of the op, if there was one
 */
record Failure(Recipe op, String why, @Nullable Throwable cause) {
  private static final String LOST =
      "it is not in memory any more, and a variable that it was computed from was written since;"
          + " have it computed by run before the write, or raise the session's budget";

  static Failure of(Recipe op, Throwable thrown) {
    return new Failure(op.abandoned(), String.valueOf(thrown.getMessage()), thrown);
  }

  /** The failure of a value that was dropped and cannot be computed again. */
  static Failure lost(Recipe op) {
    return new Failure(op.abandoned(), LOST, null);
  }

  /** A new exception for a caller. */
  IllegalStateException exception() {
    return new IllegalStateException(
        "session: got " + op + " of " + op.place() + " without a value, expected one: " + why,
        cause);
  }
}
