package dev.tern.serve;

import dev.tern.data.encode.RowFiller;
import dev.tern.serve.wire.JsonBody;
import dev.tern.serve.wire.JsonValues;
import dev.tern.serve.wire.RefusedException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/** The values of an array of JSON, nested or flat. */
final class JsonFlow implements Flow {
  private static final InferInput NOTHING = new InferInput();

  private @Nullable JsonParser parser;
  private InferInput input = NOTHING;
  private Datatype type = Datatype.FP32;
  private @Nullable RowFiller filler;
  private int depth;

  /** Whether values stand in arrays of their own, and how many the array at hand has. */
  private boolean nested;

  private int inner;

  /**
   * Takes an array.
   *
   * @param json stands at the beginning of the array, and in the end at its end
   */
  JsonFlow begin(JsonParser json, InferInput of, RowFiller target) {
    if (json.currentToken() != JsonToken.START_ARRAY) {
      throw JsonBody.wrong(of.name, json.currentToken(), "an array of values");
    }
    parser = json;
    input = of;
    filler = target;
    type = of.type();
    depth = 1;
    nested = false;
    return this;
  }

  /** Lets go of what it read, which may hold a whole body. */
  void end() {
    parser = null;
    filler = null;
    input = NOTHING;
  }

  private JsonParser json() {
    return Objects.requireNonNull(parser);
  }

  @Override
  public boolean next() {
    while (depth > 0) {
      switch (json().nextToken()) {
        case START_ARRAY -> {
          nested = true;
          inner = 0;
          depth++;
        }
        case END_ARRAY -> {
          depth--;
          if (depth == 1 && input.rank == 2 && inner != input.width) {
            throw misshapen(inner + " values in one of its arrays");
          }
        }
        case START_OBJECT -> throw wrong();
        default -> {
          if (nested && depth == 1 && input.rank == 2) {
            throw misshapen("a value beside arrays");
          }
          inner++;
          require(json().currentToken());
          return true;
        }
      }
    }
    return false;
  }

  private RefusedException misshapen(String got) {
    return new RefusedException(
        400, "%s: got %s, expected shape %s".formatted(input.name, got, input.shape()));
  }

  private void require(JsonToken token) {
    boolean fits =
        switch (type.kind) {
          case BOOLEAN -> token.isBoolean() || token == JsonToken.VALUE_NUMBER_INT;
          case SIGNED, UNSIGNED -> token == JsonToken.VALUE_NUMBER_INT;
          case FLOATING -> token.isNumeric();
          case TEXT -> token == JsonToken.VALUE_STRING;
        };
    if (!fits && token != JsonToken.VALUE_NULL) {
      throw wrong();
    }
    if (token == JsonToken.VALUE_NUMBER_INT && type.isWhole() && !holds()) {
      throw wrong();
    }
  }

  private boolean holds() {
    boolean isLong = json().getNumberType() != JsonParser.NumberType.BIG_INTEGER;
    return isLong
        ? type.holds(json().getLongValue())
        : type == Datatype.UINT64
            && json().getBigIntegerValue().signum() > 0
            && json().getBigIntegerValue().bitLength() <= 64;
  }

  private RefusedException wrong() {
    JsonToken token = json().currentToken();
    String got = token.isNumeric() ? JsonBody.shorten(json().getString()) : JsonBody.kind(token);
    return new RefusedException(
        400,
        "%s: got %s, expected %s"
            .formatted(Objects.requireNonNull(filler).place(input.column), got, type));
  }

  @Override
  public boolean isMissing() {
    JsonToken token = json().currentToken();
    if (token == JsonToken.VALUE_NULL) {
      return true;
    }
    String text = input.emptyText;
    Double number = input.emptyNumber;
    if (text != null && token == JsonToken.VALUE_STRING) {
      return text.equals(json().getString());
    }
    return number != null
        && token.isNumeric()
        && (type.isWhole() ? integer() == input.emptyInteger : json().getDoubleValue() == number);
  }

  /** The low 64 bits of a whole number, which {@link #require} has found in the type's range. */
  private long integer() {
    return json().getNumberType() == JsonParser.NumberType.BIG_INTEGER
        ? json().getBigIntegerValue().longValue()
        : json().getLongValue();
  }

  @Override
  public void set(RowFiller target, int column) {
    if (json().currentToken().isBoolean()) {
      target.setInteger(column, json().currentToken() == JsonToken.VALUE_TRUE ? 1 : 0);
    } else {
      JsonValues.set(json(), target, column);
    }
  }

  @Override
  public void add(RowFiller target, int column) {
    if (json().currentToken().isBoolean()) {
      target.addInteger(json().currentToken() == JsonToken.VALUE_TRUE ? 1 : 0);
    } else {
      JsonValues.add(json(), target, column);
    }
  }

  @Override
  public float number() {
    return json().currentToken().isNumeric() ? json().getFloatValue() : Float.NaN;
  }

  @Override
  public int whole() {
    boolean small =
        json().currentToken() == JsonToken.VALUE_NUMBER_INT
            && json().getNumberType() == JsonParser.NumberType.INT;
    return small ? Math.max(-1, json().getIntValue()) : -1;
  }
}
