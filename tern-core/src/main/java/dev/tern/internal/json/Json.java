package dev.tern.internal.json;

import dev.tern.base.DataException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A JSON value. The {@code as} methods and the typed getters of {@link Obj} raise {@link
 * DataException} where the value is missing or of another kind, so a reader of a format needs no
 * checks of its own; it adds the name of the file.
 */
public sealed interface Json {
  /** An object; its fields keep their order. {@code fields} is the object's own map. */
  record Obj(Map<String, Json> fields) implements Json {
    public Obj put(String key, Json value) {
      fields.put(key, value);
      return this;
    }

    public Obj put(String key, String value) {
      return put(key, new Str(value));
    }

    public Obj put(String key, long value) {
      return put(key, new Int(value));
    }

    public Obj put(String key, double value) {
      return put(key, new Real(value));
    }

    public Obj put(String key, boolean value) {
      return put(key, new Bool(value));
    }

    public boolean has(String key) {
      return fields.containsKey(key);
    }

    /** The value of {@code key}, which must be there. */
    public Json get(String key) {
      Json value = fields.get(key);
      if (value == null) {
        throw new DataException("\"" + key + "\": got none, expected one among " + fields.keySet());
      }
      return value;
    }

    public String text(String key) {
      return get(key).asText(key);
    }

    public long integer(String key) {
      return get(key).asInteger(key);
    }

    /** The number of {@code key}, written with or without a fraction. */
    public double number(String key) {
      return get(key).asNumber(key);
    }

    public boolean flag(String key) {
      return get(key).asFlag(key);
    }

    public Obj object(String key) {
      return get(key).asObject(key);
    }

    public List<Json> array(String key) {
      return get(key).asArray(key);
    }

    @Override
    public String toString() {
      return Json.write(this);
    }
  }

  /** An array. */
  record Arr(List<Json> items) implements Json {
    @Override
    public String toString() {
      return Json.write(this);
    }
  }

  /** A text. */
  record Str(String value) implements Json {
    @Override
    public String toString() {
      return Json.write(this);
    }
  }

  /** A number written without fraction and exponent. */
  record Int(long value) implements Json {
    @Override
    public String toString() {
      return Json.write(this);
    }
  }

  /** A finite number written with a fraction or exponent; reads back as the same bits. */
  record Real(double value) implements Json {
    public Real {
      if (!Double.isFinite(value)) {
        throw new IllegalArgumentException(
            "json: got the number " + value + ", expected a finite one; write a text instead");
      }
    }

    @Override
    public String toString() {
      return Json.write(this);
    }
  }

  /** True or false. */
  record Bool(boolean value) implements Json {
    @Override
    public String toString() {
      return Json.write(this);
    }
  }

  /** The literal null. */
  enum Null implements Json {
    NULL;

    @Override
    public String toString() {
      return "null";
    }
  }

  /** An empty object to put fields into. */
  static Obj object() {
    return new Obj(new LinkedHashMap<>());
  }

  /**
   * Reads one value that fills {@code text}.
   *
   * @param source what errors call the text: a file, most often
   * @throws DataException naming the source, the line and the character
   */
  static Json parse(String text, String source) {
    return new JsonParser(text, source).parse();
  }

  /** Reads one value that fills {@code utf8}. */
  static Json parse(byte[] utf8, String source) {
    ByteBuffer bytes = ByteBuffer.wrap(utf8);
    try {
      return parse(StandardCharsets.UTF_8.newDecoder().decode(bytes).toString(), source);
    } catch (CharacterCodingException e) {
      throw new DataException(
          "%s: got bytes that are not UTF-8 at byte %d, expected JSON in UTF-8"
              .formatted(source, bytes.position()),
          e);
    }
  }

  /** Reads one object that fills {@code text}. */
  static Obj parseObject(String text, String source) {
    return parse(text, source).asObject(source);
  }

  /** This text; {@code what} is the key or item that errors name. */
  default String asText(String what) {
    return this instanceof Str(String value) ? value : refuse(what, "a text");
  }

  /** This integer. */
  default long asInteger(String what) {
    return this instanceof Int(long value) ? value : refuse(what, "an integer");
  }

  /** This number, written with or without a fraction. */
  default double asNumber(String what) {
    return switch (this) {
      case Real(double value) -> value;
      case Int(long value) -> value;
      default -> refuse(what, "a number");
    };
  }

  /** This true or false. */
  default boolean asFlag(String what) {
    return this instanceof Bool(boolean value) ? value : refuse(what, "true or false");
  }

  /** This object. */
  default Obj asObject(String what) {
    return this instanceof Obj object ? object : refuse(what, "an object");
  }

  /** The items of this array. */
  default List<Json> asArray(String what) {
    return this instanceof Arr(List<Json> items) ? items : refuse(what, "an array");
  }

  /** Writes this value on one line, without spaces. */
  default void writeTo(Appendable out) throws IOException {
    new JsonWriter(out, false).write(this, 0);
  }

  /** Writes this value indented, for files that people read. */
  default void writeIndentedTo(Appendable out) throws IOException {
    new JsonWriter(out, true).write(this, 0);
  }

  private static String write(Json value) {
    StringBuilder out = new StringBuilder();
    try {
      value.writeTo(out);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    return out.toString();
  }

  /** What this value is, for errors. */
  default String kind() {
    return switch (this) {
      case Obj _ -> "an object";
      case Arr _ -> "an array";
      case Str(String value) -> "the text \"" + shorten(value) + "\"";
      case Int(long value) -> "the integer " + value;
      case Real(double value) -> "the number " + value;
      case Bool(boolean value) -> String.valueOf(value);
      case Null _ -> "null";
    };
  }

  private static String shorten(String value) {
    return value.length() <= 60 ? value : value.substring(0, 57) + "...";
  }

  private <T> T refuse(String what, String expected) {
    throw new DataException("\"%s\": got %s, expected %s".formatted(what, kind(), expected));
  }
}
