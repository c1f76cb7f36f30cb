package dev.tern.exchange;

/** Bytes that are no frame that the peer may send now; the message says what was got instead. */
final class FrameFaultException extends Exception {
  private static final long serialVersionUID = 1L;

  FrameFaultException(String message) {
    super(message);
  }

  FrameFaultException(String message, Throwable cause) {
    super(message, cause);
  }
}
