package dev.tern.data;

/**
 * Bad data or a bad file. The message names the file, the row or record and the byte offset where
 * they are known, what was got, what was expected and what to do.
 */
public final class DataException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public DataException(String message) {
    super(message);
  }

  public DataException(String message, Throwable cause) {
    super(message, cause);
  }
}
