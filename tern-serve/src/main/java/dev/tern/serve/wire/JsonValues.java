package dev.tern.serve.wire;

import dev.tern.base.Shown;
import dev.tern.data.encode.RowFiller;
import java.math.BigInteger;
import java.util.Base64;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/** Values of JSON into the columns of rows. Makes no object for a value. */
public final class JsonValues {
  private static final int UNSIGNED_BITS = 64;

  private JsonValues() {}

  /** The number of the column with a name, which the model has. */
  public static int column(RowFiller filler, String name) {
    int column = filler.column(name);
    if (column < 0) {
      throw new RefusedException(
          400,
          "%scolumn %s: got a value for it, expected a column of the model; leave it out"
              .formatted(filler.place(), Shown.line(JsonBody.shorten(name))));
    }
    return column;
  }

  /**
   * Sets a column to the value that the parser stands at: null where it is missing, a number, a
   * text, an array of these for a slot, an object from values to weights for a slot with weights.
   */
  public static void set(JsonParser json, RowFiller filler, int column) {
    switch (json.currentToken()) {
      case VALUE_STRING ->
          filler.setText(
              column,
              json.getStringCharacters(),
              json.getStringOffset(),
              json.getStringOffset() + json.getStringLength());
      case VALUE_NUMBER_INT -> setInteger(json, filler, column);
      case VALUE_NUMBER_FLOAT -> filler.setNumber(column, number(json, filler, column));
      case VALUE_NULL -> filler.setMissing(column);
      case START_ARRAY -> setArray(json, filler, column);
      case START_OBJECT -> setObject(json, filler, column);
      default -> throw wrong(filler, column, json.currentToken());
    }
  }

  private static RefusedException wrong(RowFiller filler, int column, JsonToken got) {
    return new RefusedException(
        400,
        "%s: got %s, expected a number, a text or null"
            .formatted(filler.place(column), JsonBody.kind(got)));
  }

  /** The nearest number that the column has room for. */
  private static double number(JsonParser json, RowFiller filler, int column) {
    double value = filler.takesTexts(column) ? json.getDoubleValue() : json.getFloatValue();
    if (Double.isInfinite(value)) {
      throw new RefusedException(
          400,
          "%s: got %s, expected a number of at most 3.4e38"
              .formatted(filler.place(column), shown(json)));
    }
    return value;
  }

  private static String shown(JsonParser json) {
    return JsonBody.shorten(json.getString());
  }

  public static void setInteger(JsonParser json, RowFiller filler, int column) {
    if (isLong(json)) {
      filler.setInteger(column, json.getLongValue());
    } else if (filler.slot(column) < 0) {
      filler.setNumber(column, number(json, filler, column));
    } else if (filler.takesTexts(column)) {
      String digits = json.getString();
      filler.setText(column, digits);
    } else {
      filler.setInteger(column, unsigned(json, filler, column));
    }
  }

  private static boolean isLong(JsonParser json) {
    return json.getNumberType() != JsonParser.NumberType.BIG_INTEGER;
  }

  /** An id that is no long, of a slot of unsigned ids. */
  private static long unsigned(JsonParser json, RowFiller filler, int column) {
    BigInteger value = json.getBigIntegerValue();
    if (!filler.isUnsigned(column) || value.signum() < 0 || value.bitLength() > UNSIGNED_BITS) {
      throw new RefusedException(
          400,
          "%s: got %s, expected an integer of 64 bits"
              .formatted(filler.place(column), shown(json)));
    }
    return value.longValue();
  }

  /** Adds the value that the parser stands at to the list that is being filled. */
  public static void add(JsonParser json, RowFiller filler, int column) {
    switch (json.currentToken()) {
      case VALUE_STRING ->
          filler.addText(
              json.getStringCharacters(),
              json.getStringOffset(),
              json.getStringOffset() + json.getStringLength());
      case VALUE_NUMBER_INT -> {
        if (isLong(json)) {
          filler.addInteger(json.getLongValue());
        } else if (filler.takesTexts(column)) {
          filler.addText(json.getString());
        } else {
          filler.addInteger(unsigned(json, filler, column));
        }
      }
      default ->
          throw new RefusedException(
              400,
              "%s: got %s in a list, expected %s"
                  .formatted(
                      filler.place(column),
                      JsonBody.kind(json.currentToken()),
                      filler.takesTexts(column) ? "a text" : "an integer of 64 bits"));
    }
  }

  private static void setArray(JsonParser json, RowFiller filler, int column) {
    if (filler.slot(column) < 0) { // Of shape [1], as tensors have it.
      json.nextToken();
      if (json.currentToken().isScalarValue()) {
        set(json, filler, column);
      } else {
        throw wrong(filler, column, json.currentToken());
      }
      if (json.nextToken() != JsonToken.END_ARRAY) {
        throw new RefusedException(
            400, "%s: got several values, expected one".formatted(filler.place(column)));
      }
      return;
    }
    filler.beginList(column);
    while (json.nextToken() != JsonToken.END_ARRAY) {
      add(json, filler, column);
    }
    filler.endList();
  }

  private static void setObject(JsonParser json, RowFiller filler, int column) {
    if (filler.slot(column) >= 0 && filler.isWeighted(column)) {
      filler.beginList(column);
      while (json.nextToken() != JsonToken.END_OBJECT) {
        String key = json.currentName();
        filler.addKey(key);
        if (!json.nextToken().isNumeric()) {
          throw new RefusedException(
              400,
              "%s: got %s as a weight, expected a number"
                  .formatted(filler.place(column), JsonBody.kind(json.currentToken())));
        }
        filler.addWeight(json.getFloatValue());
      }
      filler.endList();
    } else {
      setBase64(json, filler, column);
    }
  }

  /** A text as TensorFlow Serving has bytes: {@code {"b64": "T3Nsbw=="}}. */
  private static void setBase64(JsonParser json, RowFiller filler, int column) {
    boolean named = json.nextToken() == JsonToken.PROPERTY_NAME && "b64".equals(json.currentName());
    if (!named || json.nextToken() != JsonToken.VALUE_STRING) {
      throw wrong(filler, column, JsonToken.START_OBJECT);
    }
    byte[] text;
    try {
      text = Base64.getDecoder().decode(json.getString());
    } catch (IllegalArgumentException e) {
      throw new RefusedException(
          400, "%s: got b64 that is none, expected base64".formatted(filler.place(column)));
    }
    JsonBody.requireText(text, 0, text.length, filler.place(column));
    filler.setText(column, text, 0, text.length);
    if (json.nextToken() != JsonToken.END_OBJECT) {
      throw wrong(filler, column, JsonToken.START_OBJECT);
    }
  }
}
