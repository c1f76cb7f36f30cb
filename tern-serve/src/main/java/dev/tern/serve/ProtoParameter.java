package dev.tern.serve;

import dev.tern.base.Shown;
import dev.tern.serve.wire.JsonBody;
import dev.tern.serve.wire.ProtoReader;
import dev.tern.serve.wire.RefusedException;

/**
 * A parameter of a request: an entry of a map from texts to {@code InferParameter}. Of several
 * values the last one counts, as in any choice of Protocol Buffers.
 *
 * @param field the field that has the value, 0 where there is none
 * @param number the value of a field of numbers; of one of doubles its bits
 */
record ProtoParameter(String name, int field, long number, String text) {
  private static final int BOOL = 1;
  private static final int INT64 = 2;
  private static final int STRING = 3;
  private static final int DOUBLE = 4;
  private static final int UINT64 = 5;

  /** Reads {@code bytes[from, to)}. */
  static ProtoParameter read(byte[] bytes, int from, int to) {
    String name = "";
    int field = 0;
    long number = 0;
    String text = "";
    ProtoReader entry = new ProtoReader(bytes, from, to);
    while (entry.next()) {
      if (entry.field() == 1) {
        name = entry.text("name of a parameter", InferRequest.MOST_ID);
      } else if (entry.field() == 2) {
        entry.require(ProtoReader.BYTES, "value of a parameter");
        ProtoReader value = new ProtoReader(bytes, entry.from(), entry.to());
        while (value.next()) {
          switch (value.field()) {
            case BOOL, INT64, UINT64 -> value.require(ProtoReader.VARINT, "parameter");
            case DOUBLE -> value.require(ProtoReader.FIXED64, "parameter");
            case STRING -> text = value.text("parameter", JsonBody.MOST_TEXT);
            default -> {
              continue; // A kind of value that later protocols may have.
            }
          }
          field = value.field();
          number = value.value();
        }
      }
    }
    return new ProtoParameter(name, field, number, text);
  }

  private String kind() {
    return switch (field) {
      case BOOL -> "true or false";
      case INT64 -> Long.toString(number);
      case UINT64 -> Long.toUnsignedString(number);
      case DOUBLE -> Double.toString(Double.longBitsToDouble(number));
      case STRING -> "a text";
      default -> "nothing";
    };
  }

  boolean flag() {
    if (field != BOOL) {
      throw new RefusedException(
          400, "%s: got %s, expected true or false".formatted(shown(), kind()));
    }
    return number != 0;
  }

  int integer(int least, int most) {
    boolean whole = field == INT64 || field == UINT64;
    if (!whole || number < least || number > most) {
      throw OptionsReader.outside(shown(), kind(), least, most);
    }
    return (int) number;
  }

  private String shown() {
    return Shown.line(JsonBody.shorten(name));
  }

  /** Says of a tensor which value stands for a missing one. */
  void setEmpty(InferInput input) {
    switch (field) {
      case STRING -> {
        input.emptyText = text;
        if (text.equalsIgnoreCase("nan")) {
          input.emptyNumber = Double.NaN;
        }
      }
      case INT64, UINT64 -> {
        boolean huge = field == UINT64 && number < 0;
        input.emptyNumber = huge ? Double.parseDouble(kind()) : (double) number;
        input.emptyInteger = number;
      }
      case DOUBLE -> {
        input.emptyNumber = Double.longBitsToDouble(number);
        input.emptyInteger = 0;
      }
      default ->
          throw new RefusedException(
              400, "empty: got %s, expected a text or a number".formatted(kind()));
    }
  }
}
