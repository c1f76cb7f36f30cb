package dev.tern.base;

import java.nio.file.Path;
import java.util.Collection;
import java.util.Iterator;
import java.util.Locale;

/**
 * Text of users' files, names and arguments as messages show it. A character that a terminal obeys,
 * does not draw or draws as a blank stands there by its code, as in {@code \u005cu001b} or {@code
 * \u005cufeff}, so that nothing moves the cursor and no two texts that differ look alike. Other
 * characters stay as they are. What these methods return stays as it is when they are given it.
 */
public final class Shown {
  /** The most bytes of a {@link #message} in UTF-8. */
  public static final int MOST_BYTES = 1_900;

  private static final int HEAD_BYTES = 1_300;
  private static final int TAIL_BYTES = 500;
  private static final int MOST_ITEMS = 20;
  private static final int MOST_CHARACTERS = 40;

  /** Letters, marks and symbols without a picture: fillers of Hangul, the empty Braille cell. */
  private static final String EMPTY = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0";

  private Shown() {}

  /** {@code text} on one line, with codes for control, invisible and odd blank characters. */
  public static String line(String text) {
    int odd = 0;
    while (odd < text.length() && isPlain(text.charAt(odd))) {
      odd++;
    }
    if (odd == text.length()) {
      return text;
    }
    StringBuilder line = new StringBuilder(text.length() + 16).append(text, 0, odd);
    for (int at = odd; at < text.length(); ) {
      int character = text.codePointAt(at);
      append(line, character, false);
      at += Character.charCount(character);
    }
    return line.toString();
  }

  /**
   * {@code text}, which is no number, as {@link #line} shows it. Where it has a digit, each
   * character outside ASCII stands by its code too: the minus sign U+2212 looks like the one that a
   * number may have.
   */
  public static String number(String text) {
    if (text.codePoints().noneMatch(Character::isDigit)) {
      return line(text);
    }
    StringBuilder line = new StringBuilder(text.length());
    text.codePoints().forEach(character -> append(line, character, true));
    return line.toString();
  }

  /**
   * {@code text} as {@link #line} shows it, in at most {@link #MOST_BYTES} bytes: of a longer one
   * the beginning, which says where, and the end, which says what to do.
   */
  public static String message(String text) {
    String line = line(text);
    if (3 * line.length() <= MOST_BYTES || bytes(line) <= MOST_BYTES) {
      return line;
    }
    int head = 0;
    for (int room = HEAD_BYTES; ; ) {
      int character = line.codePointAt(head);
      room -= bytes(character);
      if (room < 0) {
        break;
      }
      head += Character.charCount(character);
    }
    int tail = line.length();
    for (int room = TAIL_BYTES; ; ) {
      int character = line.codePointBefore(tail);
      room -= bytes(character);
      if (room < 0) {
        break;
      }
      tail -= Character.charCount(character);
    }
    return "%s ... (%,d characters left out) ... %s"
        .formatted(line.substring(0, head), tail - head, line.substring(tail));
  }

  /**
   * The first 20 of {@code items}, each as {@link #line} shows it and of at most 40 characters.
   * Example: {@code [a, b, and 49,998 more]}.
   */
  public static String list(Collection<?> items) {
    StringBuilder list = new StringBuilder("[");
    Iterator<?> next = items.iterator();
    for (int i = 0; i < MOST_ITEMS && next.hasNext(); i++) {
      list.append(i == 0 ? "" : ", ").append(excerpt(String.valueOf(next.next())));
    }
    if (items.size() > MOST_ITEMS) {
      list.append(String.format(Locale.ROOT, ", and %,d more", items.size() - MOST_ITEMS));
    }
    return list.append(']').toString();
  }

  /**
   * {@code path} as {@link #line} shows it; in quotes where that differs or a name ends in blanks.
   */
  public static String path(Path path) {
    String line = line(path.toString());
    return line.equals(path.toString().strip()) && !line.matches(".*(/ | /).*")
        ? line
        : '"' + line + '"';
  }

  /** {@link #excerpt} in double quotes. */
  public static String quoted(String text) {
    return '"' + excerpt(text) + '"';
  }

  /** At most 40 characters of {@code text} as {@link #line} shows it. */
  public static String excerpt(String text) {
    if (text.length() <= MOST_CHARACTERS
        || text.codePointCount(0, text.length()) <= MOST_CHARACTERS) {
      return line(text);
    }
    return line(text.substring(0, text.offsetByCodePoints(0, MOST_CHARACTERS))) + "...";
  }

  private static boolean isPlain(char c) {
    return c >= ' ' && c < 0x7f;
  }

  private static void append(StringBuilder line, int character, boolean ascii) {
    if (character == '\t') {
      line.append("\\t");
    } else if (character == '\n') {
      line.append("\\n");
    } else if (character == '\r') {
      line.append("\\r");
    } else if (isOdd(character) || ascii && character > 0x7f) {
      for (char unit : Character.toChars(character)) {
        line.append("\\u").append(String.format(Locale.ROOT, "%04x", (int) unit));
      }
    } else {
      line.appendCodePoint(character);
    }
  }

  private static boolean isOdd(int character) {
    return switch (Character.getType(character)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.PRIVATE_USE,
          Character.SURROGATE,
          Character.UNASSIGNED,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          true;
      case Character.SPACE_SEPARATOR -> character != ' ';
      default -> EMPTY.indexOf(character) >= 0;
    };
  }

  private static int bytes(String text) {
    return text.codePoints().map(Shown::bytes).sum();
  }

  /** Bytes of a character in UTF-8; a {@link #line} has no half of a pair. */
  private static int bytes(int character) {
    if (character < 0x80) {
      return 1;
    }
    if (character < 0x800) {
      return 2;
    }
    return character < 0x10000 ? 3 : 4;
  }
}
