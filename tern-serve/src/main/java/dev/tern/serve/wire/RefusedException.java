package dev.tern.serve.wire;

/** A request that is not answered with scores; the message says what to mend. */
public final class RefusedException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final int status;

  /**
   * Refuses with an HTTP status.
   *
   * @param status such as 400 for a malformed request, 404 for an unknown model
   */
  public RefusedException(int status, String message) {
    super(message, null, false, false);
    this.status = status;
  }

  /** The HTTP status. */
  public int status() {
    return status;
  }
}
