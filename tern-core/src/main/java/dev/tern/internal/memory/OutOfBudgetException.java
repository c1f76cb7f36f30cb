package dev.tern.internal.memory;

/** The memory budget has no room for a request; the message names the largest holders. */
public final class OutOfBudgetException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public OutOfBudgetException(String message) {
    super(message);
  }
}
