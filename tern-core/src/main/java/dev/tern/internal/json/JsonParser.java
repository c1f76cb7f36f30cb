package dev.tern.internal.json;

import dev.tern.base.DataException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads one value from a text by recursive descent: a method for each kind of value, which begins
 * at the value's first character and ends behind its last one.
 */
final class JsonParser {
  private static final int MAX_DEPTH = 100;
  private static final int END = -1;

  private final String text;
  private final String source;
  private int at;

  JsonParser(String text, String source) {
    this.text = text;
    this.source = source;
  }

  Json parse() {
    Json value = value(0);
    skipSpace();
    if (at < text.length()) {
      throw wrong("the end of the text");
    }
    return value;
  }

  private Json value(int depth) {
    skipSpace();
    if (depth > MAX_DEPTH) {
      throw wrong("at most " + MAX_DEPTH + " levels of objects and arrays");
    }
    return switch (peek()) {
      case '{' -> object(depth);
      case '[' -> array(depth);
      case '"' -> new Json.Str(string());
      case 't' -> literal("true", new Json.Bool(true));
      case 'f' -> literal("false", new Json.Bool(false));
      case 'n' -> literal("null", Json.Null.NULL);
      case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9' -> number();
      default -> throw wrong("a value");
    };
  }

  private Json object(int depth) {
    Map<String, Json> fields = new LinkedHashMap<>();
    at++;
    skipSpace();
    boolean isOver = skip('}');
    while (!isOver) {
      skipSpace();
      if (peek() != '"') {
        throw wrong("a key in quotes");
      }
      int start = at;
      String key = string();
      skipSpace();
      expect(':');
      if (fields.put(key, value(depth + 1)) != null) {
        at = start;
        throw wrong("each key once, but \"" + key + "\" was there before");
      }
      isOver = isOver('}');
    }
    return new Json.Obj(fields);
  }

  private Json array(int depth) {
    List<Json> items = new ArrayList<>();
    at++;
    skipSpace();
    boolean isOver = skip(']');
    while (!isOver) {
      items.add(value(depth + 1));
      isOver = isOver(']');
    }
    return new Json.Arr(items);
  }

  /** After an item: true at the {@code close} of the object or array, false after a comma. */
  private boolean isOver(char close) {
    skipSpace();
    if (skip(close)) {
      return true;
    }
    expect(',');
    return false;
  }

  private Json literal(String word, Json value) {
    if (!text.startsWith(word, at)) {
      throw wrong(word);
    }
    at += word.length();
    return value;
  }

  private Json number() {
    int start = at;
    skip('-');
    if (!skip('0')) {
      digits();
    }
    boolean isInteger = true;
    if (skip('.')) {
      isInteger = false;
      digits();
    }
    if (skip('e') || skip('E')) {
      isInteger = false;
      if (!skip('+')) {
        skip('-');
      }
      digits();
    }
    String number = text.substring(start, at);
    if (isInteger) {
      try {
        return new Json.Int(Long.parseLong(number));
      } catch (NumberFormatException e) {
        at = start;
        throw wrong("an integer of 64 bits");
      }
    }
    double value = Double.parseDouble(number);
    if (!Double.isFinite(value)) {
      at = start;
      throw wrong("a number within the range of double");
    }
    return new Json.Real(value);
  }

  private void digits() {
    if (peek() < '0' || peek() > '9') {
      throw wrong("a digit");
    }
    while (peek() >= '0' && peek() <= '9') {
      at++;
    }
  }

  private String string() {
    at++;
    int start = at;
    while (peek() >= ' ' && peek() != '"' && peek() != '\\') {
      at++;
    }
    if (peek() == '"') {
      return text.substring(start, at++);
    }
    StringBuilder out = new StringBuilder().append(text, start, at);
    while (peek() != '"') {
      if (peek() < ' ') {
        throw wrong("\" or a character; control characters need \\u escapes");
      }
      char c = text.charAt(at++);
      out.append(c == '\\' ? escape() : c);
    }
    at++;
    return out.toString();
  }

  private char escape() {
    int c = peek();
    at++;
    return switch (c) {
      case '"', '\\', '/' -> (char) c;
      case 'b' -> '\b';
      case 'f' -> '\f';
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      case 'u' -> unicode();
      default -> {
        at--;
        throw wrong("one of \" \\ / b f n r t u after a backslash");
      }
    };
  }

  private char unicode() {
    int value = 0;
    for (int i = 0; i < 4; i++) {
      int c = peek();
      int digit = c < 0x80 ? Character.digit(c, 16) : -1;
      if (digit < 0) {
        throw wrong("four hexadecimal digits after \\u");
      }
      value = value << 4 | digit;
      at++;
    }
    return (char) value;
  }

  private void expect(char c) {
    if (!skip(c)) {
      throw wrong("'" + c + "'");
    }
  }

  private boolean skip(char c) {
    boolean isNext = peek() == c;
    at += isNext ? 1 : 0;
    return isNext;
  }

  private void skipSpace() {
    while (peek() == ' ' || peek() == '\n' || peek() == '\r' || peek() == '\t') {
      at++;
    }
  }

  private int peek() {
    return at < text.length() ? text.charAt(at) : END;
  }

  private DataException wrong(String expected) {
    int line = 1;
    for (int i = 0; i < at && i < text.length(); i++) {
      if (text.charAt(i) == '\n') {
        line++;
      }
    }
    String rest = text.substring(at, Math.min(text.length(), at + 20));
    String got = rest.isEmpty() ? "the end of the text" : new Json.Str(rest).toString();
    return new DataException(
        "%s: got %s at line %d, character %d, expected %s"
            .formatted(source, got, line, at, expected));
  }
}
