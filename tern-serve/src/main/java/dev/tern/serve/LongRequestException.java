package dev.tern.serve;

/**
 * A request takes longer than the thread that reads it should be held for: it is to be answered by
 * another one. Thrown before anything is computed.
 */
public final class LongRequestException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** One without a stack trace, as it says nothing of an error. */
  public LongRequestException() {
    super("request: got one that takes a while, expected a short one here", null, false, false);
  }
}
