package dev.tern.serve;

import dev.tern.base.DataException;
import dev.tern.predict.ItemFinder;
import dev.tern.serve.wire.JsonBody;
import dev.tern.serve.wire.JsonOutput;
import dev.tern.serve.wire.RefusedException;
import java.util.OptionalInt;
import tools.jackson.core.JacksonException;

/**
 * Requests for the best of all candidates for users: rows and columns as for TensorFlow Serving, or
 * tensors of the Open Inference Protocol. Bytes in, bytes out; a request that is not answered
 * throws a {@link RefusedException}. Thread-safe.
 */
public final class RetrieveProtocol {
  /** Users of a request. */
  static final int MOST_USERS = 1_000;

  /** Items of an answer, of all users. */
  static final int MOST_ITEMS = 1_000_000;

  /** Of an item that is found: number and score, while it is searched and as a result. */
  private static final int FOUND_BYTES = 2 * (Integer.BYTES + Float.BYTES);

  /** Items for a user where a request does not say how many. */
  private static final int USUAL = 10;

  private final RequestContexts contexts;

  public RetrieveProtocol(RequestContexts contexts) {
    this.contexts = contexts;
  }

  /** Reads the rows of a request, and what it asks for. */
  @FunctionalInterface
  private interface Reading {
    Writing read(RequestContext context);
  }

  /** Writes what was found. */
  @FunctionalInterface
  private interface Writing {
    Reply write(ServedVersion.Items items, ItemFinder.Found found, JsonOutput out);
  }

  /** Answers {@code POST /v1/models/M:retrieve}, whose body is {@code body[0, length)}. */
  public Reply rows(ServedVersion version, byte[] body, int length) {
    return answer(
        version,
        context -> {
          new PredictRequest(context, body, length, false).read();
          return (items, found, out) -> RetrieveReply.rows(version, items, found, out);
        });
  }

  /**
   * Answers {@code POST /v2/models/M/retrieve}.
   *
   * @param body the request, {@code body[0, length)}
   * @param jsonLength of a body of JSON and then binary tensors, the bytes of its JSON
   */
  public Reply tensors(ServedVersion version, byte[] body, int length, OptionalInt jsonLength) {
    int jsonEnd = InferProtocol.jsonEnd(length, jsonLength);
    return answer(
        version,
        context -> {
          InferRequest request = new InferRequest(context, body, jsonEnd, length);
          request.read();
          return (items, found, out) ->
              new RetrieveReply(version, request, items, found, context.options.binary).write(out);
        });
  }

  private Reply answer(ServedVersion version, Reading reading) {
    ServedVersion.Items items =
        version
            .items()
            .orElseThrow(() ->
                new RefusedException(
                    400,
                    "model %s: got a request for items, expected one for scores, as it is served without candidates; tern serve takes them by --candidates"
                        .formatted(version.model())));
    RequestContext context = contexts.take(version.encoder());
    try {
      ExcludedItems excluded = new ExcludedItems(context, items.slot());
      context.excluded = excluded;
      Writing writing = reading.read(context);
      int top = context.options.top == 0 ? USUAL : context.options.top;
      int users = context.rows.size();
      requireSize(users, top, context.options.explain);
      requireRoom(context, (long) users * Math.min(top, items.size()));
      ItemFinder.Found found = items.top(context.rows, top, excluded.numbers(items, users));
      context.output.clear();
      return writing.write(items, found, context.output);
    } catch (JacksonException e) {
      throw JsonBody.malformed(e);
    } catch (IllegalArgumentException | DataException e) {
      throw new RefusedException(400, String.valueOf(e.getMessage()));
    } finally {
      contexts.give(context);
    }
  }

  private static void requireRoom(RequestContext context, long found) {
    if (!context.holds(found * FOUND_BYTES)) {
      throw new RefusedException(
          503,
          "body: got a request for %,d items in all, for which no memory is left; ask again, or for fewer"
              .formatted(found));
    }
  }

  private static void requireSize(int users, int top, boolean explains) {
    if (explains) {
      throw JsonBody.wrong("explain", "it in requests for scores alone");
    }
    if (users > MOST_USERS || (long) users * top > MOST_ITEMS) {
      throw new RefusedException(
          400,
          "body: got %,d users for %,d items each, expected at most %,d users and %,d items in all; send several requests"
              .formatted(users, top, MOST_USERS, MOST_ITEMS));
    }
  }
}
