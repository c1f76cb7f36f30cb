package dev.tern.internal.memory;

/** The memory budget has no room for a request; the message names the largest holders. */
public final class OutOfBudgetException extends RuntimeException {
  OutOfBudgetException(String message) {
    super(message);
  }
}
