package dev.tern.serve;

import java.util.OptionalInt;

/**
 * What a protocol answers.
 *
 * @param status an HTTP status, such as 200
 * @param contentType the media type of the body
 * @param jsonLength for a body of JSON and then binary tensors, the number of bytes of its JSON
 * @param body the bytes to send, which nobody changes
 */
public record Reply(int status, String contentType, OptionalInt jsonLength, byte[] body) {
  /** The media type of JSON. */
  public static final String JSON = "application/json";

  /** A reply whose body is JSON. */
  public static Reply json(int status, byte[] body) {
    return new Reply(status, JSON, OptionalInt.empty(), body);
  }
}
