package dev.tern.serve.http;

import dev.tern.serve.RefusedException;
import dev.tern.serve.Reply;
import dev.tern.serve.ServedVersion;
import java.util.OptionalInt;

/** A form of requests for scores and of their answers. */
interface Protocol {
  /**
   * Scores the rows of a body.
   *
   * @param body the bytes {@code body[0, length)}
   * @param jsonLength the bytes of JSON that a body begins with, before binary tensors; empty where
   *     it has none of these
   * @throws RefusedException where the body is not one of this protocol, or does not fit the model
   */
  Reply answer(ServedVersion version, byte[] body, int length, OptionalInt jsonLength);
}
