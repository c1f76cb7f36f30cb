package dev.tern.cli.run;

/**
 * A run folder that cannot be used. The message names the path, what was got, what was expected and
 * what to do.
 */
public final class RunException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public RunException(String message) {
    super(message);
  }

  public RunException(String message, Throwable cause) {
    super(message, cause);
  }
}
