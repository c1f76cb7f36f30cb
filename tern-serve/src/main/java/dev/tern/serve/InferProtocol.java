package dev.tern.serve;

import dev.tern.base.DataException;
import dev.tern.serve.wire.JsonBody;
import dev.tern.serve.wire.RefusedException;
import java.util.OptionalInt;
import tools.jackson.core.JacksonException;

/**
 * The Open Inference Protocol, version 2, in JSON and with binary tensors. Bytes in, bytes out; a
 * request that is not answered throws a {@link RefusedException}. Thread-safe.
 */
public final class InferProtocol {
  private final RequestContexts contexts;

  public InferProtocol(RequestContexts contexts) {
    this.contexts = contexts;
  }

  /**
   * Answers {@code POST /v2/models/M/infer}.
   *
   * @param body the request, {@code body[0, length)}
   * @param jsonLength of a body of JSON and then binary tensors, the bytes of its JSON
   */
  public Reply infer(ServedVersion version, byte[] body, int length, OptionalInt jsonLength) {
    int jsonEnd = jsonEnd(length, jsonLength);
    RequestContext context = contexts.take(version.encoder());
    try {
      InferRequest request = new InferRequest(context, body, jsonEnd, length);
      request.read();
      return new InferReply(version, context, request).write();
    } catch (JacksonException e) {
      throw JsonBody.malformed(e);
    } catch (IllegalArgumentException | DataException e) {
      throw new RefusedException(400, String.valueOf(e.getMessage()));
    } finally {
      contexts.give(context);
    }
  }

  /** Where the JSON of a body ends. */
  static int jsonEnd(int length, OptionalInt jsonLength) {
    int jsonEnd = jsonLength.orElse(length);
    if (jsonEnd < 1 && length > 0 || jsonEnd > length) {
      throw new RefusedException(
          400,
          "Inference-Header-Content-Length: got %d, expected 1 to %d, the length of the JSON"
              .formatted(jsonEnd, length));
    }
    return jsonEnd;
  }
}
