package dev.tern.data.encode;

import dev.tern.data.Reading;
import dev.tern.data.Schema;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What the reader of the training rows made of fields of text: what it dropped around them, what
 * was missing, and what stood between several values. Fields are UTF-8. Immutable.
 */
final class RawFields {
  /** Characters that are dropped. */
  private final byte[][] trimmed;

  /** Texts that say that a value is missing; the empty one is not among them. */
  private final byte[][] missing;

  /** The separator of each slot; empty for one value a field. */
  private final byte[][] separators;

  private final boolean emptyIsMissing;

  RawFields(Schema schema, Reading reading) {
    trimmed =
        reading
            .trimmed()
            .codePoints()
            .mapToObj(c -> utf8(Character.toString(c)))
            .toArray(byte[][]::new);
    emptyIsMissing = reading.missing().contains("");
    missing =
        reading.missing().stream()
            .filter(text -> !text.isEmpty())
            .map(RawFields::utf8)
            .toArray(byte[][]::new);
    separators =
        schema.slotNames().stream()
            .map(name -> utf8(reading.separators().getOrDefault(name, "")))
            .toArray(byte[][]::new);
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  static Optional<RawFields> of(Schema schema, Optional<Reading> reading) {
    return reading.map(known -> new RawFields(schema, known));
  }

  /**
   * Adds what a field of a slot holds: a value, or several where the slot has a separator.
   *
   * @return whether it holds texts as the slot takes texts, or integers of 64 bits
   */
  boolean add(TextBytes field, int slot, boolean text, RowCells cells) {
    byte[] array = field.array();
    int from = start(array, field.from(), field.to());
    int to = end(array, from, field.to());
    boolean none = from == to || isMissing(array, from, to);
    byte[] separator = separators[slot];
    if (none) {
      if (text && separator.length == 0) {
        cells.addId(slot, TextHash.EMPTY);
      }
      return true;
    }
    for (int start = from; start <= to; ) {
      int end = separator.length == 0 ? to : indexOf(array, start, to, separator);
      boolean gap = separator.length > 0 && isMissing(array, start, end);
      if (!gap
          && !(text
              ? addText(array, start, end, slot, cells)
              : addInteger(field, start, end, slot, cells))) {
        return false;
      }
      start = end == to ? to + 1 : end + separator.length;
    }
    return true;
  }

  private static boolean addText(byte[] array, int from, int to, int slot, RowCells cells) {
    cells.addId(slot, TextHash.of(array, from, to));
    return true;
  }

  /** Adds the integer that a part of a text is; false where it is none. */
  static boolean addInteger(TextBytes field, int from, int to, int slot, RowCells cells) {
    if (field.isSmall(from, to)) {
      cells.addId(slot, field.small(from, to));
      return true;
    }
    OptionalLong id = integer(field.part(from, to));
    id.ifPresent(value -> cells.addId(slot, value));
    return id.isPresent();
  }

  /** Where a field begins behind what is dropped before it. */
  int start(byte[] text, int from, int to) {
    int at = from;
    for (int i = 0; i < trimmed.length; i++) {
      if (startsWith(text, at, to, trimmed[i])) {
        at += trimmed[i].length;
        i = -1;
      }
    }
    return at;
  }

  /** Where a field ends that begins at {@code start}. */
  int end(byte[] text, int start, int to) {
    int at = to;
    for (int i = 0; i < trimmed.length; i++) {
      int length = trimmed[i].length;
      if (at - length >= start && startsWith(text, at - length, at, trimmed[i])) {
        at -= length;
        i = -1;
      }
    }
    return at;
  }

  /** Whether a value between separators, or a field, says that it is missing. */
  boolean isMissing(byte[] text, int from, int to) {
    if (from == to) {
      return emptyIsMissing;
    }
    for (byte[] marker : missing) {
      if (marker.length == to - from && startsWith(text, from, to, marker)) {
        return true;
      }
    }
    return false;
  }

  /** Where {@code part} begins in a text, {@code to} where it does not occur. */
  static int indexOf(byte[] text, int from, int to, byte[] part) {
    int at = from;
    while (at < to && !startsWith(text, at, to, part)) {
      at++;
    }
    return Math.min(at, to);
  }

  private static boolean startsWith(byte[] text, int from, int to, byte[] start) {
    return to - from >= start.length
        && Arrays.equals(text, from, from + start.length, start, 0, start.length);
  }

  /** A field without what is dropped around it; empty where it says that it is missing. */
  String field(String text) {
    byte[] utf8 = utf8(text);
    int start = start(utf8, 0, utf8.length);
    int end = end(utf8, start, utf8.length);
    if (isMissing(utf8, start, end)) {
      return "";
    }
    return start == 0 && end == utf8.length
        ? text
        : new String(utf8, start, end - start, StandardCharsets.UTF_8);
  }

  /** The integer of 64 bits, signed or unsigned, that a text is; empty where it is none. */
  static OptionalLong integer(String text) {
    try {
      boolean negative = text.startsWith("-");
      return OptionalLong.of(negative ? Long.parseLong(text) : Long.parseUnsignedLong(text));
    } catch (NumberFormatException _) {
      return OptionalLong.empty();
    }
  }
}
