package dev.tern.data.encode;

import dev.tern.data.Batch;
import dev.tern.data.Reading;
import dev.tern.data.Schema;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Takes fields of text apart as the reader of the training rows did. Makes a text only for a field
 * that is not its value as it stands.
 */
final class RawFields {
  private final Reading reading;

  /** The separator of each slot; empty for one value a field. */
  private final String[] separators;

  RawFields(Schema schema, Reading reading) {
    this.reading = reading;
    separators =
        schema.slotNames().stream()
            .map(name -> reading.separators().getOrDefault(name, ""))
            .toArray(String[]::new);
  }

  static Optional<RawFields> of(Schema schema, Optional<Reading> reading) {
    return reading.map(known -> new RawFields(schema, known));
  }

  /** Whether fields of a slot hold several values. */
  boolean splits(int slot) {
    return !separators[slot].isEmpty();
  }

  /** A field without what is dropped around it; empty where it says that it is missing. */
  String field(String text) {
    int from = 0;
    int to = text.length();
    while (from < to && isDropped(text.charAt(from))) {
      from++;
    }
    while (to > from && isDropped(text.charAt(to - 1))) {
      to--;
    }
    String field = text.substring(from, to);
    return reading.missing().contains(field) ? "" : field;
  }

  private boolean isDropped(char c) {
    return reading.trimmed().indexOf(c) >= 0;
  }

  /** Adds the texts between the separators of a field that is not empty. */
  void addTexts(int slot, String field, Batch raw) {
    String separator = separators[slot];
    for (int start = 0; start <= field.length(); ) {
      int end = field.indexOf(separator, start);
      String value = field.substring(start, end < 0 ? field.length() : end);
      if (!reading.missing().contains(value)) {
        raw.addId(slot, TextHash.of(value));
      }
      start = end < 0 ? field.length() + 1 : end + separator.length();
    }
  }

  /**
   * Adds the integers between the separators of a field that is not empty.
   *
   * @return whether all are integers of 64 bits, signed or unsigned
   */
  boolean addIntegers(int slot, String field, Batch raw) {
    String separator = separators[slot];
    for (int start = 0; start <= field.length(); ) {
      int end = separator.isEmpty() ? -1 : field.indexOf(separator, start);
      String value = field.substring(start, end < 0 ? field.length() : end);
      if (!reading.missing().contains(value)) {
        OptionalLong id = integer(value);
        if (id.isEmpty()) {
          return false;
        }
        raw.addId(slot, id.getAsLong());
      }
      start = end < 0 ? field.length() + 1 : end + separator.length();
    }
    return true;
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
