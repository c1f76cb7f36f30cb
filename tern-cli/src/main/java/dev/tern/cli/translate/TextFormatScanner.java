package dev.tern.cli.translate;

import dev.tern.base.Shown;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** Cuts protobuf's text format into words, strings and signs. */
final class TextFormatScanner {
  private static final String SIGNS = "{}<>[]:,;";
  private static final Map<Character, Character> ESCAPES =
      Map.ofEntries(
          Map.entry('n', '\n'),
          Map.entry('r', '\r'),
          Map.entry('t', '\t'),
          Map.entry('a', '\007'),
          Map.entry('b', '\b'),
          Map.entry('f', '\f'),
          Map.entry('v', '\013'),
          Map.entry('\\', '\\'),
          Map.entry('\'', '\''),
          Map.entry('"', '"'),
          Map.entry('?', '?'));

  private final String text;
  private final String file;
  private int at;
  private int line = 1;

  TextFormatScanner(String text, String file) {
    this.text = text;
    this.file = file;
  }

  /** What a token is. */
  enum Kind {
    WORD,
    STRING,
    SIGN,
    END
  }

  /** A part of the text; a string stands without quotes and escapes. */
  record Token(Kind kind, String text, Place place) {
    boolean is(String sign) {
      return kind == Kind.SIGN && text.equals(sign);
    }

    String shown() {
      return kind == Kind.END ? "the end of the file" : Shown.excerpt(text);
    }
  }

  Token next() {
    skip();
    Place place = new Place(file, line);
    if (at == text.length()) {
      return new Token(Kind.END, "", place);
    }
    char c = text.charAt(at);
    if (SIGNS.indexOf(c) >= 0) {
      at++;
      return new Token(Kind.SIGN, String.valueOf(c), place);
    }
    if (c == '"' || c == '\'') {
      return new Token(Kind.STRING, string(place), place);
    }
    int start = at;
    while (at < text.length() && isOfWord(text.charAt(at))) {
      at++;
    }
    if (at == start) {
      throw place.wrong(
          "got the character %s, expected a name, a value or one of %s; remove it"
              .formatted(Shown.excerpt(String.valueOf(c)), SIGNS));
    }
    return new Token(Kind.WORD, text.substring(start, at), place);
  }

  private static boolean isOfWord(char c) {
    return c >= 'a' && c <= 'z'
        || c >= 'A' && c <= 'Z'
        || c >= '0' && c <= '9'
        || c == '_'
        || c == '.'
        || c == '-'
        || c == '+';
  }

  /** Skips blanks and comments. */
  private void skip() {
    while (at < text.length()) {
      char c = text.charAt(at);
      if (c == '#') {
        int end = text.indexOf('\n', at);
        at = end < 0 ? text.length() : end;
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\ufeff') {
        line += c == '\n' ? 1 : 0;
        at++;
      } else {
        return;
      }
    }
  }

  private String string(Place place) {
    char quote = text.charAt(at++);
    StringBuilder out = new StringBuilder();
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    while (at < text.length() && text.charAt(at) != '\n') {
      char c = text.charAt(at++);
      if (c == '\\' && isOfByte()) {
        bytes.write(octet(place));
        continue;
      }
      out.append(decoded(bytes, place));
      if (c == quote) {
        return out.toString();
      }
      if (c == '\\') {
        escape(out, place);
      } else {
        out.append(c);
      }
    }
    throw place.wrong("got a string without its end, expected " + quote + " in its line; close it");
  }

  /** Whether an escape gives the number of a byte. */
  private boolean isOfByte() {
    return at < text.length() && "01234567xX".indexOf(text.charAt(at)) >= 0;
  }

  private int octet(Place place) {
    if (Character.toLowerCase(text.charAt(at)) != 'x') {
      return code(8, 3, place);
    }
    at++;
    return code(16, 2, place);
  }

  /** What escapes of bytes one after another stand for; {@code bytes} is empty then. */
  private static String decoded(ByteArrayOutputStream bytes, Place place) {
    ByteBuffer all = ByteBuffer.wrap(bytes.toByteArray());
    bytes.reset();
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(all).toString();
    } catch (CharacterCodingException _) {
      throw place.wrong(
          "got escapes of bytes that are no UTF-8, expected such as \\303\\251; change them");
    }
  }

  private void escape(StringBuilder out, Place place) {
    char c = at < text.length() ? text.charAt(at++) : '\n';
    Character plain = ESCAPES.get(c);
    if (plain != null) {
      out.append(plain.charValue());
    } else if (c == 'u' || c == 'U') {
      int code = code(16, c == 'u' ? 4 : 8, place);
      if (!Character.isValidCodePoint(code)) {
        throw place.wrong("got the escape of no character, expected one up to 10ffff; change it");
      }
      out.appendCodePoint(code);
    } else {
      throw place.wrong(
          "got the escape \\%s, expected one of text format such as \\n, \\t or \\001; change it"
              .formatted(Shown.excerpt(String.valueOf(c))));
    }
  }

  /** The number of at most {@code most} digits. */
  private int code(int radix, int most, Place place) {
    int code = 0;
    int digits = 0;
    while (digits < most && at < text.length() && Character.digit(text.charAt(at), radix) >= 0) {
      code = code * radix + Character.digit(text.charAt(at++), radix);
      digits++;
    }
    if (digits == 0) {
      throw place.wrong("got an escape without digits, expected some; write it as in \\x41");
    }
    return code;
  }
}
