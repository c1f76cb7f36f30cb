package dev.tern.internal.json;

import dev.tern.base.DataException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A JSON value; {@code toString} writes it on one line, without spaces. The {@code as} methods and
 * the typed getters of {@link Obj} throw {@link DataException} where the value is missing or has
 * another kind. Readers of a format therefore check nothing themselves; they add the file's name.
 */
public sealed interface Json {
  /** An object, whose fields keep their order. {@code fields} is the object's own map. */
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
      return JsonWriter.write(this);
    }
  }

  /** An array. */
  record Arr(List<Json> items) implements Json {
    @Override
    public String toString() {
      return JsonWriter.write(this);
    }
  }

  /** A text. */
  record Str(String value) implements Json {
    @Override
    public String toString() {
      return JsonWriter.write(this);
    }
  }

  /** A number without fraction and exponent. */
  record Int(long value) implements Json {
    @Override
    public String toString() {
      return JsonWriter.write(this);
    }
  }

  /** A finite number with a fraction or an exponent. Its text reads back as the same bits. */
  record Real(double value) implements Json {
    public Real {
      if (!Double.isFinite(value)) {
        throw new IllegalArgumentException(
            "json: got the number " + value + ", expected a finite one; write a text instead");
      }
    }

    @Override
    public String toString() {
      return JsonWriter.write(this);
    }
  }

  /** True or false. */
  record Bool(boolean value) implements Json {
    @Override
    public String toString() {
      return JsonWriter.write(this);
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
   * @param source what errors call the text: usually the name of a file
   * @throws DataException that names the source, the line and the character
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

  /** This text. {@code what} names the value in errors: its key, for example. */
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

  /** This truth value. */
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
