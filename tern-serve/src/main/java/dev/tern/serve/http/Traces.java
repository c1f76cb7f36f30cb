package dev.tern.serve.http;

/** Traces across services, by the W3C recommendation Trace Context. */
final class Traces {
  private static final int LENGTH = 55;

  private Traces() {}

  /**
   * Whether {@code field} is a {@code traceparent} of version 00, as in {@code
   * 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01}.
   */
  static boolean isParent(String field) {
    if (field.length() != LENGTH || !field.startsWith("00-")) {
      return false;
    }
    for (int at = 3; at < LENGTH; at++) {
      char c = field.charAt(at);
      boolean isDash = at == 35 || at == 52;
      boolean isHex = c >= '0' && c <= '9' || c >= 'a' && c <= 'f';
      if (isDash ? c != '-' : !isHex) {
        return false;
      }
    }
    return true;
  }
}
