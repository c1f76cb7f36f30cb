package dev.tern.stream;

/**
 * A topic that cannot be read or written. The message names the brokers, the topic and, where there
 * is one, the offset; what was got, what was expected and what to do.
 */
public final class StreamException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  StreamException(String message) {
    super(message);
  }

  StreamException(String message, Throwable cause) {
    super(message, cause);
  }
}
