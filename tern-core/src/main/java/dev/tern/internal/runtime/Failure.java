package dev.tern.internal.runtime;

/**
 * Why a value could not be computed.
 *
 * @param what the op and its result
 * @param place the user's line that had it run
 * @param why what it got and expected
 */
record Failure(String what, Object place, Throwable cause, String why) {
  static Failure of(Recipe recipe, Throwable cause) {
    String why = String.valueOf(cause.getMessage());
    return new Failure(recipe.toString(), recipe.place(), cause, why);
  }

  /** Of a value that was dropped and cannot be computed again. */
  static Failure lost(Recipe recipe) {
    String why =
        "it is not in memory any more, and a variable that it was computed from has been written"
            + " since; ask for it by run before the write, or raise the session's budget";
    return new Failure(
        recipe.toString(), recipe.place(), new IllegalStateException("lost: " + why), why);
  }

  /** For a caller; each gets an exception of its own. */
  IllegalStateException exception() {
    return new IllegalStateException(
        "session: got " + what + " of " + place + ", which failed, expected a value: " + why,
        cause);
  }
}
