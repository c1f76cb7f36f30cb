package dev.tern.serve.wire;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;

/** Parsers of the JSON of requests, which is UTF-8 of limited depth and length. */
public final class JsonBody {
  /** Levels of arrays and objects. */
  static final int MOST_DEPTH = 16;

  /** Characters of a text. */
  public static final int MOST_TEXT = 64 * 1024;

  private static final int MOST_NAME = 1024;
  private static final int MOST_NUMBER = 1000;
  private static final int MOST_SHOWN = 160;
  private static final long HIGH_BITS = 0x8080808080808080L;
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private static final JsonFactory FACTORY =
      JsonFactory.builder()
          .enable(StreamReadFeature.USE_FAST_DOUBLE_PARSER)
          .enable(StreamReadFeature.USE_FAST_BIG_NUMBER_PARSER)
          .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(MOST_DEPTH)
                  .maxStringLength(MOST_TEXT)
                  .maxNameLength(MOST_NAME)
                  .maxNumberLength(MOST_NUMBER)
                  .build())
          .build();

  private JsonBody() {}

  /** Reads {@code body[0, length)}, which must be UTF-8. */
  public static JsonParser parser(byte[] body, int length) {
    requireUtf8(body, length);
    return parser(body, 0, length);
  }

  /** Reads on from a place within a body that {@link #parser(byte[], int)} has seen. */
  public static JsonParser parser(byte[] body, int from, int length) {
    return FACTORY.createParser(ObjectReadContext.empty(), body, from, length - from);
  }

  /** The beginning of a text that a message quotes. */
  public static String shorten(String text) {
    return text.length() <= 64 ? text : text.substring(0, 61) + "...";
  }

  /** Refuses anything behind the value that was read. */
  public static void requireEnd(JsonParser json) {
    if (json.nextToken() != null) {
      throw wrong("text behind the JSON value", "its end");
    }
  }

  /** The body is no JSON as it should be. */
  public static RefusedException malformed(JacksonException fault) {
    String message = fault.getOriginalMessage();
    int line = message.indexOf('\n');
    String first = line < 0 ? message : message.substring(0, line);
    String shown = first.length() > MOST_SHOWN ? first.substring(0, MOST_SHOWN) + "..." : first;
    long at = fault.getLocation() == null ? -1 : fault.getLocation().getByteOffset();
    return new RefusedException(
        400, "JSON Parse error: " + shown + (at < 0 ? "" : " at byte " + at));
  }

  public static RefusedException wrong(String got, String expected) {
    return new RefusedException(400, "body: got " + got + ", expected " + expected);
  }

  /** Goes to the next token, which must be {@code token}. */
  public static void expect(JsonParser json, JsonToken token, String what) {
    if (json.nextToken() != token) {
      throw wrong(what, json.currentToken(), kind(token));
    }
  }

  public static RefusedException wrong(String what, @Nullable JsonToken got, String expected) {
    return new RefusedException(
        400, "%s: got %s, expected %s".formatted(what, kind(got), expected));
  }

  public static String kind(@Nullable JsonToken token) {
    return switch (token) {
      case null -> "the end";
      case START_OBJECT -> "an object";
      case START_ARRAY -> "an array";
      case END_OBJECT, END_ARRAY -> "the end";
      case PROPERTY_NAME -> "a name";
      case VALUE_STRING -> "a text";
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> "a number";
      case VALUE_TRUE, VALUE_FALSE -> "true or false";
      case VALUE_NULL -> "null";
      default -> "nothing";
    };
  }

  /**
   * Refuses what is no UTF-8, which the parser does not in all cases; and zero bytes in the first
   * four, from which it would guess another encoding.
   */
  private static void requireUtf8(byte[] body, int length) {
    for (int i = 0; i < Math.min(4, length); i++) {
      if (body[i] == 0) {
        throw wrong("a zero at byte " + i, "UTF-8");
      }
    }
    requireText(body, 0, length, "body");
  }

  /** Refuses bytes that are no UTF-8. */
  public static void requireText(byte[] bytes, int from, int to, String what) {
    int at = fault(bytes, from, to);
    if (at >= 0) {
      throw new RefusedException(400, what + ": got no UTF-8 at byte " + at + ", expected UTF-8");
    }
  }

  /** Where bytes begin to be no UTF-8; -1 where all of them are. */
  public static int fault(byte[] bytes, int from, int to) {
    int at = from;
    while (at < to) {
      while (at + 8 <= to && ((long) LONG.get(bytes, at) & HIGH_BITS) == 0) {
        at += 8;
      }
      int end = at < to ? next(bytes, at, to) : to;
      if (end < 0) {
        return at;
      }
      at = end;
    }
    return -1;
  }

  /** Where the character at {@code at} ends; -1 where it is none. */
  private static int next(byte[] body, int at, int length) {
    int first = body[at] & 0xFF;
    if (first < 0x80) {
      return at + 1;
    }
    int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
    if (first < 0xC2 || first > 0xF4 || at + more >= length) {
      return -1;
    }
    int second = body[at + 1] & 0xFF;
    int least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    int most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    boolean valid = second >= least && second <= most;
    for (int i = 2; i <= more; i++) {
      valid &= (body[at + i] & 0xC0) == 0x80;
    }
    return valid ? at + more + 1 : -1;
  }
}
