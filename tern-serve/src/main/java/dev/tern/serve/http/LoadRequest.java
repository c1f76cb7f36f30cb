package dev.tern.serve.http;

import dev.tern.serve.RefusedException;
import java.util.OptionalLong;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;

/** The body of a request to load another step: {@code {"parameters":{"step":"30"}}}, or nothing. */
final class LoadRequest {
  private static final JsonFactory JSON =
      JsonFactory.builder()
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(4)
                  .maxStringLength(64)
                  .maxNameLength(64)
                  .maxDocumentLength(4_096)
                  .build())
          .build();

  private LoadRequest() {}

  /**
   * The step that is asked for; empty for the newest.
   *
   * @throws RefusedException 400 for anything else
   */
  static OptionalLong step(byte[] body) {
    if (body.length == 0) {
      return OptionalLong.empty();
    }
    try (JsonParser json = JSON.createParser(ObjectReadContext.empty(), body)) {
      require(json.nextToken() == JsonToken.START_OBJECT);
      OptionalLong step = OptionalLong.empty();
      if (json.nextToken() == JsonToken.PROPERTY_NAME) {
        require(json.currentName().equals("parameters"));
        require(json.nextToken() == JsonToken.START_OBJECT);
        if (json.nextToken() == JsonToken.PROPERTY_NAME) {
          require(json.currentName().equals("step"));
          json.nextToken();
          String text = json.getString();
          require(text != null && text.matches("[0-9]{1,18}"));
          step = OptionalLong.of(Long.parseLong(text));
          json.nextToken();
        }
        require(json.currentToken() == JsonToken.END_OBJECT);
        json.nextToken();
      }
      require(json.currentToken() == JsonToken.END_OBJECT && json.nextToken() == null);
      return step;
    } catch (JacksonException e) {
      throw refused();
    }
  }

  private static void require(boolean holds) {
    if (!holds) {
      throw refused();
    }
  }

  private static RefusedException refused() {
    return new RefusedException(
        400, "load: got another body, expected {\"parameters\":{\"step\":\"30\"}} or none");
  }
}
