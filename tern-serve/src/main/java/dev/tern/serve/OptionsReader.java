package dev.tern.serve;

import dev.tern.serve.wire.JsonBody;
import dev.tern.serve.wire.RefusedException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/** Reads parameters of a request. Those that mean nothing here are left alone. */
final class OptionsReader {
  private OptionsReader() {}

  /** Reads the object that the parser stands at. */
  static void read(JsonParser json, RequestOptions options) {
    if (json.currentToken() != JsonToken.START_OBJECT) {
      throw JsonBody.wrong("parameters", json.currentToken(), "an object");
    }
    while (json.nextToken() != JsonToken.END_OBJECT) {
      String name = json.currentName();
      json.nextToken();
      switch (name) {
        case "top_k" -> options.top = integer(json, name, 1, RequestContext.MOST_ROWS);
        case "explain" -> options.explain = flag(json, name);
        case "binary_data_output" -> options.binary = flag(json, name);
        default -> json.skipChildren();
      }
    }
  }

  static int integer(JsonParser json, String name, int least, int most) {
    boolean whole = json.currentToken() == JsonToken.VALUE_NUMBER_INT;
    boolean small = whole && json.getNumberType() == JsonParser.NumberType.INT;
    if (!small || json.getIntValue() < least || json.getIntValue() > most) {
      String got =
          json.currentToken().isNumeric() ? json.getString() : JsonBody.kind(json.currentToken());
      throw outside(name, JsonBody.shorten(got), least, most);
    }
    return json.getIntValue();
  }

  static RefusedException outside(String name, String got, int least, int most) {
    return new RefusedException(
        400, "%s: got %s, expected a whole number from %d to %d".formatted(name, got, least, most));
  }

  static boolean flag(JsonParser json, String name) {
    if (!json.currentToken().isBoolean()) {
      throw JsonBody.wrong(name, json.currentToken(), "true or false");
    }
    return json.currentToken() == JsonToken.VALUE_TRUE;
  }
}
