package dev.tern.serve.grpc;

import dev.tern.serve.wire.RefusedException;

/**
 * The one message of a call: five bytes, then the message. The first of the five says whether it is
 * compressed, the others how long it is.
 *
 * @param isCompressed whether the message is to be inflated
 */
public record GrpcFrame(boolean isCompressed) {
  /** Bytes before a message. */
  public static final int PREFIX = 5;

  /**
   * Refuses a message that is too long by the first bytes of it, before the others are there.
   *
   * @param body what has come so far, {@code body[0, length)}
   * @param most bytes of a message
   */
  public static void requireRoom(byte[] body, int length, long most) {
    if (length >= PREFIX && announced(body) > most) {
      throw new RefusedException(
          413,
          "body: got a message of %d bytes, expected at most %d; send fewer rows a request"
              .formatted(announced(body), most));
    }
  }

  /**
   * The message that is all of {@code body[0, length)} behind the first five bytes.
   *
   * @throws RefusedException 400 where there is none, or more than one
   */
  public static GrpcFrame of(byte[] body, int length) {
    if (length < PREFIX) {
      throw wrong(length + " bytes", "five, and then a message");
    }
    if (announced(body) != length - PREFIX) {
      throw wrong(
          (length - PREFIX) + " bytes behind the first five",
          "one message of " + announced(body) + ", as they say");
    }
    if (body[0] < 0 || body[0] > 1) {
      throw wrong("a first byte of " + (body[0] & 0xFF), "0, or 1 for a compressed message");
    }
    return new GrpcFrame(body[0] == 1);
  }

  private static long announced(byte[] body) {
    long length = 0;
    for (int i = 1; i < PREFIX; i++) {
      length = length << 8 | body[i] & 0xFF;
    }
    return length;
  }

  private static RefusedException wrong(String got, String expected) {
    return new RefusedException(400, "body: got " + got + ", expected " + expected);
  }
}
