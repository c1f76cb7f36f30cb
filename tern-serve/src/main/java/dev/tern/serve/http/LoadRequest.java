package dev.tern.serve.http;

import dev.tern.serve.wire.RefusedException;
import java.util.List;
import java.util.OptionalLong;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;

/**
 * The body of a request to load or unload: {@code {"parameters":{"step":"30","label":"canary"}}},
 * or nothing.
 *
 * @param step the step that is asked for; empty for the newest
 * @param labels those that are named; none where the body names none
 */
record LoadRequest(OptionalLong step, List<String> labels) {
  private static final int MOST_TEXT = 1_024;
  private static final JsonFactory JSON =
      JsonFactory.builder()
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(4)
                  .maxStringLength(MOST_TEXT)
                  .maxNameLength(64)
                  .maxDocumentLength(4_096)
                  .build())
          .build();

  private static final LoadRequest NOTHING = new LoadRequest(OptionalLong.empty(), List.of());

  /**
   * Reads a body.
   *
   * @throws RefusedException 400 for anything else
   */
  static LoadRequest of(byte[] body) {
    if (body.length == 0) {
      return NOTHING;
    }
    try (JsonParser json = JSON.createParser(ObjectReadContext.empty(), body)) {
      require(json.nextToken() == JsonToken.START_OBJECT);
      LoadRequest request = NOTHING;
      if (json.nextToken() == JsonToken.PROPERTY_NAME) {
        require(json.currentName().equals("parameters"));
        require(json.nextToken() == JsonToken.START_OBJECT);
        request = parameters(json);
        json.nextToken();
      }
      require(json.currentToken() == JsonToken.END_OBJECT && json.nextToken() == null);
      return request;
    } catch (JacksonException e) {
      throw refused();
    }
  }

  private static LoadRequest parameters(JsonParser json) {
    OptionalLong step = OptionalLong.empty();
    List<String> labels = List.of();
    while (json.nextToken() == JsonToken.PROPERTY_NAME) {
      String name = json.currentName();
      JsonToken value = json.nextToken();
      String text = json.getString();
      require(value.isScalarValue() && text != null);
      switch (name) {
        case "step" -> {
          require(step.isEmpty() && text.matches("[0-9]{1,18}"));
          step = OptionalLong.of(Long.parseLong(text));
        }
        case "label" -> {
          labels = labels.isEmpty() ? List.of(text.split(",", -1)) : refuse();
          require(labels.stream().allMatch(ModelSource::isName));
        }
        default -> throw refused();
      }
    }
    require(json.currentToken() == JsonToken.END_OBJECT);
    return new LoadRequest(step, labels);
  }

  private static void require(boolean holds) {
    if (!holds) {
      throw refused();
    }
  }

  private static List<String> refuse() {
    throw refused();
  }

  private static RefusedException refused() {
    return new RefusedException(
        400,
        "load: got another body, expected {\"parameters\":{\"step\":\"30\",\"label\":\"canary\"}},"
            + " one of both, or none");
  }
}
